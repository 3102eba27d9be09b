"""Postings: for each term, as a 64-bit hash, the rows that hold it and how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from evidencedesk.text.chunk_terms import HashedTerms
from evidencedesk.text.hashing import counted, hash_of


def encode_terms(
    chunks: Sequence[Mapping[str, int]], hashed: Callable[[str], int] = hash_of
) -> list[tuple[bytes, bytes]]:
    """Of each chunk the hashes (uint64, ascending) and frequencies (uint32) of its terms, as bytes.

    Two terms of one chunk with the same hash are one.
    """
    plain = [terms for terms in chunks if not isinstance(terms, HashedTerms)]
    sizes = [len(terms) for terms in plain]
    numbers = np.fromiter(map(hashed, chain.from_iterable(plain)), "<u8", sum(sizes))
    counts = chain.from_iterable(terms.values() for terms in plain)
    weights = np.fromiter(counts, "<u4", sum(sizes))
    others = iter(counted(numbers, sizes, weights))
    each = [terms.counted if isinstance(terms, HashedTerms) else next(others) for terms in chunks]
    return [(held.tobytes(), often.tobytes()) for held, often in each]


def length_of(terms: Mapping[str, int]) -> int:
    """The length of a chunk for BM25: the sum of its frequencies."""
    return int(terms.counted[1].sum()) if isinstance(terms, HashedTerms) else sum(terms.values())


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
