"""Terms as 64-bit hashes, and postings: for each term the rows that hold it and how often.

The hash is BLAKE2b cut to 64 bits: among ten million distinct terms the chance that any two collide
is three in a million.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

_TERMS_REMEMBERED = 200_000


class _Hashes(dict[str, int]):
    """Numbers of the terms met so far.

    Half as fast again as ``lru_cache``, which on every call links the entry anew.
    """

    def __missing__(self, term: str) -> int:
        number = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")
        if len(self) >= _TERMS_REMEMBERED:
            self.clear()
        self[term] = number
        return number


_HASHES = _Hashes()


def hash_of(term: str) -> int:
    """The term's number."""
    return _HASHES[term]


def encode_terms(
    chunks: Sequence[Mapping[str, int]], hashed: Callable[[str], int] = _HASHES.__getitem__
) -> list[tuple[bytes, bytes]]:
    """Of each chunk the hashes (uint64, ascending) and frequencies (uint32) of its terms, as bytes.

    All chunks together, since numpy takes longer to be called than to sort a chunk's terms.
    """
    sizes = [len(terms) for terms in chunks]
    total = sum(sizes)
    numbers = np.fromiter(map(hashed, chain.from_iterable(chunks)), "<u8", total)
    counts = np.fromiter(chain.from_iterable(terms.values() for terms in chunks), "<u4", total)
    rows = np.repeat(np.arange(len(chunks)), sizes)
    order = np.lexsort((numbers, rows))
    numbers, counts = numbers[order], counts[order]
    first = np.ones(total, np.bool_)
    first[1:] = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
    if not first.all():  # two terms of one chunk with the same hash are one
        starts = np.flatnonzero(first)
        numbers, counts = numbers[starts], np.add.reduceat(counts, starts, dtype="<u4")
        sizes = np.bincount(rows[starts], minlength=len(chunks)).tolist()
    ends = list(accumulate(sizes, initial=0))
    held, often = numbers.tobytes(), counts.tobytes()
    return [
        (held[8 * start : 8 * end], often[4 * start : 4 * end]) for start, end in pairwise(ends)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Postings in compressed rows.

    Attributes:
        terms: hashes, ascending, uint64 of shape (t,).
        offsets: of each term's entries, uint32 of shape (t + 1,).
        rows: row of each entry, ascending within a term, uint16 of shape (entries,).
        counts: frequency of the term in the row, uint8, uint16 or uint32 of shape (entries,).
    """

    terms: NDArray[np.uint64]
    offsets: NDArray[np.uint32]
    rows: NDArray[np.uint16]
    counts: NDArray[np.unsignedinteger]

    def of(self, number: int) -> tuple[NDArray[np.uint16], NDArray[np.unsignedinteger]]:
        """Rows that hold the term, and how often each does."""
        at = int(np.searchsorted(self.terms, np.uint64(number)))
        if at == len(self.terms) or int(self.terms[at]) != number:
            return self.rows[:0], self.counts[:0]
        entries = slice(int(self.offsets[at]), int(self.offsets[at + 1]))
        return self.rows[entries], self.counts[entries]

    def entries(self) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
        """Term and row of every entry."""
        return np.repeat(self.terms, np.diff(self.offsets)), self.rows


def invert(
    terms: NDArray[np.uint64], rows: NDArray[np.uint16], counts: NDArray[np.unsignedinteger]
) -> Postings:
    """Postings of entries that are in ascending order of rows."""
    order = np.argsort(terms, kind="stable")
    ordered = terms[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] ^ np.uint64(1)))
    return Postings(
        terms=ordered[starts],
        offsets=np.append(starts, len(ordered)).astype(np.uint32),
        rows=rows[order],
        counts=_narrowed(counts[order]),
    )


def decode_terms(
    terms: Sequence[bytes], counts: Sequence[bytes]
) -> tuple[NDArray[np.uint64], NDArray[np.uint16], NDArray[np.uint32]]:
    """Term, row and frequency of every entry of chunks stored by :func:`encode_terms`."""
    sizes = np.fromiter((len(blob) // 8 for blob in terms), np.int64, len(terms))
    rows = np.repeat(np.arange(len(terms), dtype=np.uint16), sizes)
    return np.frombuffer(b"".join(terms), "<u8"), rows, np.frombuffer(b"".join(counts), "<u4")


def _narrowed(counts: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
    largest = int(counts.max(initial=0))
    for kind in (np.uint8, np.uint16):
        if largest <= np.iinfo(kind).max:
            return counts.astype(kind)
    return counts.astype(np.uint32)
