"""Terms as 64-bit numbers, and the counting of many at once.

The number is BLAKE2b cut to 64 bits: among ten million distinct terms the chance that any two
collide is three in a million.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

REMEMBERED = 200_000
"""Terms whose numbers are kept in memory."""

Counted = tuple[NDArray[np.uint64], NDArray[np.uint32]]
"""Numbers of distinct terms, ascending, and how often each occurs; both little-endian."""


class _Hashes(dict[str, int]):
    """Numbers of the terms met so far.

    Half as fast again as ``lru_cache``, which on every call links the entry anew.
    """

    def __missing__(self, term: str) -> int:
        number = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")
        if len(self) >= REMEMBERED:
            self.clear()
        self[term] = number
        return number


hash_of: Callable[[str], int] = _Hashes().__getitem__
"""The term's number."""


def counted(
    numbers: NDArray[np.uint64], sizes: Sequence[int], weights: NDArray[np.uint32]
) -> list[Counted]:
    """Add up what each text counts of each term; all texts at once, since calling numpy takes time.

    Args:
        numbers: of the terms of all texts, one text after the other, with repetitions.
        sizes: how many are each text's.
        weights: what each of them counts.
    """
    if not len(numbers):
        return [(numbers, weights) for _ in sizes]
    rows = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((numbers, rows))
    numbers, rows = numbers[order], rows[order]
    first = np.ones(len(numbers), np.bool_)
    first[1:] = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
    starts = np.flatnonzero(first)
    counts = np.add.reduceat(weights[order], starts, dtype="<u4")
    ends = np.cumsum(np.bincount(rows[starts], minlength=len(sizes)))[:-1]
    return list(zip(np.split(numbers[starts], ends), np.split(counts, ends), strict=True))
