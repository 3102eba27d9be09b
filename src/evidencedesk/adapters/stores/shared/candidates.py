"""From the best by keywords and the nearest by codes to the candidates of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.cosines import exact_cosines
from evidencedesk.adapters.stores.shared.selection import best

RESCORED_SHARE = 0.5
RESCORED_LEAST = 32
"""Beyond the candidates asked for, half as many rows, and these at least, are scored again with
float32 vectors. Codes misplace a cosine by about 0.001; among 100,000 random vectors, some 20 lie as
close as that to the hundredth best."""

Read = Callable[[NDArray[np.int64]], Sequence[tuple[int, bytes]]]
"""Reads slot and float32 vector of those of the keys that have one, by slot."""


def nearest_wanted(candidates: int) -> int:
    """How many of the nearest by codes are scored again for ``candidates`` of them."""
    return candidates + max(RESCORED_LEAST, int(RESCORED_SHARE * candidates))


def best_by_either(
    by_keyword: NDArray[np.int64],
    nearest: NDArray[np.int64],
    query: NDArray[np.float32] | None,
    read: Read,
    candidates: int,
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float64]]:
    """Keys, vectors and cosines of all ``by_keyword`` and the best ``candidates`` of ``nearest``.

    Shapes (n,), (n, dimensions) and (n,), by key; zeros and NaN where there is no vector.
    """
    keys = np.union1d(by_keyword, nearest)
    vectors, cosines = _vectors_of(keys, query, read)
    similar = np.isin(keys, nearest, assume_unique=True)
    kept = np.isin(keys, by_keyword, assume_unique=True)
    kept[np.flatnonzero(similar)[best(cosines[similar], candidates)]] = True
    return keys[kept], vectors[kept], cosines[kept]


def _vectors_of(
    keys: NDArray[np.int64], query: NDArray[np.float32] | None, read: Read
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    cosines = np.full(len(keys), np.nan)
    vectors = np.zeros((len(keys), 0 if query is None else len(query)), np.float32)
    if query is None or not len(keys):
        return vectors, cosines
    found = read(keys)
    present = np.searchsorted(keys, np.array([slot for slot, _ in found], np.int64))
    blobs = b"".join(blob for _, blob in found)
    vectors[present] = np.frombuffer(blobs, "<f4").reshape(len(found), len(query))
    cosines[present] = exact_cosines(vectors[present], query)
    return vectors, cosines
