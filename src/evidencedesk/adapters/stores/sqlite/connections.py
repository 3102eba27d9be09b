"""Files of an index and connections to its database."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from evidencedesk.adapters.stores.sqlite import failures

_CACHE_KIB = 8192
_CHECKPOINT_PAGES = 2000
_PAGE_BYTES = 8192
_EFFECTIVE = os.access in os.supports_effective_ids


@dataclass(frozen=True, slots=True)
class Files:
    """Where the files of an index lie; all are readable by their owner only."""

    folder: Path

    @property
    def database(self) -> Path:
        """The database."""
        return self.folder / "index.sqlite3"

    @property
    def compaction_lock(self) -> Path:
        """Held by the one process that is writing segments."""
        return self.folder / "compaction.lock"

    def generation(self, generation: int) -> Path:
        """Folder of a generation's segments."""
        return self.folder / f"gen-{generation}"

    def make(self) -> None:
        """Make the folder and an empty database that nobody else can read."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.database, os.O_CREAT | os.O_RDWR, 0o600))

    def writable(self) -> bool:
        """Whether this process may change the index."""
        return all(
            os.access(path, os.W_OK, effective_ids=_EFFECTIVE)
            for path in (self.folder, self.database)
        )


def connect(files: Files, *, busy_timeout: float) -> sqlite3.Connection:
    """A connection with explicit transactions, usable from any one thread at a time.

    ``secure_delete = FAST``: what was removed is overwritten where that costs no extra input or
    output.
    """
    if not files.writable():
        return _connect_read_only(files)
    connection = _open(files, "mode=rw", busy_timeout)
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA secure_delete = FAST")
    connection.execute(f"PRAGMA cache_size = {-_CACHE_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    return connection


def _connect_read_only(files: Files) -> sqlite3.Connection:
    log = files.database.with_name(files.database.name + "-wal")
    mode = "mode=ro" if log.exists() else "mode=ro&immutable=1"
    return _open(files, mode, 0.0)


def _open(files: Files, mode: str, busy_timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(files.database.absolute()))}?{mode}",
        uri=True,
        timeout=busy_timeout,
        isolation_level=None,
        check_same_thread=False,
    )


@contextmanager
def transaction(connection: sqlite3.Connection, *, durable: bool = True) -> Iterator[None]:
    """One write transaction: committed as a whole at the end, undone when anything is raised.

    A ``durable`` one is on the disk when this returns: a right withdrawn must not come back with
    the power. Another one survives the end of the process, and a power cut may take it back whole:
    good enough for text that the next ingest would bring again, and ten times faster on a busy disk.
    """
    begin(connection, durable=durable)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def begin(connection: sqlite3.Connection, *, durable: bool) -> None:
    """Begin a write transaction; see :func:`transaction`."""
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.execute("BEGIN IMMEDIATE")


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[None]:
    """One read transaction: everything read in it is of one committed state."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def checkpoint(connection: sqlite3.Connection) -> None:
    """Shorten the write-ahead log as far as readers allow, without waiting for them."""
    waits = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout = 0")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {waits}")


class Pool:
    """Connections of one process, each lent to one user at a time."""

    def __init__(self, files: Files, busy_timeout: float) -> None:
        self._files = files
        self._busy_timeout = busy_timeout
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection; SQLite's errors come out as ours."""
        with failures.translated(self._files.folder):
            lent = self._take()
            try:
                yield lent
            finally:
                self._give_back(lent)

    def close(self) -> None:
        """Close the idle connections now and the lent ones when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise failures.closed(self._files.folder)
            if self._idle:
                return self._idle.pop()
        return connect(self._files, busy_timeout=self._busy_timeout)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()
