"""What is measured of every store in the same way: searches under a role, replacements, recall."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import store_workload as workload
from evidencedesk.access import AccessFilter
from evidencedesk.model import EmbeddingSpec, StoreQuery
from evidencedesk.protocols import Store

SPEC = EmbeddingSpec(name="synthetic", revision="none", dimensions=workload.DIMENSIONS)

Found = list[list[int]]
"""The ten nearest of each question, as numbers of chunks of the workload."""


def measure_searching(
    store: Store, questions: Sequence[StoreQuery]
) -> tuple[dict[str, Any], dict[str, Found]]:
    """Milliseconds of each kind of search for each share seen; what the vector searches found."""
    report: dict[str, Any] = {}
    nearest: dict[str, Found] = {}
    for kind in ("vector", "keyword", "hybrid"):
        report[kind] = {}
        for role in workload.SHARES:
            times, found = search(store, role, [only(kind, question) for question in questions])
            report[kind][role] = percentiles(times)
            if kind == "vector":
                nearest[role] = found
    return report, nearest


def measure_replacing(store: Store, chunks: int, count: int) -> dict[str, float]:
    """Milliseconds for a document of ten chunks in place of another."""
    with store.write() as writer:
        times = [
            timed(lambda d=document, c=indexed: writer.replace_document(d, {1: c}))
            for document, indexed in workload.replacements(chunks // workload.PER_DOCUMENT, count)
        ]
    return percentiles(times)


def recall(exact: Mapping[str, Found], found: Mapping[str, Found]) -> dict[str, float]:
    """For each share seen, how many of the ten nearest were found, as a mean over the questions."""
    return {
        role: float(
            np.mean([len({*a} & {*b}) / 10 for a, b in zip(exact[role], found[role], strict=True)])
        )
        for role in workload.SHARES
    }


def search(
    store: Store, role: str, questions: Sequence[StoreQuery]
) -> tuple[list[float], list[list[int]]]:
    """Milliseconds and the ten nearest of each question, asked by somebody with ``role``."""
    access = AccessFilter(roles=frozenset({role}))
    times: list[float] = []
    found: list[list[int]] = []
    for question in questions:
        start = time.perf_counter()
        with store.read(access=access) as snapshot:
            result = snapshot.search(question)
            times.append(1000 * (time.perf_counter() - start))
            best = result.keys[np.argsort(-np.nan_to_num(result.vector_scores, nan=-2))[:10]]
            chunks = snapshot.chunks(best.tolist())
        found.append([int(c.document_id[1:]) * workload.PER_DOCUMENT + c.ordinal for c in chunks])
    return times, found


def only(kind: str, question: StoreQuery) -> StoreQuery:
    """The question by its words, by its vector, or by both (``hybrid``)."""
    return StoreQuery(
        question.term_groups if kind != "vector" else (),
        question.vector if kind != "keyword" else None,
    )


def timed(action: Callable[[], object]) -> float:
    """Milliseconds that ``action`` takes."""
    start = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - start)


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """The median and the 95th percentile."""
    return {"p50": float(np.percentile(times, 50)), "p95": float(np.percentile(times, 95))}


def pair(measured: Mapping[str, float]) -> str:
    """Both percentiles, for people."""
    return f"{measured['p50']:.2f} / {measured['p95']:.2f}"


def show_searches(report: Mapping[str, Any], kinds: Sequence[str], engine: str = "") -> None:
    """Print the table of searches, a row for each of ``kinds`` that was measured, and the recall."""
    print(
        f"\n{engine}{report['chunks']:,} chunks of {workload.DIMENSIONS} dimensions, "
        f"load average at start {report['load_average']:.1f}; milliseconds, p50 / p95"
    )
    print(f"{'':10}" + "".join(f"{name:>20}" for name in ("all seen", "10 % seen", "0.5 % seen")))
    for kind in (kind for kind in kinds if kind in report):
        cells = [pair(report[kind][role]) for role in workload.SHARES]
        print(f"{kind.replace('_', ' '):10}" + "".join(f"{cell:>20}" for cell in cells))
    print(f"{'recall@10':10}" + "".join(f"{report['recall'][r]:>20.4f}" for r in workload.SHARES))
