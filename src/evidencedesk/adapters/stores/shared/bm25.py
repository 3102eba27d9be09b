"""BM25, added up by every store with the very same operations, so that all give the same bits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75


def weights(
    counts: NDArray[np.unsignedinteger],
    lengths: NDArray[np.unsignedinteger],
    *,
    found: int,
    chunks: int,
    length: int,
) -> NDArray[np.float64]:
    """What a group of terms adds to the scores of the chunks that hold it.

    ``protocols.Snapshot.search`` has the formula.

    Args:
        counts: how often each chunk holds the group, shape (n,).
        lengths: in terms, of the same chunks, shape (n,).
        found: how many visible chunks hold the group; n, or more when ``counts`` is a part.
        chunks: how many are visible.
        length: the sum of their lengths.
    """
    idf = math.log(1.0 + (chunks - found + 0.5) / (found + 0.5))
    added = np.asarray(lengths * (K1 * B * chunks / length), np.float64)
    added += K1 * (1.0 - B)
    added += counts
    np.divide(counts, added, out=added)
    added *= idf * (K1 + 1.0)
    return added
