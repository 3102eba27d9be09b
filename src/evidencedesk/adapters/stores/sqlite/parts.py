"""Parts: up to 16,384 chunks of one generation with what searching needs of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.terms import decode_terms
from evidencedesk.adapters.stores.sqlite.postings import Postings, invert

CAPACITY = 1 << 14
"""Rows of a part at most. Larger ones would be searched no faster, and each takes some 5 kB a row to
make: this bounds the memory of whoever ingests, however much there is."""

_READ_ROWS = 4096

_FEATURES = """
SELECT slot, length, terms, counts, codes, scale FROM features
WHERE slot BETWEEN ? AND ? ORDER BY slot LIMIT ?
"""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Immutable features of some chunks, in memory or mapped from a segment file.

    Attributes:
        slots: slots of its rows, ascending, int64 of shape (n,).
        lengths: BM25 lengths, uint32 of shape (n,).
        scales: of the vectors, float32 of shape (n,); 0 where a row has none.
        codes: of the vectors, int8 of shape (n, dimensions).
        postings: rows count from 0 within the part.
        segment: number of its segment file, or 0 for a part in memory.
    """

    slots: NDArray[np.int64]
    lengths: NDArray[np.uint32]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]
    postings: Postings
    segment: int = 0

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def dimensions(self) -> int:
        """Length of its vectors, 0 when no row has one."""
        return int(self.codes.shape[1])

    def range_of(self, first: int, last: int) -> slice:
        """Rows with slots in ``[first, last]``."""
        start, end = np.searchsorted(self.slots, np.array([first, last + 1]))
        return slice(int(start), int(end))


def read_parts(connection: sqlite3.Connection, first: int, last: int) -> Iterator[Part]:
    """The stored chunks with slots in ``[first, last]`` as parts, each as full as can be."""
    while first <= last:
        pieces = list(_pieces(connection.execute(_FEATURES, (first, last, CAPACITY))))
        if not pieces:
            return
        part = pieces[0] if len(pieces) == 1 else merge(pieces)
        yield part
        first = int(part.slots[-1]) + 1


def merge(parts: Sequence[Part], alive: Sequence[NDArray[np.bool_]] | None = None) -> Part:
    """One part of the rows of neighbouring ``parts``, or of those that are alive."""
    alive = alive or [np.ones(len(part), np.bool_) for part in parts]
    rows = [np.flatnonzero(mask) for mask in alive]
    dimensions = max(part.dimensions for part in parts)
    terms, local, counts = [], [], []
    start = 0
    for part, mask in zip(parts, alive, strict=True):
        renumbered = np.cumsum(mask) + (start - 1)
        entry_terms, entry_rows = part.postings.entries()
        kept = mask[entry_rows]
        terms.append(entry_terms[kept])
        local.append(renumbered[entry_rows[kept]].astype(np.uint16))
        counts.append(part.postings.counts[kept].astype(np.uint32))
        start += int(mask.sum())
    pairs = list(zip(parts, rows, strict=True))
    return Part(
        slots=np.concatenate([part.slots[kept] for part, kept in pairs]),
        lengths=np.concatenate([part.lengths[kept] for part, kept in pairs]),
        scales=np.concatenate([part.scales[kept] for part, kept in pairs]),
        codes=np.concatenate([_widened(part.codes[kept], dimensions) for part, kept in pairs]),
        postings=invert(np.concatenate(terms), np.concatenate(local), np.concatenate(counts)),
    )


def _pieces(rows: sqlite3.Cursor) -> Iterator[Part]:
    while some := rows.fetchmany(_READ_ROWS):
        yield _from_rows(some)


def _from_rows(rows: Sequence[tuple[int, int, bytes, bytes, bytes, float]]) -> Part:
    slots, lengths, terms, counts, codes, scales = zip(*rows, strict=True)
    dimensions = max(map(len, codes))
    blank = bytes(dimensions)
    matrix = b"".join(blob or blank for blob in codes)
    return Part(
        slots=np.array(slots, np.int64),
        lengths=np.array(lengths, np.uint32),
        scales=np.array(scales, np.float32),
        codes=np.frombuffer(matrix, np.int8).reshape(len(rows), dimensions),
        postings=invert(*decode_terms(terms, counts)),
    )


def _widened(codes: NDArray[np.int8], dimensions: int) -> NDArray[np.int8]:
    if codes.shape[1] == dimensions:
        return codes
    return np.zeros((len(codes), dimensions), np.int8)
