"""The store on PostgreSQL: search under rights, replace, build, beside the best form found by hand.

    python -m benchmarks.store --engine postgres [--chunks 100000 1000000] [--url postgresql://...]

The workload is that of ``benchmarks.store_workload``. Without ``--url`` a server of its own is started
(``evidencedesk.testing.postgres_server``), with a quarter of the memory a server would be given. ``by
hand`` is pgvector's exact search over ``halfvec`` for the ten nearest under the same classes, with
nothing else: no words, no statistics, no second scoring, no row-level security.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import psycopg

from benchmarks import store_workload as workload
from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import Limits
from evidencedesk.adapters.stores.postgres.placing import half_vector
from evidencedesk.adapters.stores.shared.quantization import quantize
from evidencedesk.model import EmbeddingSpec, StoreQuery
from evidencedesk.protocols import Clock
from evidencedesk.testing.postgres_server import temporary_server

SPEC = EmbeddingSpec(name="synthetic", revision="none", dimensions=workload.DIMENSIONS)
PATIENT = Limits(statement=3600.0, idle=3600.0)
SERVER = {
    "shared_buffers": "2GB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "8GB",
    "max_connections": "40",
}
_BY_HAND = """
SELECT slot FROM vectors WHERE generation = 1 AND class = ANY (%s::integer[])
ORDER BY (codes <#> %s::halfvec) + 0 LIMIT 10
"""


def main(options: argparse.Namespace, clock: Clock) -> None:
    """Measure and print."""
    with ExitStack() as stack:
        url = options.url or stack.enter_context(temporary_server(small=False, **SERVER)).url()
        reports = [measure(url, chunks, options, clock) for chunks in options.chunks]
    if options.json:
        print(json.dumps(reports, indent=1))
        return
    for report in reports:
        show(report)


def measure(url: str, chunks: int, options: argparse.Namespace, clock: Clock) -> dict[str, Any]:
    """Build ``chunks`` chunks in a schema of their own and measure everything."""
    address = f"{url}{'&' if '?' in url else '?'}schema=bench_{chunks}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS bench_{chunks} CASCADE".encode())
    report: dict[str, Any] = {"chunks": chunks, "load_average": os.getloadavg()[0]}
    store = PostgresStore.open(address, create=True, clock=clock, embedding=SPEC, limits=PATIENT)
    questions = workload.queries(options.queries)
    exact, report["build_chunks_per_s"] = build(store, chunks, questions)
    with psycopg.connect(Address.parse(address).conninfo, autocommit=True) as connection:
        connection.execute(f"SET search_path = bench_{chunks}, public".encode())
        for table in ("vectors", "postings", "chunks", "placements", "documents"):
            connection.execute(f"VACUUM (ANALYZE) {table}".encode())
        report["bytes"] = store.info().bytes
        report |= measure_searching(store, questions, exact)
        report["by_hand"] = by_hand(connection, questions)
    report["replace"] = measure_replacing(store, chunks, options.replacements)
    store.close()
    return report


def build(
    store: PostgresStore, chunks: int, questions: list[StoreQuery]
) -> tuple[dict[str, list[list[int]]], float]:
    """Write the index; the exact answers, and chunks per second without making the workload."""
    exact = workload.ExactNeighbours(questions)
    spent = 0.0
    with store.write() as writer:
        for batch in workload.batches(chunks):
            exact.add(batch.vectors)
            start = time.perf_counter()
            with writer.together():
                for document, indexed in batch.documents:
                    writer.replace_document(document, {1: indexed})
            spent += time.perf_counter() - start
    return exact.answers(), chunks / spent


def measure_searching(
    store: PostgresStore, questions: list[StoreQuery], exact: dict[str, list[list[int]]]
) -> dict[str, Any]:
    """Times of each kind of search for each share seen, and recall of the nearest ten."""
    report: dict[str, Any] = {"recall": {}}
    for kind in ("vector", "keyword", "hybrid"):
        report[kind] = {}
        for role in workload.SHARES:
            times, found = _search(store, role, [_only(kind, question) for question in questions])
            report[kind][role] = _percentiles(times)
            if kind == "vector":
                shares = [len({*a} & {*b}) / 10 for a, b in zip(exact[role], found, strict=True)]
                report["recall"][role] = float(np.mean(shares))
    return report


def by_hand(
    connection: psycopg.Connection[Any], questions: Sequence[StoreQuery]
) -> dict[str, dict[str, float]]:
    """The ten nearest by a query that somebody who knows pgvector would write."""
    report = {}
    for role in workload.SHARES:
        classes = [
            number
            for number, roles in connection.execute("SELECT id, roles FROM access_classes")
            if role in roles
        ]
        times = []
        for question in questions:
            assert question.vector is not None
            codes, _ = quantize(question.vector[None])
            start = time.perf_counter()
            connection.execute(_BY_HAND, (classes, half_vector(codes[0]))).fetchall()
            times.append(1000 * (time.perf_counter() - start))
        report[role] = _percentiles(times)
    return report


def measure_replacing(store: PostgresStore, chunks: int, count: int) -> dict[str, float]:
    """Replace documents of ten chunks by others."""
    times = []
    with store.write() as writer:
        for document, indexed in workload.replacements(chunks // workload.PER_DOCUMENT, count):
            start = time.perf_counter()
            writer.replace_document(document, {1: indexed})
            times.append(1000 * (time.perf_counter() - start))
    return _percentiles(times)


def show(report: dict[str, Any]) -> None:
    """Print a report for people."""
    print(
        f"\nPostgreSQL, {report['chunks']:,} chunks of {workload.DIMENSIONS} dimensions, "
        f"load average at start {report['load_average']:.1f}; milliseconds, p50 / p95"
    )
    print(f"{'':10}" + "".join(f"{name:>20}" for name in ("all seen", "10 % seen", "0.5 % seen")))
    for kind in ("vector", "keyword", "hybrid", "by_hand"):
        cells = [_pair(report[kind][role]) for role in workload.SHARES]
        print(f"{kind.replace('_', ' '):10}" + "".join(f"{cell:>20}" for cell in cells))
    print(f"{'recall@10':10}" + "".join(f"{report['recall'][r]:>20.4f}" for r in workload.SHARES))
    print(
        f"replace {_pair(report['replace'])}; built at {report['build_chunks_per_s']:,.0f} chunks/s; "
        f"{report['bytes'] / 1e6:,.0f} MB"
    )
    ratio = report["vector"]["tenth"]["p95"] / report["by_hand"]["tenth"]["p95"]
    worst = min(report["recall"].values())
    for ok, line in (
        (worst >= 0.99, f"recall@10, worst: {worst:.4f} (at least 0.99)"),
        (ratio <= 3.0, f"p95 at 10 % seen, times the best by hand: {ratio:.2f} (at most 3)"),
    ):
        print(f"  {'ok  ' if ok else 'MISS'} {line}")


def _search(
    store: PostgresStore, role: str, questions: Sequence[StoreQuery]
) -> tuple[list[float], list[list[int]]]:
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


def _only(kind: str, question: StoreQuery) -> StoreQuery:
    return StoreQuery(
        question.term_groups if kind != "vector" else (),
        question.vector if kind != "keyword" else None,
    )


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    return {"p50": float(np.percentile(times, 50)), "p95": float(np.percentile(times, 95))}


def _pair(percentiles: dict[str, float]) -> str:
    return f"{percentiles['p50']:.2f} / {percentiles['p95']:.2f}"
