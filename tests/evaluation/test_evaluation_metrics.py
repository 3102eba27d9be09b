from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.evaluation import mrr, ndcg_at_k, recall_at_k, reciprocal_rank

IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_recall_at_k() -> None:
    assert recall_at_k(["a", "b", "c"], {"b", "x"}, 2) == 0.5
    assert recall_at_k(["a", "b", "c"], {"b", "x"}, 1) == 0.0
    assert recall_at_k(["a", "a", "b"], ["a", "b"], 3) == 1.0
    assert recall_at_k(["a"], (), 1) == 0.0


def test_ndcg_at_k() -> None:
    assert ndcg_at_k(["a", "b"], {"b": 1.0}, 10) == pytest.approx(1 / math.log2(3))
    assert ndcg_at_k(["b", "a"], {"b": 1.0}, 10) == 1.0
    expected = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert ndcg_at_k(["b", "a"], {"a": 2.0, "b": 1.0}, 2) == pytest.approx(expected)
    assert ndcg_at_k(["a"], {}, 10) == 0.0
    assert ndcg_at_k(["a", "a", "b"], {"b": 1.0}, 2) == pytest.approx(1 / math.log2(3))


def test_reciprocal_rank() -> None:
    assert reciprocal_rank(["a", "b"], {"b"}) == 0.5
    assert reciprocal_rank(["a"], {"b"}) == 0.0
    assert mrr([(["a", "b"], {"b"}), (["b"], {"b"})]) == 0.75
    assert mrr([]) == 0.0


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_an_error(k: int) -> None:
    with pytest.raises(ValueError, match="k must be 1 or more"):
        recall_at_k(["a"], {"a"}, k)
    with pytest.raises(ValueError, match="k must be 1 or more"):
        ndcg_at_k(["a"], {"a": 1.0}, k)


@given(IDS, IDS, st.integers(1, 10))
def test_metrics_are_shares_and_a_perfect_ranking_is_one(
    retrieved: list[str], relevant: list[str], k: int
) -> None:
    gains = dict.fromkeys(relevant, 1.0)
    for value in (
        recall_at_k(retrieved, relevant, k),
        ndcg_at_k(retrieved, gains, k),
        reciprocal_rank(retrieved, relevant),
    ):
        assert 0.0 <= value <= 1.0 + 1e-12
    if relevant:
        assert ndcg_at_k(relevant, gains, k) == pytest.approx(1.0)
        assert recall_at_k(relevant, relevant, len(relevant)) == 1.0
