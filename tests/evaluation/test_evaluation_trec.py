"""Ranking metrics agree with trec_eval, ties and near-ties included."""

from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.evaluation.metrics import (
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
    trec_order,
)

IDS = st.text(st.sampled_from("abAB09-_é漢"), min_size=1, max_size=4)
CLOSE = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-7, 0.5, np.float64(0.1) * 3, 0.3, -2.0])
RUNS = st.dictionaries(IDS, st.one_of(CLOSE, st.floats(-10, 10)), min_size=1, max_size=12)
GAINS = st.dictionaries(IDS, st.integers(0, 3), min_size=1, max_size=8)
MEASURES = {
    "ndcg_cut_3": lambda found, gains: ndcg_at_k(found, gains, 3),
    "ndcg_cut_10": lambda found, gains: ndcg_at_k(found, gains, 10),
    "recall_5": lambda found, gains: recall_at_k(found, relevant(gains), 5),
    "P_5": lambda found, gains: precision_at_k(found, relevant(gains), 5),
    "recip_rank": lambda found, gains: reciprocal_rank(found, relevant(gains)),
}


def relevant(gains: dict[str, int]) -> set[str]:
    return {name for name, gain in gains.items() if gain > 0}


def theirs(run: dict[str, float], gains: dict[str, int]) -> dict[str, float]:
    evaluator = pytrec_eval.RelevanceEvaluator(
        {"q": gains}, {"ndcg_cut.3,10", "recall.5", "P.5", "recip_rank"}
    )
    return evaluator.evaluate({"q": {name: float(score) for name, score in run.items()}})["q"]


def ours(run: dict[str, float], gains: dict[str, int]) -> Any:
    found = trec_order(run)
    return pytest.approx({name: one(found, gains) for name, one in MEASURES.items()}, abs=1e-9)


@given(RUNS, GAINS)
def test_metrics_are_trec_evals(run: dict[str, float], gains: dict[str, int]) -> None:
    assert theirs(run, gains) == ours(run, gains)


def test_everything_tied() -> None:
    names = [f"d{n}" for n in range(30)]
    run, gains = dict.fromkeys(names, 1.0), {name: n % 3 for n, name in enumerate(names)}
    assert theirs(run, gains) == ours(run, gains)


def test_scores_that_differ_in_64_bits_only_are_tied() -> None:
    run = {"a": 1.0 + 1e-12, "b": 1.0, "c": 1.0 - 1e-12}
    assert trec_order(run) == ("c", "b", "a")
    assert theirs(run, {"a": 1, "b": 2}) == ours(run, {"a": 1, "b": 2})


def test_a_score_that_is_no_number_orders_last() -> None:
    assert trec_order({"a": float("nan"), "b": -5.0}) == ("b", "a")


def test_precision_divides_by_k() -> None:
    assert precision_at_k(["a"], {"a"}, 4) == 0.25
    assert precision_at_k(["a", "a", "b"], {"a", "b"}, 2) == 0.5
