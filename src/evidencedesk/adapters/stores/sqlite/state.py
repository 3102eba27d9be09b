"""What a reader keeps in memory: one generation at one sequence number, never changed.

Parts mapped from segment files hold nearly everything, parts in memory the rest. The class of each
row is not in the files, because it changes: it is read from the placements of documents. A newer
state shares all arrays that did not change with the older one, so readers of both go on undisturbed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from evidencedesk.access import AccessFilter, AccessRule
from evidencedesk.adapters.stores.sqlite.access_classes import DEAD, read_rules
from evidencedesk.adapters.stores.sqlite.connections import Files
from evidencedesk.adapters.stores.sqlite.generations import read_generation
from evidencedesk.adapters.stores.sqlite.parts import CAPACITY, Part, merge, read_parts
from evidencedesk.adapters.stores.sqlite.schema import SLOTS_PER_GENERATION
from evidencedesk.adapters.stores.sqlite.segments import SegmentError, SegmentRow, open_segment
from evidencedesk.adapters.stores.sqlite.view import View

_VIEWS_KEPT = 8


@dataclass(frozen=True, slots=True)
class Position:
    """What a transaction sees: which generation, at which sequence number, in which layout."""

    generation: int
    sequence: int
    layout: int
    pruned: int


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One generation as of one committed transaction.

    Attributes:
        position: which.
        rules: of all access classes.
        parts: by slot, ascending; no two overlap.
        classes: access class of each row of each part, uint32; 0 for a removed one.
        top: largest slot that has been looked at.
    """

    position: Position
    rules: Mapping[int, AccessRule]
    parts: tuple[Part, ...]
    classes: tuple[NDArray[np.uint32], ...]
    top: int
    _views: dict[AccessFilter, View] = field(default_factory=dict)

    def view(self, access: AccessFilter) -> View:
        """The rows that ``access`` admits."""
        found = self._views.get(access)
        if found is None:
            found = View.of(self.parts, self.classes, self.rules, access)
            if len(self._views) >= _VIEWS_KEPT:
                self._views.clear()
            self._views[access] = found
        return found


def read_position(connection: sqlite3.Connection, generation: int | None = None) -> Position:
    """Where the open transaction stands, in ``generation`` or else in the active one.

    Raises:
        IndexingError: ``generation_missing``.
    """
    row = connection.execute(
        "SELECT generations.id, sequence, layout, pruned FROM state, generations "
        "WHERE coalesce(generations.id = ?, generations.state = 'active')",
        (generation,),
    ).fetchone()
    if row is None and generation is not None:
        read_generation(connection, generation)
    return Position(*row)


def refreshed(
    connection: sqlite3.Connection, files: Files, state: State | None, position: Position
) -> State:
    """The state at ``position``, made from an older ``state`` where that is less work."""
    if state is None or state.position.generation != position.generation:
        return load(connection, files, position)
    if state.position == position:
        return state
    if state.position.layout != position.layout or state.position.sequence < position.pruned:
        return load(connection, files, position, state.parts)
    return _advanced(connection, state, position)


def load(
    connection: sqlite3.Connection, files: Files, position: Position, known: Sequence[Part] = ()
) -> State:
    """Read a state anew; segments that are mapped already are taken from ``known``."""
    mapped = {part.segment: part for part in known if part.segment}
    first = position.generation * SLOTS_PER_GENERATION
    end = first + SLOTS_PER_GENERATION - 1
    top = first - 1
    parts: list[Part] = []
    for row in read_segment_rows(connection, position.generation):
        part = mapped.get(row.id)
        parts += [part] if part else _segment_or_rows(connection, files, position.generation, row)
        top = row.last
    parts += read_parts(connection, top + 1, end)
    return State(
        position=position,
        rules=read_rules(connection),
        parts=tuple(parts),
        classes=_read_classes(connection, position.generation, parts),
        top=max(top, int(parts[-1].slots[-1])) if parts else top,
    )


def read_segment_rows(connection: sqlite3.Connection, generation: int) -> list[SegmentRow]:
    """The registered segments of a generation, by slot."""
    rows = connection.execute(
        "SELECT id, first, last, rows, file, size, checksum FROM segments "
        "WHERE generation = ? AND retired IS NULL ORDER BY first",
        (generation,),
    )
    return [SegmentRow(*row) for row in rows]


