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


@dataclass(frozen=True, slots=True)
class Weights:
    """What a sentence's score is made of.

    Attributes:
        similarity: weight of the mean similarity over question tokens.
        coverage: weight of the idf share of the question's words in the sentence.
        chunk: weight of the chunk's score, the best chunk's being 1.
        similarity_gain: weight, for the second sentence, of the mean similarity that it adds to the
            first one's, per question token.
        coverage_gain: weight, for the second sentence, of the coverage that it adds.
    """

    similarity: float = 0.0
    coverage: float = 0.0
    chunk: float = 0.0
    similarity_gain: float = 0.0
    coverage_gain: float = 0.0


TOKENS = Weights(similarity=1.0, coverage=0.2, chunk=0.4, similarity_gain=2.0)
COSINE = Weights(similarity=0.5, coverage=0.5, chunk=0.75, similarity_gain=2.0, coverage_gain=0.6)
KEYWORDS = Weights(coverage=1.0, chunk=0.75, coverage_gain=0.6)


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


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """How like the question each sentence of the chunks is, in the order of the chunks.

    Attributes:
        tokens: (sentences, question tokens) best cosines, or (sentences, 1) where there are no
            token vectors; what sentences are ranked by.
        cosines: (sentences,) cosines of sentence and question, zeros where there are none.
        by_token: whether ``tokens`` comes from token vectors.
    """

    tokens: NDArray[np.float64]
    cosines: NDArray[np.float64]
    by_token: bool = False


def rank_sentences(
    chunks: Sequence[ScoredChunk], likeness: Likeness, words: QuestionWords, weights: Weights
) -> tuple[tuple[RankedSentence, ...], Signals]:
    """All sentences, best first, and what the two best say about the whole.

    A sentence's score s is similarity + coverage + chunk score, weighted. The second sentence is
    the one with the largest s plus what it adds to the first; the rest follow by s.
    """
    rows = [(scored, span) for scored in chunks for span in scored.spans]
    if not rows:
        return (), Signals()
    found = [_terms(scored.chunk, span) for scored, span in rows]
    coverage = np.array([words.coverage(held) for held in found])
    score = (
        weights.similarity * likeness.tokens.mean(axis=1)
        + weights.coverage * coverage
        + weights.chunk * np.array([scored.score for scored, _ in rows])
    )
    first = int(np.argmax(score))
    added = np.array([words.coverage(found[first] | held) for held in found]) - coverage[first]
    gained = np.maximum(likeness.tokens - likeness.tokens[first], 0.0).mean(axis=1)
    second = score + weights.similarity_gain * gained + weights.coverage_gain * added
    order = _order(first, second, score)
    ranked = tuple(_ranked(*rows[index], float(score[index])) for index in order)
    return ranked, _signals(order, rows, likeness, words)


def _order(first: int, second: NDArray[np.float64], score: NDArray[np.float64]) -> list[int]:
    others = [int(index) for index in np.argsort(-score, kind="stable") if index != first]
    if not others:
        return [first]
    best = max(others, key=lambda index: second[index])
    return [first, best, *(index for index in others if index != best)]


def _signals(
    order: Sequence[int],
    rows: Sequence[tuple[ScoredChunk, Span]],
    likeness: Likeness,
    words: QuestionWords,
) -> Signals:
    best = order[0]
    shown = [rows[index] for index in order[:2]]
    in_sight = (_terms(scored.chunk, span) | _place(scored.chunk) for scored, span in shown)
    chunk = rows[best][0].chunk
    everything = frozenset(terms(chunk.text, chunk.lang)) | _place(chunk)
    return Signals(
        max_similarity=float(likeness.tokens[best].mean()) if likeness.by_token else 0.0,
        cosine=float(likeness.cosines[best]),
        coverage=words.coverage(frozenset[str]().union(*in_sight)),
        chunk_coverage=words.coverage(everything),
    )


def _terms(chunk: Chunk, span: Span) -> frozenset[str]:
    return frozenset(terms(chunk.text[span.start : span.end], chunk.lang))


def _place(chunk: Chunk) -> frozenset[str]:
    return frozenset(terms("\n".join((chunk.title, *chunk.location.heading)), chunk.lang))


def _ranked(scored: ScoredChunk, span: Span, score: float) -> RankedSentence:
    base = scored.chunk.location.start
    text = scored.chunk.text[span.start : span.end]
    place = Span(base + span.start, base + span.end)
    return RankedSentence(scored.chunk.id, place, text, round(score, 6))
