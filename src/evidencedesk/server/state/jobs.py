"""Uploads that are on their way into the index; they outlive the process that took them.

A worker that takes a job holds it for a while and renews that as long as it lives. When it is killed,
the time runs out and another one goes on with the files that have no outcome yet.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evidencedesk.access import Principal
from evidencedesk.desk.keeping import Said
from evidencedesk.protocols import Clock
from evidencedesk.server.state.credentials import hash_of
from evidencedesk.server.state.database import StateDatabase

LEASE = timedelta(seconds=15)
MOST_ATTEMPTS = 5
KEPT = timedelta(days=30)
"""How long a finished job can be looked up."""


@dataclass(frozen=True, slots=True)
class JobFile:
    """One file of an upload.

    Attributes:
        number: its place in the upload.
        name: its name as kept.
        bytes: its size.
        file_hash: ``sha256:<hex>`` of its bytes.
        key: what the ids of its documents end in.
        replaces: folder of the file that it is a new version of; None for a new document.
        outcome: what became of it; None while nothing has.
    """

    number: int
    name: str
    bytes: int
    file_hash: str
    key: str
    replaces: str | None = None
    outcome: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One upload.

    Attributes:
        id: known to whoever sent it.
        principal: whose rights it is carried out with.
        said: what was said of all its files.
        state: ``queued``, ``running``, ``done`` or ``failed``.
        error: code of what stopped it; empty when nothing did.
        files: its files, in order.
        created_at: when it was taken.
        finished_at: when it was over; None while it is not.
        attempts: how often a worker has begun it.
    """

    id: str
    principal: Principal
    said: Said
    state: str
    error: str
    files: tuple[JobFile, ...]
    created_at: datetime
    finished_at: datetime | None
    attempts: int

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {
            "job_id": self.id,
            "state": self.state,
            "error": self.error or None,
            "created_at": self.created_at.isoformat(),
            "finished_at": self.finished_at and self.finished_at.isoformat(),
            "files_done": sum(file.outcome is not None for file in self.files),
            "files": [
                {"name": file.name, "bytes": file.bytes, "outcome": file.outcome}
                for file in self.files
            ],
        }


