"""What a store's scores must be, computed in the plainest way from a list of chunks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import IndexedChunk

K1 = 1.2
B = 0.75


def bm25(chunks: Sequence[IndexedChunk], groups: Sequence[Sequence[str]]) -> list[float]:
    """BM25 of every chunk, with statistics over exactly these chunks."""
    lengths = [sum(chunk.terms.values()) for chunk in chunks]
    average = sum(lengths) / len(chunks) if chunks else 0.0
    scores = [0.0] * len(chunks)
    for group in groups:
        held = [sum(chunk.terms.get(term, 0) for term in set(group)) for chunk in chunks]
        found = sum(count > 0 for count in held)
        idf = math.log(1 + (len(chunks) - found + 0.5) / (found + 0.5))
        for row, count in enumerate(held):
            if count:
                norm = count + K1 * (1 - B + B * lengths[row] / average)
                scores[row] += idf * count * (K1 + 1) / norm
    return scores


def frequencies(chunks: Sequence[IndexedChunk], groups: Sequence[Sequence[str]]) -> list[int]:
    """How many chunks hold a term of each group."""
    return [
        sum(any(chunk.terms.get(term) for term in group) for chunk in chunks) for group in groups
    ]


def cosines(chunks: Sequence[IndexedChunk], vector: NDArray[np.float32]) -> list[float]:
    """Cosine of every chunk, NaN where it has no vector."""
    return [
        math.nan
        if chunk.vector is None
        else math.fsum(a * b for a, b in zip(chunk.vector.tolist(), vector.tolist(), strict=True))
        for chunk in chunks
    ]


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Mean and population deviation; zeros of nothing."""
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
