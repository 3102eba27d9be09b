"""Texts that are nearly the same: MinHash finds candidates, their shingles decide.

A text is the set of its runs of five words (of five characters in scripts that put no spaces between
words); two texts are as alike as their sets overlap (Jaccard). Candidates share a band of their
MinHash signatures (Broder, On the resemblance and containment of documents, 1997; the banding is that
of Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, 3.4).
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SHINGLE = 5
_HASHES = 128
_BANDS = 32
_WORD = re.compile(r"\w+")
_LONG_WORD = 12
_SEED = 20_261_130
_FACTOR = np.uint64(0x9E3779B97F4A7C15)

Shingles = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """Two texts that are nearly or wholly the same.

    Attributes:
        first: name of one of them.
        second: name of the other.
        similarity: share of their runs of words that both have, 0 to 1.
    """

    first: str
    second: str
    similarity: float


def near_duplicates(
    texts: Iterable[tuple[str, str]], *, threshold: float = 0.8
) -> list[NearDuplicates]:
    """Pairs of texts whose similarity is at least ``threshold``, the most alike first.

    A pair at the threshold of 0.8 is missed with a probability of less than one in ten thousand
    million; what is given is exact. Texts of fewer than five words are compared as wholes.

    Args:
        texts: name and text of each.
        threshold: 0 to 1; below about 0.5 many pairs are missed.
    """
    sets = {name: shingles_of(text) for name, text in texts}
    pairs: set[tuple[str, str]] = set()
    buckets: dict[tuple[int, bytes], list[str]] = defaultdict(list)
    for name, shingles in sets.items():
        if not len(shingles):
            continue
        for band, key in enumerate(_signature(shingles).reshape(_BANDS, -1)):
            bucket = buckets[band, key.tobytes()]
            pairs |= {(other, name) for other in bucket}
            bucket.append(name)
    found = [NearDuplicates(a, b, _jaccard(sets[a], sets[b])) for a, b in pairs]
    alike = [pair for pair in found if pair.similarity >= threshold]
    return sorted(alike, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def shingles_of(text: str) -> Shingles:
    """Hashes of the runs of words of ``text``, sorted, each once."""
    folded = text.casefold()
    units = _WORD.findall(folded)
    if sum(map(len, units)) > _LONG_WORD * len(units):
        units = [char for unit in units for char in unit]
    hashes = np.fromiter((zlib.crc32(unit.encode()) for unit in units), np.uint64, len(units))
    length = min(SHINGLE, len(hashes))
    if not length:
        return hashes
    count = len(hashes) - length + 1
    runs = np.zeros(count, dtype=np.uint64)
    for place in range(length):
        runs = (runs ^ hashes[place : place + count]) * _FACTOR
        runs ^= runs >> np.uint64(29)
    return np.unique(runs)


def _signature(shingles: Shingles) -> NDArray[np.uint32]:
    """Least values of 128 hash functions (multiply-shift) over the shingles."""
    random = np.random.default_rng(_SEED)
    factors = random.integers(1, 1 << 63, _HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    least = np.full(_HASHES, np.iinfo(np.uint32).max, dtype=np.uint32)
    for start in range(0, len(shingles), 1024):
        block = shingles[start : start + 1024]
        values = ((factors[:, None] * block[None, :]) >> np.uint64(32)).astype(np.uint32)
        least = np.minimum(least, values.min(axis=1))
    return least


def _jaccard(one: Shingles, other: Shingles) -> float:
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)
