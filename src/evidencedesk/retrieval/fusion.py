"""One score from keyword and vector scores: standardised over what the reader may see, then smoothed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import Candidates

KEYWORD_WEIGHT = 0.4
VECTOR_WEIGHT = 0.6
SENTENCE_SHARE = 0.5
SMOOTHED = 50
SMOOTHING = 0.3
SHARPNESS = 8

_DECIMALS = 9


def fuse(
    found: Candidates, sentence_vectors: list[NDArray[np.float32]], question: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Fused scores F of all candidates (recipe R, steps 3 and 4), shape (candidates,).

    F = .4 z(b) + .6 z(c), where b is BM25 and c = .5 cosine of the chunk + .5 cosine of its best
    sentence, each standardised by mean and deviation over every visible chunk (z = 0 where the
    deviation is 0, or where a chunk has no vector). The best fifty are then drawn towards their
    likes: F = .7 F + .3 A F, A_ij = max(cosine, 0)^8 with zero diagonal and rows that sum to one.

    Args:
        found: candidates with their scores and statistics.
        sentence_vectors: for each candidate, unit vectors of its sentences, (sentences, dimensions).
        question: unit vector of the question, (dimensions,).
    """
    return np.round(_smooth(_fused(found, sentence_vectors, question), found.vectors), _DECIMALS)


def without_sentences(found: Candidates, question: NDArray[np.float32]) -> NDArray[np.float64]:
    """F before sentences are looked at: tells which candidates' sentences are worth reading."""
    nothing = np.zeros((0, len(question)), np.float32)
    return _fused(found, [nothing] * len(found.keys), question)


def keyword_only(found: Candidates) -> NDArray[np.float64]:
    """Standardised BM25 of all candidates: F of a question that has no vector."""
    statistics = found.statistics
    return _standardise(found.keyword_scores, statistics.keyword_mean, statistics.keyword_deviation)


def best_sentence_cosines(
    sentence_vectors: list[NDArray[np.float32]], question: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Cosine of each candidate's best sentence, NaN for one without sentence vectors."""
    best = np.full(len(sentence_vectors), np.nan)
    filled = [index for index, vectors in enumerate(sentence_vectors) if len(vectors)]
    if filled:
        lengths = [len(sentence_vectors[index]) for index in filled]
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        cosines = np.concatenate([sentence_vectors[index] for index in filled]) @ question
        best[filled] = np.maximum.reduceat(cosines.astype(np.float64), starts)
    return best


def ranking(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Indices from the highest score down; equal scores keep the candidates' order."""
    return np.argsort(-scores, kind="stable")


def _fused(
    found: Candidates, sentence_vectors: list[NDArray[np.float32]], question: NDArray[np.float32]
) -> NDArray[np.float64]:
    statistics = found.statistics
    cosines = _blend(found.vector_scores, best_sentence_cosines(sentence_vectors, question))
    dense = _standardise(cosines, statistics.vector_mean, statistics.vector_deviation)
    fused: NDArray[np.float64] = KEYWORD_WEIGHT * keyword_only(found)
    return fused + VECTOR_WEIGHT * np.nan_to_num(dense, nan=0.0)


def _blend(chunk: NDArray[np.float64], sentence: NDArray[np.float64]) -> NDArray[np.float64]:
    blended = (1 - SENTENCE_SHARE) * chunk + SENTENCE_SHARE * sentence
    return np.where(np.isnan(sentence), chunk, blended)


def _standardise(values: NDArray[np.float64], mean: float, deviation: float) -> NDArray[np.float64]:
    if deviation <= 0:
        return np.where(np.isnan(values), np.nan, 0.0)
    return (values - mean) / deviation


def _smooth(scores: NDArray[np.float64], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    top = ranking(scores)[:SMOOTHED]
    block = vectors[top].astype(np.float64)
    likeness = np.maximum(block @ block.T, 0.0) ** SHARPNESS
    np.fill_diagonal(likeness, 0.0)
    mass = likeness.sum(axis=1)
    linked = mass > 0
    neighbours = likeness[linked] @ scores[top] / mass[linked]
    smoothed = scores.copy()
    smoothed[top[linked]] = (1 - SMOOTHING) * scores[top[linked]] + SMOOTHING * neighbours
    return smoothed
