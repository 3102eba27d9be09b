"""Compaction: writing the rows that readers hold in memory into segment files they can map.

Segments are neighbours in slot order. A new one takes in those before it while they are at most
twice as large, so that each row is written again only about as often as the logarithm of their
number; one that is more than half dead is written anew. Readers go on with the files they have: a
segment that was replaced is deleted by the next compaction, and who needs it later reads rows.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.sqlite import failures
from evidencedesk.adapters.stores.sqlite.connections import Files, reading, transaction
from evidencedesk.adapters.stores.sqlite.parts import CAPACITY, Part, read_parts
from evidencedesk.adapters.stores.sqlite.schema import SLOTS_PER_GENERATION
from evidencedesk.adapters.stores.sqlite.segments import (
    SegmentError,
    SegmentRow,
    open_segment,
    write_segment,
)
from evidencedesk.adapters.stores.sqlite.state import read_segment_rows


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Slots ``first`` to ``last``: one segment, the tail, or several that are to become one."""

    first: int
    last: int
    live: int
    segments: tuple[int, ...]
    due: bool

    def joined(self, later: _Stretch) -> _Stretch:
        """Both as one."""
        return _Stretch(
            self.first, later.last, self.live + later.live, self.segments + later.segments, due=True
        )


def tail_of(connection: sqlite3.Connection) -> int:
    """How many slots are outside segments, in the generation where there are most."""
    longest = connection.execute(
        "SELECT max(next_slot - coalesce((SELECT max(last) + 1 FROM segments "
        "WHERE generation = generations.id AND retired IS NULL), generations.id * ?)) "
        "FROM generations",
        (SLOTS_PER_GENERATION,),
    ).fetchone()[0]
    return int(longest)


def compact(
    connection: sqlite3.Connection, files: Files, *, tail: int = 1, thorough: bool = False
) -> None:
    """Write what is due, which the slots outside segments are when there are ``tail`` of them.

    ``thorough`` also drops every dead row and the files replaced now.

    Does nothing when another process is compacting.
    """
    with failures.writing_files(files.folder), _alone(files) as alone:
        if not alone:
            return
        _forget_retired(connection)
        for (generation,) in connection.execute("SELECT id FROM generations").fetchall():
            with reading(connection):
                stretches = _plan(connection, files, generation, tail, thorough=thorough)
            for stretch in stretches:
                _rewrite(connection, files, generation, stretch)
        if thorough:
            _forget_retired(connection)
        _remove_orphans(connection, files)


@contextmanager
def _alone(files: Files) -> Iterator[bool]:
    descriptor = os.open(files.compaction_lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)


def _plan(
    connection: sqlite3.Connection, files: Files, generation: int, tail: int, *, thorough: bool
) -> list[_Stretch]:
    settled: list[_Stretch] = []
    for stretch in _stretches(connection, files, generation, tail, thorough=thorough):
        current = stretch
        while settled and (current.due or settled[-1].due) and _fit(settled[-1], current):
            current = settled.pop().joined(current)
        settled.append(current)
    return [stretch for stretch in settled if stretch.due]


def _fit(earlier: _Stretch, later: _Stretch) -> bool:
    small = earlier.due or earlier.live <= 2 * later.live
    return small and earlier.live + later.live <= CAPACITY


def _stretches(
    connection: sqlite3.Connection, files: Files, generation: int, tail: int, *, thorough: bool
) -> Iterator[_Stretch]:
    placed = np.array(
        connection.execute(
            "SELECT first, last + 1 FROM placements WHERE generation = ?", (generation,)
        ).fetchall(),
        np.int64,
    ).reshape(-1, 2)
    start = generation * SLOTS_PER_GENERATION
    folder = files.generation(generation)
    for row in read_segment_rows(connection, generation):
        live = _live(placed, row.first, row.last)
        dead = row.rows - live
        due = dead > (0 if thorough else row.rows // 2) or not _usable(folder, row)
        yield _Stretch(row.first, row.last, live, (row.id,), due)
        start = row.last + 1
    last = _last_slot(connection, generation)
    due = last - start + 1 >= tail
    if due:
        yield _Stretch(start, last, _live(placed, start, last), (), due)


def _live(placed: NDArray[np.int64], first: int, last: int) -> int:
    overlap = np.minimum(placed[:, 1], last + 1) - np.maximum(placed[:, 0], first)
    return int(np.maximum(overlap, 0).sum())


def _usable(folder: Path, row: SegmentRow) -> bool:
    try:
        open_segment(folder / row.file, row)
    except SegmentError:
        return False
    return True


def _last_slot(connection: sqlite3.Connection, generation: int) -> int:
    found = connection.execute("SELECT next_slot - 1 FROM generations WHERE id = ?", (generation,))
    return int(found.fetchone()[0])


def _rewrite(
    connection: sqlite3.Connection, files: Files, generation: int, stretch: _Stretch
) -> None:
    with reading(connection):
        parts = list(read_parts(connection, stretch.first, stretch.last))
        layout = connection.execute("SELECT layout FROM state").fetchone()[0] + 1
    folder = files.generation(generation)
    folder.mkdir(mode=0o700, exist_ok=True)
    written = [
        (f"{layout}-{number}.segment", *write_segment(part, folder / f"{layout}-{number}.segment"))
        for number, part in enumerate(parts)
    ]
    with transaction(connection):
        if not connection.execute(
            "SELECT 1 FROM generations WHERE id = ?", (generation,)
        ).fetchone():
            return
        _register(connection, generation, stretch, list(zip(parts, written, strict=True)))


def _register(
    connection: sqlite3.Connection,
    generation: int,
    stretch: _Stretch,
    written: list[tuple[Part, tuple[str, int, str]]],
) -> None:
    connection.execute("UPDATE state SET layout = layout + 1, sequence = sequence + 1")
    connection.executemany(
        "UPDATE segments SET retired = (SELECT layout FROM state) WHERE id = ?",
        [(number,) for number in stretch.segments],
    )
    first = stretch.first
    for number, (part, file) in enumerate(written, 1):
        last = stretch.last if number == len(written) else int(part.slots[-1])
        connection.execute(
            "INSERT INTO segments (generation, first, last, rows, file, size, checksum) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (generation, first, last, len(part), *file),
        )
        first = last + 1


def _forget_retired(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        connection.execute("DELETE FROM segments WHERE retired IS NOT NULL")


def _remove_orphans(connection: sqlite3.Connection, files: Files) -> None:
    with reading(connection):
        generations = {row[0] for row in connection.execute("SELECT id FROM generations")}
        known = set(connection.execute("SELECT generation, file FROM segments"))
    for folder in files.folder.glob("gen-*"):
        number = folder.name.removeprefix("gen-")
        if not number.isdigit():
            continue
        if int(number) not in generations:
            shutil.rmtree(folder)
            continue
        for file in folder.iterdir():
            if (int(number), file.name) not in known:
                file.unlink()
