"""Which sentences of the best chunks answer the question (recipe S)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import Chunk, RankedSentence, Span
from evidencedesk.retrieval.calibration import Signals
from evidencedesk.retrieval.words import QuestionWords
from evidencedesk.text.analysis import terms
from evidencedesk.text.sentences import sentences

GAIN_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class Weights:
    """What a sentence's score is made of, beside the similarity, which counts once.

    Attributes:
        similarity: weight of the mean similarity over question tokens.
        coverage: weight of the idf share of the question's words in the sentence.
        chunk: weight of the chunk's score, the best chunk's being 1.
    """

    similarity: float
    coverage: float
    chunk: float


TOKENS = Weights(similarity=1.0, coverage=0.2, chunk=0.4)
COSINE = Weights(similarity=0.5, coverage=0.5, chunk=0.75)
KEYWORDS = Weights(similarity=0.0, coverage=1.0, chunk=0.75)


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk whose sentences are wanted.

    Attributes:
        chunk: the chunk.
        score: its fused score as a share of the best chunk's, in [0, 1].
        spans: its sentences, in the chunk's text.
    """

    chunk: Chunk
    score: float
    spans: tuple[Span, ...]


def scored_chunks(chunks: Sequence[Chunk], scores: Sequence[float]) -> tuple[ScoredChunk, ...]:
    """The chunks cut into sentences, scores (best first) as shares of the best one."""
    best = max(scores[0], 0.0) if scores else 0.0
    return tuple(
        ScoredChunk(chunk, max(score, 0.0) / best if best else 1.0, tuple(sentences(chunk.text)))
        for chunk, score in zip(chunks, scores, strict=True)
    )


def rank_sentences(
    chunks: Sequence[ScoredChunk],
    similarity: NDArray[np.float64],
    words: QuestionWords,
    weights: Weights,
) -> tuple[tuple[RankedSentence, ...], Signals]:
    """All sentences, best first, and what the two best say about the whole.

    s = similarity + coverage + chunk score, weighted. The second sentence is the one with the
    largest s + 2 * mean gain over the first, per question token; the rest follow by s.

    Args:
        chunks: chunks with their sentences.
        similarity: (sentences, question tokens) or (sentences, 1), in the order of the chunks.
        words: the question's words.
        weights: what counts how much.
    """
    rows = [(scored, span) for scored in chunks for span in scored.spans]
    if not rows:
        return (), Signals(0.0, 0.0)
    found = [_terms_of(scored.chunk, span) for scored, span in rows]
    mean = similarity.mean(axis=1)
    score = (
        weights.similarity * mean
        + weights.coverage * np.array([words.coverage(held) for held in found])
        + weights.chunk * np.array([scored.score for scored, _ in rows])
    )
    order = _order(score, similarity)
    shown = found[order[0]].union(*(found[index] for index in order[1:2]))
    signals = Signals(float(mean[order[0]]), words.coverage(shown))
    return tuple(_ranked(*rows[index], float(score[index])) for index in order), signals


def _order(score: NDArray[np.float64], similarity: NDArray[np.float64]) -> list[int]:
    order = [int(index) for index in np.argsort(-score, kind="stable")]
    if len(order) < 3:
        return order
    first, rest = order[0], order[1:]
    gain = np.maximum(similarity - similarity[first], 0.0).mean(axis=1)
    second = max(rest, key=lambda index: score[index] + GAIN_WEIGHT * gain[index])
    return [first, second, *(index for index in rest if index != second)]


def _terms_of(chunk: Chunk, span: Span) -> frozenset[str]:
    return frozenset(terms(chunk.text[span.start : span.end], chunk.lang))


def _ranked(scored: ScoredChunk, span: Span, score: float) -> RankedSentence:
    base = scored.chunk.location.start
    text = scored.chunk.text[span.start : span.end]
    place = Span(base + span.start, base + span.end)
    return RankedSentence(scored.chunk.id, place, text, round(score, 6))
