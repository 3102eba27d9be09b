"""Notices that wait to be sent, in the index's own database."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from evidencedesk.adapters.stores.shared.notices import COLUMNS, FEW, decode_waiting
from evidencedesk.adapters.stores.sqlite import failures, schema
from evidencedesk.adapters.stores.sqlite.connections import Files, Pool, reading, transaction
from evidencedesk.model.notice import Notice, WaitingNotice
from evidencedesk.model.receipt import utc_text


class SQLiteOutbox:
    """See ``protocols.Outbox``. Not waited for on the disk: a power cut may take the newest back."""

    def __init__(self, pool: Pool, files: Files) -> None:
        self._pool = pool
        self._files = files

    @property
    def writable(self) -> bool:
        """See ``protocols.Outbox.writable``."""
        return self._files.writable()

    def put(self, notice: Notice, channels: Iterable[str], due: datetime) -> None:
        """See ``protocols.Outbox.put``."""
        stored = json.dumps(notice.to_json())
        rows = [(notice.tenant, channel, stored, utc_text(due)) for channel in channels]
        self._write(
            "INSERT INTO notices (tenant, channel, notice, attempts, due, failure) "
            "VALUES (?, ?, ?, 0, ?, '')",
            *rows,
        )

    def waiting(self) -> tuple[WaitingNotice, ...]:
        """See ``protocols.Outbox.waiting``."""
        with self._pool.connection() as connection, reading(connection):
            if schema.version_of(connection) < schema.FEEDBACK_SINCE:
                return ()
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM notices ORDER BY due, number LIMIT ?",  # noqa: S608
                (FEW,),
            ).fetchall()
        return tuple(decode_waiting(row) for row in rows)

    def lease(self, waiting: WaitingNotice, until: datetime) -> bool:
        """See ``protocols.Outbox.lease``."""
        leased = self._write(
            "UPDATE notices SET attempts = attempts + 1, due = ? WHERE number = ? AND attempts = ?",
            (utc_text(until), waiting.number, waiting.attempts),
        )
        return leased > 0

    def sent(self, number: int) -> None:
        """See ``protocols.Outbox.sent``."""
        self._write("DELETE FROM notices WHERE number = ?", (number,))

    def failed(self, number: int, due: datetime, failure: str) -> None:
        """See ``protocols.Outbox.failed``."""
        self._write(
            "UPDATE notices SET due = ?, failure = ? WHERE number = ?",
            (utc_text(due), failure, number),
        )

    def _write(self, statement: str, *rows: tuple[object, ...]) -> int:
        if not self.writable:
            raise failures.read_only(self._files.folder)
        with (
            self._pool.connection() as connection,
            transaction(connection, durable=False),
        ):
            return connection.executemany(statement, rows).rowcount
