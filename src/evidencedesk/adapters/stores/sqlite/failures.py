"""SQLite's errors said as ours, with what to do about them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evidencedesk.adapters.stores.shared import refusals
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
    return refusals.disk_full(str(path), detail, where="that disk")


def missing(path: Path) -> IndexUnavailableError:
    """There is no index."""
    return refusals.missing(str(path))


def closed(path: Path) -> IndexUnavailableError:
    """The store was closed."""
    return refusals.closed(str(path))


def not_ours(path: Path, what: str) -> IndexDamagedError:
    """Something else is there."""
    return refusals.not_ours(str(path), what, other="path")


def damaged(path: Path, detail: str) -> IndexDamagedError:
    """The database contradicts itself."""
    return refusals.damaged(str(path), detail, drop="delete the folder")


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
