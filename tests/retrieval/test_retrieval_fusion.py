from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.model import Candidates, ScoreStatistics
from evidencedesk.retrieval.fusion import best_sentence_cosines, fuse, keyword_only, ranking

QUESTION = np.array([1.0, 0.0], np.float32)
NOTHING = np.zeros((0, 2), np.float32)


def candidates(
    keyword: list[float], cosine: list[float], vectors: list[list[float]], **statistics: float
) -> Candidates:
    return Candidates(
        keys=np.arange(len(keyword)),
        keyword_scores=np.array(keyword),
        vector_scores=np.array(cosine),
        vectors=np.array(vectors, np.float32).reshape(len(keyword), 2),
        statistics=ScoreStatistics(chunks=10, vectors=10, **statistics),
        group_frequencies=np.array([], np.int64),
    )


def test_scores_are_standardised_by_what_is_visible_and_weighted() -> None:
    found = candidates(
        [3.0, 0.0],
        [0.6, 0.0],
        [[0.6, 0.8], [0.0, -1.0]],
        keyword_mean=1.0,
        keyword_deviation=2.0,
        vector_mean=0.2,
        vector_deviation=0.1,
    )
    scores = fuse(found, [np.array([[1.0, 0.0]], np.float32), NOTHING], QUESTION)
    blended = 0.5 * 0.6 + 0.5 * 1.0
    assert scores[0] == pytest.approx(0.4 * 1.0 + 0.6 * (blended - 0.2) / 0.1)
    assert scores[1] == pytest.approx(0.4 * -0.5 + 0.6 * -2.0)


def test_no_deviation_and_no_vector_count_as_average() -> None:
    found = candidates([3.0, 1.0], [np.nan, 0.5], [[0, 0], [1, 0]], vector_mean=0.1)
    assert fuse(found, [NOTHING, NOTHING], QUESTION).tolist() == [0.0, 0.0]
    assert keyword_only(found).tolist() == [0.0, 0.0]


def test_likes_are_drawn_together() -> None:
    found = candidates(
        [4.0, 0.0, 0.0],
        [np.nan, np.nan, np.nan],
        [[1, 0], [1, 0], [0, 1]],
        keyword_deviation=1.0,
    )
    scores = fuse(found, [NOTHING] * 3, QUESTION)
    assert scores.tolist() == pytest.approx([0.7 * 1.6, 0.3 * 1.6, 0.0])


def test_the_best_sentence_counts() -> None:
    vectors = [np.array([[0, 1], [0.6, 0.8]], np.float32), NOTHING, np.array([[1, 0]], np.float32)]
    best = best_sentence_cosines(vectors, QUESTION)
    assert best[[0, 2]].tolist() == pytest.approx([0.6, 1.0])
    assert np.isnan(best[1])


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse(candidates([], [], []), [], QUESTION).tolist() == []


@given(st.lists(st.integers(0, 5), max_size=30))
def test_equal_scores_keep_their_order(scores: list[int]) -> None:
    expected = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    assert ranking(np.array(scores, float)).tolist() == expected


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(-1, 1)), min_size=1, max_size=60))
def test_smoothing_never_leaves_the_range_of_the_scores(rows: list[tuple[float, float]]) -> None:
    angles = [[cosine, float(np.sqrt(1 - cosine * cosine))] for _, cosine in rows]
    found = candidates(
        [keyword for keyword, _ in rows],
        [np.nan for _ in rows],
        angles,
        keyword_mean=1.0,
        keyword_deviation=1.0,
    )
    plain = 0.4 * keyword_only(found)
    smoothed = fuse(found, [NOTHING] * len(rows), QUESTION)
    assert smoothed.min() >= plain.min() - 1e-6
    assert smoothed.max() <= plain.max() + 1e-6
