"""A whole index into a file and back, from one kind of store to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evidencedesk.desk.desk import Desk
from evidencedesk.errors import IndexDamagedError, UsageError
from evidencedesk.model.moving import MovedPiece
from evidencedesk.pipeline.backup import BackupSummary, read_backup, write_backup
from evidencedesk.protocols import MovableStore


def back_up(desk: Desk, file: Path) -> BackupSummary:
    """Write everything that the index holds, as it is at this moment, to a new ``file``.

    Others go on writing meanwhile. Uploaded files beside the index are not in it.

    Raises:
        UsageError: ``file_exists``, ``file_unwritable`` or ``index_not_movable``.
    """
    with _movable(desk).pieces() as pieces:
        return write_backup(pieces, file)


def restore(desk: Desk, file: Path) -> int:
    """Fill a new, empty index from ``file``, all or nothing; how many pieces there were.

    Raises:
        UsageError: ``backup_missing`` or ``index_not_movable``.
        IndexDamagedError: ``backup_damaged``, or the index does not agree with itself afterwards.
        IndexingError: ``index_not_empty``.
    """
    store = _movable(desk, create=True)
    counted = _Counted(read_backup(file))
    store.fill(counted)
    problems = store.check()
    if problems:
        raise IndexDamagedError(f"What was restored does not agree: {problems[0]}.")
    return counted.count


def verify_index(desk: Desk) -> tuple[str, ...]:
    """Everything in the index that does not agree with something else; empty when all does."""
    return desk._index.store().check()  # noqa: SLF001 - the desk's own package


class _Counted:
    """Pieces, counted as they pass."""

    def __init__(self, pieces: Iterator[MovedPiece]) -> None:
        self._pieces = pieces
        self.count = 0

    def __iter__(self) -> Iterator[MovedPiece]:
        for piece in self._pieces:
            self.count += 1
            yield piece


def _movable(desk: Desk, *, create: bool = False) -> MovableStore:
    store = desk._index.store(create=create)  # noqa: SLF001 - the desk's own package
    if not isinstance(store, MovableStore):
        raise UsageError(
            f"The index {desk.path} is kept in a store that cannot be moved.",
            code="index_not_movable",
            hint="Ingest the documents into another index.",
        )
    return store
