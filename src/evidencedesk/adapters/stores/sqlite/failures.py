"""SQLite's errors said as ours, with what to do about them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evidencedesk.errors import (
    EvidenceDeskError,
    IndexDamagedError,
    IndexingError,
    IndexUnavailableError,
)

_PRIMARY = 0xFF
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
_DAMAGED = {sqlite3.SQLITE_CORRUPT}
_UNWRITTEN = {
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
}


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise our errors in place of those of SQLite for the index ``path``."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(error, path) from error


@contextmanager
def writing_files(path: Path) -> Iterator[None]:
    """Raise our errors where the file system refuses what is written beside the database."""
    try:
        yield
    except PermissionError as error:
        raise read_only(path) from error
    except OSError as error:
        raise disk_full(path, str(error)) from error


def busy(path: Path) -> IndexUnavailableError:
    """Another process holds the write lock for longer than we wait."""
    return IndexUnavailableError(
        f"The index {str(path)!r} is being written by another process.",
        code="index_busy",
        hint="Wait until it has finished, then run the command again.",
    )


def read_only(path: Path) -> IndexUnavailableError:
    """The folder or a file in it cannot be written."""
    return IndexUnavailableError(
        f"The index {str(path)!r} cannot be written: the folder or a file in it is read-only.",
        code="index_read_only",
        hint="Give yourself the right to write there, or copy the index elsewhere.",
    )


def disk_full(path: Path, detail: str) -> IndexUnavailableError:
    """Bytes could not be put on disk; the transaction was rolled back."""
    return IndexUnavailableError(
        f"The index {str(path)!r} could not be written ({detail}); the last change was undone.",
        code="disk_full",
        hint="Free some space on that disk, then run the command again.",
    )


def missing(path: Path) -> IndexUnavailableError:
    """There is no index."""
    return IndexUnavailableError(
        f"There is no index at {str(path)!r}.",
        code="index_missing",
        hint="Make one with `evidencedesk init` or `evidencedesk ingest PATH`.",
    )


def closed(path: Path) -> IndexUnavailableError:
    """The store was closed."""
    return IndexUnavailableError(
        f"The index {str(path)!r} was closed.",
        code="index_closed",
        hint="Open it again.",
    )


def not_ours(path: Path, what: str) -> IndexDamagedError:
    """Something else is there."""
    return IndexDamagedError(
        f"{str(path)!r} is not an EvidenceDesk index: {what}.",
        code="index_not_ours",
        hint="Name another path in [index] url; nothing was changed.",
    )


def damaged(path: Path, detail: str) -> IndexDamagedError:
    """The database contradicts itself."""
    return IndexDamagedError(
        f"The index {str(path)!r} is damaged ({detail}).",
        code="index_damaged",
        hint="Restore a backup, or delete the folder and ingest the documents again.",
    )


def _translation(error: sqlite3.Error, path: Path) -> EvidenceDeskError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    primary = code & _PRIMARY
    if primary in _BUSY:
        return busy(path)
    if primary in _READ_ONLY:
        return read_only(path)
    if primary == sqlite3.SQLITE_FULL or code in _UNWRITTEN:
        return disk_full(path, str(error))
    if primary == sqlite3.SQLITE_NOTADB:
        return not_ours(path, "index.sqlite3 is not a database")
    if primary in _DAMAGED or isinstance(error, sqlite3.DatabaseError):
        return damaged(path, str(error))
    return IndexingError(f"The index {str(path)!r} failed ({error}).", code="index_damaged")
