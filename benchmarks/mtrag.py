"""Ranking, and answerable told from unanswerable, on conversation turns (MTRAG-UN).

Run ``python -m benchmarks.mtrag ../shared/data/mtrag_un``. Turns are asked as they stand, without the
conversation before them. A turn is right when a gold passage is among the three best, which is what
the shipped calibration means by right there. Then a calibration is fitted on one half of the turns
and its promise is held against the other half, in both directions and over several splits.
``--cache DIR`` keeps the index for the next run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.corpora import READER, indexed, load, open_model
from evidencedesk.access import AccessFilter, Principal
from evidencedesk.evaluation import ndcg_at_k
from evidencedesk.evaluation.calibrating import fit_calibration
from evidencedesk.evaluation.curves import Scored, area_under, auroc, risk_coverage
from evidencedesk.evaluation.intervals import Estimate, mean_of
from evidencedesk.model import Query
from evidencedesk.protocols import Embedder, Snapshot
from evidencedesk.retrieval import DEFAULT_THRESHOLD, SHIPPED, retrieve

KINDS = ("ANSWERABLE", "PARTIAL", "UNDERSPECIFIED", "UNANSWERABLE")
SPLITS = 20
TARGETS = (0.1, 0.2, 0.3)
LEVEL = 0.9


@dataclass(frozen=True)
class Turn:
    """One turn: its kind, its gold passages, and what retrieval made of it."""

    kind: str
    gains: Mapping[str, float]
    found: tuple[str, ...]
    confidence: float
    likeness: float

    @property
    def answerable(self) -> bool:
        """Whether the passages answer it in full."""
        return self.kind == "ANSWERABLE"

    @property
    def right(self) -> bool:
        """Whether a gold passage is among the three best of an answerable turn."""
        return self.answerable and any(self.gains.get(name, 0) > 0 for name in self.found[:3])


def main() -> None:
    """Print ranking, the table per kind, and how often the promise was kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder", type=Path, help="corpus.jsonl, queries.jsonl, qrels.tsv, qa.jsonl"
    )
    parser.add_argument("--cache", type=Path, help="folder in which the index is kept")
    parser.add_argument("--token-vectors", action="store_true", help="keep and use token vectors")
    options = parser.parse_args()
    corpus, model = load(options.folder), open_model(keep_tokens=options.token_vectors)
    rows = [json.loads(line) for line in (options.folder / "qa.jsonl").open(encoding="utf-8")]
    access = AccessFilter.for_principal(Principal(roles=frozenset({READER})))
    with indexed(corpus.documents, model, name="mtrag", cache=options.cache) as store:
        for name, embedder in (("hybrid", model), ("keywords", None)):
            with store.read(access=access) as snapshot:
                turns = [_turn(row, corpus.relevance, snapshot, embedder) for row in rows]
            print(f"\n{name}: {len(corpus.documents)} passages, {len(turns)} turns")
            _report(turns, hybrid=embedder is not None)


def _turn(
    row: Mapping[str, str],
    relevance: Mapping[str, Mapping[str, float]],
    snapshot: Snapshot,
    embedder: Embedder | None,
) -> Turn:
    found = retrieve(Query(row["question"]), snapshot, embedder, k=100)
    likeness = max((hit.vector_score or 0.0 for hit in found.hits[:3]), default=0.0)
    return Turn(
        kind=row["answerability"],
        gains=relevance.get(row["id"], {}),
        found=tuple(dict.fromkeys(hit.chunk.document_id for hit in found.hits)),
        confidence=found.confidence,
        likeness=likeness,
    )


def _report(turns: Sequence[Turn], *, hybrid: bool) -> None:
    random = np.random.default_rng(1)
    judged = [turn for turn in turns if any(gain > 0 for gain in turn.gains.values())]
    print(f"  nDCG@10, {len(judged)} turns with gold passages   {_ranking(judged, random)}")
    answerable = [turn for turn in judged if turn.answerable]
    print(f"  nDCG@10, {len(answerable)} answerable turns          {_ranking(answerable, random)}")
    print(f"  {'kind':<16}{'turns':>6}{'confidence':>12}{'shown':>8}{'right':>8}{'AUROC':>8}")
    for kind in KINDS:
        print(_kind(turns, kind))
    if hybrid:
        _on_topic(turns)
    told = [turn for turn in turns if turn.kind in ("ANSWERABLE", "UNANSWERABLE")]
    answers = [Scored(turn.confidence, turn.right) for turn in told]
    points = risk_coverage(answers, len(answers))
    print(f"  risk-coverage area (right: gold in top 3)   {area_under(points):.3f}")
    _promise(answers, random, hybrid=hybrid)


def _ranking(turns: Sequence[Turn], random: np.random.Generator) -> str:
    return _shown(mean_of((ndcg_at_k(turn.found, turn.gains, 10) for turn in turns), random))


def _kind(turns: Sequence[Turn], kind: str) -> str:
    held = [turn for turn in turns if turn.kind == kind]
    others = [turn for turn in turns if turn.answerable]
    told = [Scored(turn.confidence, right=turn.answerable) for turn in (*held, *others)]
    apart = "" if kind == "ANSWERABLE" else f"{auroc(told):.3f}"
    mean = sum(turn.confidence for turn in held) / len(held)
    shown = sum(turn.confidence >= DEFAULT_THRESHOLD for turn in held) / len(held)
    right = sum(turn.right for turn in held) / len(held)
    return f"  {kind:<16}{len(held):>6}{mean:>12.3f}{shown:>8.3f}{right:>8.3f}{apart:>8}"


def _on_topic(turns: Sequence[Turn]) -> None:
    """Unanswerable turns with a passage as near as three quarters of the answerable ones have."""
    likeness = [turn.likeness for turn in turns if turn.answerable]
    near = float(np.quantile(likeness, 0.25))
    held = [turn for turn in turns if turn.kind == "UNANSWERABLE" and turn.likeness >= near]
    told = [Scored(turn.confidence, right=False) for turn in held]
    told += [Scored(turn.confidence, right=True) for turn in turns if turn.answerable]
    apart = auroc(told)
    print(
        f"  right topic, fact missing: {len(held)} unanswerable turns with a passage nearer than "
        f"{near:.2f}; AUROC {'none' if apart is None else f'{apart:.3f}'}"
    )


def _promise(answers: Sequence[Scored], random: np.random.Generator, *, hybrid: bool) -> None:
    used = SHIPPED.tokens if hybrid else SHIPPED.keywords
    for target in TARGETS:
        kept = found = 0
        shares, risks = [], []
        for _ in range(SPLITS):
            order = random.permutation(len(answers))
            for half in (order[::2], order[1::2]):
                other = [answers[i] for i in set(range(len(answers))) - set(half.tolist())]
                fit = fit_calibration(
                    [answers[i] for i in half],
                    used=used,
                    questions=len(half),
                    name="half",
                    target=target,
                    level=LEVEL,
                    random=random,
                )
                shown = [o for o in other if fit.line.of(o.confidence) >= fit.threshold.value]
                wrong = sum(not one.right for one in shown)
                found += fit.threshold.found
                kept += not shown or wrong / len(shown) <= target
                shares.append(len(shown) / len(other))
                risks += [wrong / len(shown)] if shown else []
        tries = 2 * SPLITS
        risk = f"{np.mean(risks):.3f}" if risks else "none"
        print(
            f"  at most {target:.0%} wrong, {LEVEL:.0%} sure: threshold found {found}/{tries}, kept on "
            f"the other half {kept}/{tries}, shown there {np.mean(shares):.3f}, wrong there {risk}"
        )


def _shown(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


if __name__ == "__main__":
    main()
