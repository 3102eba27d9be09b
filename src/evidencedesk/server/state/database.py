"""The server's own database: one SQLite file that all worker processes share."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evidencedesk.errors import IndexUnavailableError

VERSION = 1
_BUSY_SECONDS = 10.0
_SCHEMA = """
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, secret_hash BLOB NOT NULL, tenant TEXT NOT NULL,
    subject TEXT NOT NULL, roles TEXT NOT NULL, permissions TEXT NOT NULL,
    administrator INTEGER NOT NULL, created_at REAL NOT NULL, expires_at REAL, revoked_at REAL,
    used_at REAL
) STRICT;
CREATE TABLE sessions (
    token_hash BLOB PRIMARY KEY, csrf_token TEXT NOT NULL, tenant TEXT NOT NULL,
    subject TEXT NOT NULL, roles TEXT NOT NULL, permissions TEXT NOT NULL,
    administrator INTEGER NOT NULL, expires_at REAL NOT NULL
) STRICT;
CREATE TABLE sign_ins (
    state_hash BLOB PRIMARY KEY, browser_hash BLOB NOT NULL, nonce TEXT NOT NULL,
    verifier TEXT NOT NULL, target TEXT NOT NULL, expires_at REAL NOT NULL
) STRICT;
CREATE TABLE suspensions (
    tenant TEXT NOT NULL, subject TEXT NOT NULL, PRIMARY KEY (tenant, subject)
) STRICT;
CREATE TABLE jobs (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, principal TEXT NOT NULL, said TEXT NOT NULL,
    state TEXT NOT NULL, error TEXT, attempts INTEGER NOT NULL, created_at REAL NOT NULL,
    finished_at REAL, worker TEXT, leased_until REAL NOT NULL
) STRICT;
CREATE INDEX jobs_by_state ON jobs (state, created_at);
CREATE TABLE job_files (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    name TEXT NOT NULL, bytes INTEGER NOT NULL, file_hash TEXT NOT NULL, key TEXT NOT NULL,
    replaces TEXT, outcome TEXT, PRIMARY KEY (job, number)
) STRICT;
CREATE TABLE idempotency (
    owner TEXT NOT NULL, key_hash BLOB NOT NULL, request_hash BLOB NOT NULL,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, PRIMARY KEY (owner, key_hash)
) STRICT;
"""


class StateDatabase:
    """Connections to the file; safe for threads and processes. Made, for its owner only, if need be.

    Raises:
        IndexUnavailableError: ``state_unavailable`` when it cannot be made or opened, or was written
            by a newer version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        with self._translated():
            self._prepare()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for single statements that change nothing."""
        with self._translated(), self._lent() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or, when anything is raised, nothing."""
        with self._translated(), self._lent() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connections that nobody uses; the others close when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _prepare(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        with self.writing() as connection:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found == 0:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
            elif found != VERSION:
                raise IndexUnavailableError(
                    f"{str(self.path)!r} was written by another version of EvidenceDesk "
                    f"({found}, this one writes {VERSION}).",
                    code="state_unavailable",
                    hint="Use that version, or move the file away: keys and sessions go with it.",
                )

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            with self._lock:
                keeps = not self._closed
                if keeps:
                    self._idle.append(connection)
            if not keeps:
                connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.DatabaseError, OSError) as error:
            raise IndexUnavailableError(
                f"The server's database {str(self.path)!r} cannot be used: {error}.",
                code="state_unavailable",
                hint="Check the disk and the owner of the file; [server] state names another place.",
            ) from error