class Jobs:
    """The uploads of a server, seen alike by every worker process."""

    def __init__(self, database: StateDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(
        self,
        job_id: str,
        owner: str,
        principal: Principal,
        said: Said,
        files: Sequence[JobFile],
        *,
        idempotency_key: str | None,
        request_hash: bytes,
    ) -> str | None:
        """Take an upload; the id of its job, or of the one that the same request made before.

        None when the idempotency key was used for another request.
        """
        now = self._clock.now().timestamp()
        with self._database.writing() as connection:
            if idempotency_key is not None:
                known = connection.execute(
                    "SELECT job, request_hash FROM idempotency WHERE owner = ? AND key_hash = ?",
                    (owner, hash_of(idempotency_key)),
                ).fetchone()
                if known is not None:
                    return known["job"] if known["request_hash"] == request_hash else None
            connection.execute(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, 'queued', NULL, 0, ?, NULL, NULL, 0)",
                (job_id, owner, _principal_text(principal), _said_text(said), now),
            )
            connection.executemany(
                "INSERT INTO job_files VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
                [
                    (
                        job_id,
                        each.number,
                        each.name,
                        each.bytes,
                        each.file_hash,
                        each.key,
                        each.replaces,
                    )
                    for each in files
                ],
            )
            if idempotency_key is not None:
                connection.execute(
                    "INSERT INTO idempotency VALUES (?, ?, ?, ?)",
                    (owner, hash_of(idempotency_key), request_hash, job_id),
                )
        return job_id

    def get(self, job_id: str, owner: str | None) -> Job | None:
        """A job of ``owner``, of anybody when None; None when there is none."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT * FROM jobs WHERE id = ?1 AND (?2 IS NULL OR owner = ?2)", (job_id, owner)
            ).fetchone()
            return None if row is None else _job_in(row, connection)

    def of(self, owner: str, limit: int = 50) -> tuple[Job, ...]:
        """The newest jobs of ``owner``, newest first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM jobs WHERE owner = ? ORDER BY created_at DESC, id LIMIT ?",
                (owner, limit),
            ).fetchall()
            return tuple(_job_in(row, connection) for row in rows)

    def waiting(self, owner: str) -> int:
        """How many jobs of ``owner`` are not over."""
        with self._database.reading() as connection:
            count: int = connection.execute(
                "SELECT count(*) FROM jobs WHERE owner = ? AND state IN ('queued', 'running')",
                (owner,),
            ).fetchone()[0]
        return count

    def claim(self, worker: str) -> Job | None:
        """The oldest job that nobody is at, now held by ``worker``; None when there is none."""
        now = self._clock.now()
        if not self._any_free(now.timestamp()):
            return None
        with self._database.writing() as connection:
            row = connection.execute(
                "UPDATE jobs SET state = 'running', worker = ?, leased_until = ?, "
                "attempts = attempts + 1 WHERE id = (SELECT id FROM jobs WHERE "
                "state IN ('queued', 'running') AND leased_until <= ? ORDER BY created_at, id LIMIT 1) "
                "RETURNING *",
                (worker, (now + LEASE).timestamp(), now.timestamp()),
            ).fetchone()
            return None if row is None else _job_in(row, connection)

    def _any_free(self, now: float) -> bool:
        """Looked up first, so that workers without work do not take turns at writing."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT 1 FROM jobs WHERE state IN ('queued', 'running') AND leased_until <= ? LIMIT 1",
                (now,),
            ).fetchone()
        return found is not None

    def renew(self, job_id: str, worker: str) -> bool:
        """Hold a job longer; False when another worker has it by now."""
        until = (self._clock.now() + LEASE).timestamp()
        with self._database.writing() as connection:
            renewed = connection.execute(
                "UPDATE jobs SET leased_until = ? WHERE id = ? AND worker = ? AND state = 'running'",
                (until, job_id, worker),
            )
            return renewed.rowcount == 1

    def record(self, job_id: str, number: int, outcome: Mapping[str, Any]) -> None:
        """Keep what became of one file."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE job_files SET outcome = ? WHERE job = ? AND number = ?",
                (json.dumps(outcome), job_id, number),
            )

    def finish(self, job_id: str, error: str = "") -> None:
        """The job is over."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET state = ?, error = ?, finished_at = ? WHERE id = ?",
                ("failed" if error else "done", error, self._clock.now().timestamp(), job_id),
            )

    def put_back(self, job_id: str, wait: timedelta = timedelta(0)) -> None:
        """Let any worker go on with the job, after ``wait``."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'queued', worker = NULL, leased_until = ? WHERE id = ?",
                ((self._clock.now() + wait).timestamp(), job_id),
            )

    def forget(self) -> None:
        """Drop jobs that have been over for long, with their idempotency keys."""
        before = (self._clock.now() - KEPT).timestamp()
        with self._database.writing() as connection:
            connection.execute("DELETE FROM jobs WHERE finished_at <= ?", (before,))


def _job_in(row: sqlite3.Row, connection: sqlite3.Connection) -> Job:
    files = connection.execute(
        "SELECT * FROM job_files WHERE job = ? ORDER BY number", (row["id"],)
    ).fetchall()
    return Job(
        id=row["id"],
        principal=_principal_from(row["principal"]),
        said=_said_from(row["said"]),
        state=row["state"],
        error=row["error"] or "",
        files=tuple(_file_in(each) for each in files),
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
        finished_at=row["finished_at"] and datetime.fromtimestamp(row["finished_at"], UTC),
        attempts=row["attempts"],
    )


def _file_in(row: sqlite3.Row) -> JobFile:
    outcome = row["outcome"]
    return JobFile(
        number=row["number"],
        name=row["name"],
        bytes=row["bytes"],
        file_hash=row["file_hash"],
        key=row["key"],
        replaces=row["replaces"],
        outcome=None if outcome is None else json.loads(outcome),
    )


def _principal_text(principal: Principal) -> str:
    return json.dumps({**asdict(principal), "roles": sorted(principal.roles)})


def _principal_from(text: str) -> Principal:
    values = json.loads(text)
    return Principal(**{**values, "roles": frozenset(values["roles"])})


def _said_text(said: Said) -> str:
    values = asdict(said)
    for name in ("roles", "deny"):
        values[name] = None if values[name] is None else sorted(values[name])
    return json.dumps(values)


def _said_from(text: str) -> Said:
    values = json.loads(text)
    for name in ("roles", "deny"):
        values[name] = None if values[name] is None else frozenset(values[name])
    return Said(**values)
