"""Postings: for each term, as a 64-bit hash, the rows that hold it and how often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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


def _narrowed(counts: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
    largest = int(counts.max(initial=0))
    for kind in (np.uint8, np.uint16):
        if largest <= np.iinfo(kind).max:
            return counts.astype(kind)
    return counts.astype(np.uint32)
