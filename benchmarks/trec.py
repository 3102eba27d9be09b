"""Our ranking metrics beside trec_eval's on judgements in BEIR form, ties in every run.

Run ``python -m benchmarks.trec FOLDER...``. Scores are drawn so that many are equal, as 64-bit and as
32-bit numbers; judged documents and others are ranked together.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytrec_eval

from evidencedesk.evaluation.loading import load_golden
from evidencedesk.evaluation.metrics import (
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
    trec_order,
)

MEASURES = {"ndcg_cut.10", "recall.10", "P.10", "recip_rank"}


def main() -> None:
    """Print the largest difference per folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", help="queries.jsonl and qrels.tsv")
    for folder in parser.parse_args().folders:
        worst, questions = _largest_difference(folder, np.random.default_rng(1))
        print(f"{folder.name:<20}{questions:>6} questions, largest difference {worst:.1e}")


def _largest_difference(folder: Path, random: np.random.Generator) -> tuple[float, int]:
    questions = load_golden(folder).questions
    names = sorted({name for one in questions for name in one.documents})
    gains = {one.id: {n: int(g) for n, g in one.documents.items()} for one in questions}
    runs = {
        one.id: {
            name: float(random.integers(0, 4) + random.choice([0.0, 1e-12, 1e-6]))
            for name in {*random.choice(names, 30), *one.documents}
        }
        for one in questions
    }
    theirs = pytrec_eval.RelevanceEvaluator(gains, MEASURES).evaluate(runs)
    worst = 0.0
    for one in questions:
        found, relevant = trec_order(runs[one.id]), one.relevant
        ours = {
            "ndcg_cut_10": ndcg_at_k(found, one.documents, 10),
            "recall_10": recall_at_k(found, relevant, 10),
            "P_10": precision_at_k(found, relevant, 10),
            "recip_rank": reciprocal_rank(found, relevant),
        }
        worst = max(worst, *(abs(ours[name] - theirs[one.id][name]) for name in ours))
    return worst, len(questions)


if __name__ == "__main__":
    main()
