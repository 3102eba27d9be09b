from __future__ import annotations

import numpy as np
import pytest
from exact_snapshot import HashedEmbedder, chunk
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.retrieval.calibration import SHIPPED, Calibration, Signals
from evidencedesk.retrieval.sentences import (
    TOKENS,
    Likeness,
    Weights,
    rank_sentences,
    scored_chunks,
)
from evidencedesk.retrieval.similarity import sentence_cosines, token_similarity
from evidencedesk.retrieval.words import QuestionWords

TEXT = "Red bikes are fast. Blue bikes are slow. Green bikes are cheap."
NO_WORDS = QuestionWords((), ())


def likeness(rows: list[list[float]]) -> Likeness:
    tokens = np.array(rows, float)
    return Likeness(tokens, tokens.max(axis=1), by_token=True)


def test_the_second_sentence_is_the_one_that_adds_most() -> None:
    chunks = scored_chunks([chunk(TEXT)], [1.0])
    ranked, signals = rank_sentences(
        chunks, likeness([[0.9, 0.1], [0.8, 0.1], [0.0, 0.7]]), NO_WORDS, TOKENS
    )
    assert [one.text.split()[0] for one in ranked] == ["Red", "Green", "Blue"]
    assert signals.max_similarity == pytest.approx(0.5)
    assert signals.cosine == pytest.approx(0.9)


def test_coverage_gain_chooses_the_second_sentence_without_vectors() -> None:
    words = QuestionWords((("red",), ("cheap",), ("bike",)), (1.0, 1.0, 0.5))
    nothing = Likeness(np.zeros((3, 1)), np.zeros(3))
    weights = Weights(coverage=1.0, coverage_gain=1.0)
    ranked, signals = rank_sentences(scored_chunks([chunk(TEXT)], [1.0]), nothing, words, weights)
    assert [one.text.split()[0] for one in ranked] == ["Red", "Green", "Blue"]
    assert signals.coverage == 1.0
    assert signals.max_similarity == 0.0


def test_headings_and_titles_count_for_coverage() -> None:
    words = QuestionWords((("gift",), ("card",)), (1.0, 1.0))
    one = chunk("They expire.", heading="Cards", title="Gifts")
    nothing = Likeness(np.zeros((1, 1)), np.zeros(1))
    _, signals = rank_sentences(scored_chunks([one], [1.0]), nothing, words, TOKENS)
    assert signals.coverage == signals.chunk_coverage == 1.0


def test_no_sentences_give_no_signals() -> None:
    assert rank_sentences((), Likeness(np.zeros((0, 1)), np.zeros(0)), NO_WORDS, TOKENS) == (
        (),
        Signals(),
    )


def test_chunk_scores_are_shares_of_the_best() -> None:
    scores = [one.score for one in scored_chunks([chunk(TEXT)] * 3, [4.0, 2.0, -1.0])]
    assert scores == [1.0, 0.5, 0.0]
    assert [one.score for one in scored_chunks([chunk(TEXT)] * 2, [-1.0, -2.0])] == [1.0, 1.0]


def test_a_sentence_is_compared_by_its_own_tokens() -> None:
    embedder = HashedEmbedder()
    chunks = scored_chunks([chunk(TEXT), chunk("Nothing else. Slow trains.")], [1.0, 0.5])
    rows = token_similarity("fast slow", chunks, embedder)
    assert rows.shape == (5, 2)
    assert rows[0, 0] == pytest.approx(1.0, abs=1e-5)
    assert rows[1, 1] == pytest.approx(1.0, abs=1e-5)
    assert rows[1, 0] < 0.99


def test_long_chunks_are_encoded_in_windows_of_whole_sentences() -> None:
    text = " ".join(f"Word{number} is here and stays here for good." for number in range(60))
    rows = token_similarity("word59", scored_chunks([chunk(text)], [1.0]), HashedEmbedder())
    assert rows.shape == (60, 1)
    assert int(rows[:, 0].argmax()) == 59


def test_sentence_vectors_of_another_number_of_sentences_are_not_used() -> None:
    question = np.array([1.0, 0.0], np.float32)
    chunks = scored_chunks([chunk(TEXT), chunk("One.")], [1.0, 0.5])
    vectors = [np.ones((2, 2), np.float32), np.ones((1, 2), np.float32)]
    assert sentence_cosines(question, chunks, vectors).tolist() == [0.0, 0.0, 0.0, 1.0]


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=3, max_size=3))
def test_every_sentence_is_ranked_once_and_the_best_first(rows: list[list[float]]) -> None:
    ranked, _ = rank_sentences(
        scored_chunks([chunk(TEXT)], [1.0]), likeness(rows), NO_WORDS, TOKENS
    )
    assert len({one.span for one in ranked}) == 3
    assert ranked[0].score == max(one.score for one in ranked)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.5))
def test_confidence_rises_with_every_signal(
    similarity: float, coverage: float, more: float
) -> None:
    for calibration in (SHIPPED.tokens, SHIPPED.cosine, SHIPPED.keywords):
        low = Signals(similarity, similarity, coverage, coverage)
        high = Signals(similarity + more, similarity + more, coverage + more, coverage + more)
        assert 0.0 <= calibration.confidence(low) <= calibration.confidence(high) <= 1.0


def test_a_calibration_is_a_sigmoid() -> None:
    calibration = Calibration("test", -1.0, Signals(2.0, 0.0, 3.0, 0.0))
    assert calibration.confidence(Signals(0.5, 0.9, 0.0, 0.9)) == 0.5
    assert calibration.confidence(Signals()) == pytest.approx(0.268941)


def test_coverage_weighs_words_by_their_rarity() -> None:
    words = QuestionWords((("bik", "bike"), ("rd2",)), (1.0, 3.0))
    assert words.coverage({"bike", "x"}) == 0.25
    assert words.coverage({"rd2", "bik"}) == 1.0
    assert words.coverage(set()) == 0.0
    assert NO_WORDS.coverage({"bike"}) == 0.0
