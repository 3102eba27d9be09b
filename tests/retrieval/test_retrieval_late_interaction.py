"""Reordering by stored token vectors: what counts, what may change, what may not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.model import Span, TokenVectors
from evidencedesk.retrieval.late_interaction import (
    REORDERED,
    WEIGHT,
    WeighedTokens,
    best_rows,
    reordered,
)
from evidencedesk.retrieval.words import QuestionWords

AXES = np.eye(3, dtype=np.float32)


def tokens(*rows: int) -> TokenVectors:
    """One token per row of the unit matrix."""
    spans = tuple(Span(place, place + 1) for place in range(len(rows)))
    return TokenVectors(AXES[list(rows)].reshape(len(rows), 3), spans)


def test_a_match_is_the_weighted_mean_of_the_best_cosines():
    question = WeighedTokens(AXES[[0, 1]], np.array([3.0, 1.0]))
    assert question.match(tokens(0, 2)) == pytest.approx(0.75)
    assert question.match(tokens(1)) == pytest.approx(0.25)
    assert question.match(tokens(0, 1)) == pytest.approx(1.0)
    assert question.match(tokens()) == 0.0


def test_cosines_below_zero_count_as_none():
    question = WeighedTokens(AXES[[0]], np.ones(1))
    assert question.match(TokenVectors(-AXES[[0]], (Span(0, 1),))) == 0.0


def test_a_token_weighs_what_the_word_weighs_that_it_stands_in():
    text = "What does resurfacing cost?"
    pieces = tuple(
        Span(*bounds) for bounds in ((0, 4), (5, 9), (10, 17), (17, 21), (22, 26), (26, 27))
    )
    vectors = np.tile(AXES[0], (len(pieces), 1))
    words = QuestionWords((("resurfac", "resurfacing"), ("cost",)), (5.0, 2.0))
    weighed = WeighedTokens.of(text, TokenVectors(vectors, pieces), words, ("en",))
    assert weighed.weights.tolist() == [0.0, 0.0, 5.0, 5.0, 2.0, 0.0]


def test_where_no_word_weighs_anything_all_tokens_weigh_the_same():
    weighed = WeighedTokens.of("Why?", tokens(0, 1), QuestionWords((), ()), ("en",))
    assert weighed.weights.tolist() == [1.0, 1.0]


def test_the_better_match_comes_first_by_its_share_of_the_deviation():
    question = WeighedTokens(AXES[[0]], np.ones(1))
    scores = np.array([1.0, 0.9, 0.0])
    raised = reordered(scores, [0, 1], [tokens(1), tokens(0)], question, deviation=0.5)
    assert raised.tolist() == pytest.approx([1.0, 0.9 + WEIGHT / 0.5, 0.0])


def test_without_a_deviation_nothing_is_reordered():
    question = WeighedTokens(AXES[[0]], np.ones(1))
    scores = np.array([1.0, 0.9])
    assert reordered(scores, [0, 1], [tokens(1), tokens(0)], question, deviation=0.0) is scores


@given(
    scores=st.lists(st.floats(-5, 5), min_size=1, max_size=30),
    seed=st.integers(0, 2**16),
    deviation=st.floats(0.01, 1),
)
def test_whoever_is_reordered_stays_above_whoever_is_not(
    scores: list[float], seed: int, deviation: float
):
    random = np.random.default_rng(seed)
    before = np.round(np.array(scores), 9)
    rows = best_rows(before)
    chunks = [tokens(*random.integers(0, 3, 2)) for _ in rows]
    question = WeighedTokens(AXES, random.random(3) + 0.1)
    after = reordered(before, rows, chunks, question, deviation=deviation)
    others = sorted(set(range(len(scores))) - set(rows))
    assert len(rows) == min(REORDERED, len(scores))
    assert np.array_equal(after[others], before[others])
    assert (after >= before).all()
    assert not others or after[rows].min() >= after[others].max()
