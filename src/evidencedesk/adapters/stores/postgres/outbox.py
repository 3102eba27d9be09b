"""Notices that wait to be sent, in the index's own schema."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from evidencedesk.adapters.stores.postgres.connections import Pool, operating, transaction
from evidencedesk.adapters.stores.shared.notices import COLUMNS, FEW, decode_waiting
from evidencedesk.model.notice import Notice, WaitingNotice
from evidencedesk.model.receipt import utc_text


class PostgresOutbox:
    """See ``protocols.Outbox``. The operator's: readers read none."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def writable(self) -> bool:
        """See ``protocols.Outbox.writable``."""
        with self._pool.connection() as connection:
            row = connection.execute(
                "SELECT has_table_privilege('notices', 'INSERT') AND NOT pg_is_in_recovery()"
            ).fetchone()
        return row == (True,)

    def put(self, notice: Notice, channels: Iterable[str], due: datetime) -> None:
        """See ``protocols.Outbox.put``."""
        stored = json.dumps(notice.to_json())
        for channel in channels:
            self._write(
                "INSERT INTO notices (tenant, channel, notice, attempts, due, failure) "
                "VALUES (%s, %s, %s, 0, %s, '')",
                (notice.tenant, channel, stored, utc_text(due)),
            )

    def waiting(self) -> tuple[WaitingNotice, ...]:
        """See ``protocols.Outbox.waiting``."""
        with self._pool.connection() as connection, operating(connection):
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM notices ORDER BY due, number LIMIT %s",  # noqa: S608
                (FEW,),
            ).fetchall()
        return tuple(decode_waiting(row) for row in rows)

    def lease(self, waiting: WaitingNotice, until: datetime) -> bool:
        """See ``protocols.Outbox.lease``."""
        leased = self._write(
            "UPDATE notices SET attempts = attempts + 1, due = %s "
            "WHERE number = %s AND attempts = %s",
            (utc_text(until), waiting.number, waiting.attempts),
        )
        return leased > 0

    def sent(self, number: int) -> None:
        """See ``protocols.Outbox.sent``."""
        self._write("DELETE FROM notices WHERE number = %s", (number,))

    def failed(self, number: int, due: datetime, failure: str) -> None:
        """See ``protocols.Outbox.failed``."""
        self._write(
            "UPDATE notices SET due = %s, failure = %s WHERE number = %s",
            (utc_text(due), failure, number),
        )

    def _write(self, statement: str, values: tuple[object, ...]) -> int:
        with self._pool.connection() as connection, transaction(connection):
            return connection.execute(statement.encode(), values).rowcount