def _segment_or_rows(
    connection: sqlite3.Connection, files: Files, generation: int, row: SegmentRow
) -> Iterable[Part]:
    try:
        return (open_segment(files.generation(generation) / row.file, row),)
    except SegmentError:
        return read_parts(connection, row.first, row.last)


def _read_classes(
    connection: sqlite3.Connection, generation: int, parts: Sequence[Part]
) -> tuple[NDArray[np.uint32], ...]:
    placed = np.array(
        connection.execute(
            "SELECT first, last, class FROM placements WHERE generation = ? AND first <= last",
            (generation,),
        ).fetchall(),
        np.int64,
    ).reshape(-1, 3)
    placed = placed[np.argsort(placed[:, 0])]
    return tuple(_classes_of(part.slots, placed) for part in parts)


def _classes_of(slots: NDArray[np.int64], placed: NDArray[np.int64]) -> NDArray[np.uint32]:
    if not len(placed):
        return np.zeros(len(slots), np.uint32)
    at = np.searchsorted(placed[:, 0], slots, side="right") - 1
    inside = (at >= 0) & (slots <= placed[at, 1])
    return np.where(inside, placed[at, 2], DEAD).astype(np.uint32)


def _advanced(connection: sqlite3.Connection, state: State, position: Position) -> State:
    changes = connection.execute(
        "SELECT first, last, class FROM changes WHERE sequence > ? AND generation = ? "
        "AND first <= ? ORDER BY sequence, rowid",
        (state.position.sequence, position.generation, state.top),
    ).fetchall()
    classes = _changed(state, changes)
    end = (position.generation + 1) * SLOTS_PER_GENERATION - 1
    new = list(read_parts(connection, state.top + 1, end))
    parts = [*state.parts, *new]
    classes += _read_new_classes(connection, position.generation, state.top, new)
    _settle(parts, classes)
    rules = read_rules(connection, above=max(state.rules, default=DEAD))
    return replace(
        state,
        position=position,
        rules={**state.rules, **rules} if rules else state.rules,
        parts=tuple(parts),
        classes=tuple(classes),
        top=int(new[-1].slots[-1]) if new else state.top,
        _views={},
    )


def _changed(state: State, changes: Sequence[tuple[int, int, int]]) -> list[NDArray[np.uint32]]:
    classes = list(state.classes)
    for number, part in enumerate(state.parts):
        touched = [
            (rows, value)
            for first, last, value in changes
            if (rows := part.range_of(first, last)).start < rows.stop
        ]
        if touched:
            classes[number] = classes[number].copy()
        for rows, value in touched:
            classes[number][rows] = value
    return classes


def _read_new_classes(
    connection: sqlite3.Connection, generation: int, top: int, new: Sequence[Part]
) -> list[NDArray[np.uint32]]:
    if not new:
        return []
    rows = connection.execute(
        "SELECT slot, class FROM chunks JOIN placements USING (doc) "
        "WHERE slot BETWEEN ? AND ? AND generation = ? ORDER BY slot",
        (top + 1, int(new[-1].slots[-1]), generation),
    ).fetchall()
    placed = np.array([(slot, slot, number) for slot, number in rows], np.int64).reshape(-1, 3)
    return [_classes_of(part.slots, placed) for part in new]


def _settle(parts: list[Part], classes: list[NDArray[np.uint32]]) -> None:
    """Merge small parts at the end, so that their number grows with the logarithm of their rows."""
    while len(parts) > 1 and not parts[-1].segment and not parts[-2].segment:
        if len(parts[-2]) > 2 * len(parts[-1]) or len(parts[-2]) + len(parts[-1]) > CAPACITY:
            return
        alive = [numbers != DEAD for numbers in classes[-2:]]
        merged = merge(parts[-2:], alive)
        kept = np.concatenate(
            [numbers[mask] for numbers, mask in zip(classes[-2:], alive, strict=True)]
        )
        parts[-2:], classes[-2:] = ([merged], [kept]) if len(merged) else ([], [])
