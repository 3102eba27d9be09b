"""Views: what one access filter admits of a state, resolved before anything is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencedesk.access import AccessFilter, AccessRule
from evidencedesk.adapters.stores.sqlite.access_classes import admitted
from evidencedesk.adapters.stores.sqlite.parts import Part


@dataclass(frozen=True, slots=True, eq=False)
class Visible:
    """The visible rows of one part.

    Attributes:
        part: the part.
        start: position of its first row; positions count the rows of all parts through.
        mask: which rows are visible, bool of shape (n,); None when all are.
        with_vector: visible rows that have a vector, ascending; None when all rows are that.
        vectors: how many those are.
    """

    part: Part
    start: int
    mask: NDArray[np.bool_] | None
    with_vector: NDArray[np.int64] | None
    vectors: int


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """All rows that a reader may see.

    Attributes:
        admitted: numbers of the admitted access classes.
        parts: parts with at least one visible row.
        rows: number of rows of all parts, visible or not: one past the largest position.
        chunks: visible rows, the N of BM25.
        length: sum of the lengths of visible rows.
        vectors: visible rows that have a vector.
    """

    admitted: frozenset[int]
    parts: tuple[Visible, ...]
    rows: int
    chunks: int
    length: int
    vectors: int

    @classmethod
    def of(
        cls,
        parts: Sequence[Part],
        classes: Sequence[NDArray[np.uint32]],
        rules: Mapping[int, AccessRule],
        access: AccessFilter,
    ) -> View:
        """What ``access`` admits of ``parts``."""
        numbers = admitted(rules, access)
        table = np.zeros(max(rules, default=0) + 1, np.bool_)
        table[sorted(numbers)] = True
        visible: list[Visible] = []
        start = chunks = length = 0
        for part, row_classes in zip(parts, classes, strict=True):
            mask = table[row_classes]
            count = int(np.count_nonzero(mask))
            if count:
                visible.append(_visible(part, start, mask, count))
                length += int(part.lengths[mask].sum(dtype=np.int64))
            chunks += count
            start += len(part)
        vectors = sum(entry.vectors for entry in visible)
        return cls(numbers, tuple(visible), start, chunks, length, vectors)

    def keys_at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Keys of the rows at ``positions``, which must be visible and ascending."""
        keys = np.empty(len(positions), np.int64)
        for entry in self.parts:
            first, end = np.searchsorted(
                positions, np.array([entry.start, entry.start + len(entry.part)])
            )
            keys[first:end] = entry.part.slots[positions[first:end] - entry.start]
        return keys

    def positions_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of visible rows by their keys, which must be ascending."""
        positions = np.empty(len(keys), np.int64)
        for entry in self.parts:
            slots = entry.part.slots
            first, end = np.searchsorted(keys, np.array([slots[0], slots[-1] + 1]))
            positions[first:end] = np.searchsorted(slots, keys[first:end]) + entry.start
        return positions


def _visible(part: Part, start: int, mask: NDArray[np.bool_], count: int) -> Visible:
    with_vector = mask & (part.scales > 0.0)
    vectors = int(np.count_nonzero(with_vector))
    return Visible(
        part=part,
        start=start,
        mask=None if count == len(part) else mask,
        with_vector=None if vectors == len(part) else np.flatnonzero(with_vector),
        vectors=vectors,
    )
