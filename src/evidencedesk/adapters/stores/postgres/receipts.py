"""Receipts, keys of subjects and audit chains, in the index's own schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from psycopg.errors import SerializationFailure

from evidencedesk.adapters.stores.postgres.connections import Connection, Pool, transaction
from evidencedesk.adapters.stores.postgres.feedback_rows import (
    erase_notes_of,
    put_feedback,
    read_feedback,
)
from evidencedesk.adapters.stores.postgres.receipt_rows import (
    CITING,
    append_event,
    blank_document,
    hold_chain,
    insert_receipt,
    key_of,
    still_kept,
)
from evidencedesk.adapters.stores.shared.receipts import COLUMNS, decode_entries, decode_receipt
from evidencedesk.errors import IndexUnavailableError
from evidencedesk.model.feedback import Feedback
from evidencedesk.model.receipt import AuditEntry, AuditEvent, Receipt, utc_text


class PostgresLedger:
    """Receipts and the audit chain; see ``protocols.Ledger``. The operator's: readers read none."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def writable(self) -> bool:
        """See ``protocols.Ledger.writable``."""
        with self._pool.connection() as connection:
            row = connection.execute(
                "SELECT has_table_privilege('receipts', 'INSERT') AND NOT pg_is_in_recovery()"
            ).fetchone()
        return row == (True,)

    def revision(self) -> int:
        """See ``protocols.Ledger.revision``."""
        with self._pool.connection() as connection:
            row = connection.execute("SELECT sum(number)::bigint FROM revisions").fetchone()
        assert row is not None
        return int(row[0])

    def subject_key(self, tenant: str, subject: str, fresh: bytes) -> bytes:
        """See ``protocols.Ledger.subject_key``."""
        known = self.known_key(tenant, subject)
        if known is not None:
            return known
        with self._writing(tenant) as connection:
            connection.execute(
                "INSERT INTO subject_keys VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (tenant, subject, fresh),
            )
            return key_of(connection, tenant, subject) or fresh

    def known_key(self, tenant: str, subject: str) -> bytes | None:
        """See ``protocols.Ledger.known_key``."""
        with self._pool.connection() as connection:
            return key_of(connection, tenant, subject)

    def subjects(self, tenant: str) -> Mapping[str, bytes]:
        """See ``protocols.Ledger.subjects``."""
        with self._pool.connection() as connection:
            rows = connection.execute(
                "SELECT subject, key FROM subject_keys WHERE tenant = %s", (tenant,)
            ).fetchall()
        return {subject: bytes(key) for subject, key in rows}

    def append(
        self, event: AuditEvent, receipt: Receipt | None = None, *, key: bytes = b""
    ) -> AuditEntry:
        """See ``protocols.Ledger.append``."""
        try:
            return self._append(event, receipt, key)
        except IndexUnavailableError as error:
            if not isinstance(error.__cause__, SerializationFailure):
                raise
            # Its documents were just put into another partition.
            return self._append(event, receipt, key)

    def _append(self, event: AuditEvent, receipt: Receipt | None, key: bytes) -> AuditEntry:
        with self._writing(event.tenant) as connection:
            entry = append_event(connection, event)
            if receipt is not None:
                insert_receipt(
                    connection, receipt, entry.number, still_kept(connection, receipt, key)
                )
            return entry

    def receipt(self, tenant: str, answer_id: str) -> Receipt | None:
        """See ``protocols.Ledger.receipt``."""
        found = self._select(
            "tenant = %(tenant)s AND answer_id = %(id)s", {"tenant": tenant, "id": answer_id}
        )
        return next(iter(found), None)

    def receipts(
        self, tenant: str, *, subject: str | None = None, limit: int | None = None
    ) -> tuple[Receipt, ...]:
        """See ``protocols.Ledger.receipts``."""
        return self._select(
            "tenant = %(tenant)s AND subject = coalesce(%(subject)s, subject)",
            {"tenant": tenant, "subject": subject},
            limit,
        )

    def receipts_citing(self, tenant: str, documents: Sequence[str]) -> tuple[Receipt, ...]:
        """See ``protocols.Ledger.receipts_citing``."""
        return self._select(CITING, {"tenant": tenant, "documents": list(documents)})

    def erase_subject(self, event: AuditEvent, subject: str, subject_hash: str) -> int:
        """See ``protocols.Ledger.erase_subject``."""
        with self._writing(event.tenant) as connection:
            connection.execute(
                "DELETE FROM subject_keys WHERE tenant = %s AND subject = %s",
                (event.tenant, subject),
            )
            erased = connection.execute(
                "UPDATE receipts SET content = '{}' WHERE tenant = %s AND subject = %s",
                (event.tenant, subject_hash),
            ).rowcount
            erase_notes_of(connection, event.tenant, subject_hash)
            append_event(connection, event)
        return erased

    def erase_document(self, event: AuditEvent, document_id: str) -> int:
        """See ``protocols.Ledger.erase_document``."""
        with self._writing(event.tenant) as connection:
            erased = blank_document(connection, event.tenant, document_id)
            append_event(connection, event)
        return erased

    def expire(self, event: AuditEvent, before: datetime) -> int:
        """See ``protocols.Ledger.expire``."""
        bounds = event.tenant, utc_text(before)
        old = "SELECT number FROM receipts WHERE tenant = %s AND at < %s"
        with self._writing(event.tenant) as connection:
            if connection.execute(f"{old} LIMIT 1", bounds).fetchone() is None:
                return 0
            connection.execute(f"DELETE FROM receipt_documents WHERE receipt IN ({old})", bounds)  # noqa: S608
            gone = connection.execute(
                "DELETE FROM receipts WHERE tenant = %s AND at < %s", bounds
            ).rowcount
            append_event(connection, event)
        return gone

    def add_feedback(self, event: AuditEvent, feedback: Feedback) -> bool:
        """See ``protocols.Ledger.add_feedback``."""
        with self._writing(event.tenant) as connection:
            kept = put_feedback(connection, feedback)
            if kept:
                append_event(connection, event)
        return kept

    def feedback(self, tenant: str, answer_id: str | None = None) -> tuple[Feedback, ...]:
        """See ``protocols.Ledger.feedback``."""
        with self._pool.connection() as connection:
            return read_feedback(connection, tenant, answer_id)

    def entry(self, tenant: str, number: int) -> AuditEntry | None:
        """See ``protocols.Ledger.entry``."""
        return next(iter(self._entries(tenant, number, number)), None)

    def chain(self, tenant: str, *, newest: int | None = None) -> Iterator[AuditEntry]:
        """See ``protocols.Ledger.chain``."""
        yield from self._entries(tenant, 1, None, newest)

    def tenants(self) -> tuple[str, ...]:
        """See ``protocols.Ledger.tenants``."""
        with self._pool.connection() as connection:
            found = connection.execute(
                "SELECT DISTINCT tenant FROM audit ORDER BY tenant"
            ).fetchall()
        return tuple(tenant for (tenant,) in found)

    def _entries(
        self, tenant: str, first: int, last: int | None, newest: int | None = None
    ) -> list[AuditEntry]:
        with self._pool.connection() as connection:
            rows = connection.execute(
                "SELECT number, previous, event, hash FROM audit WHERE tenant = %s "
                "AND number >= %s AND number <= coalesce(%s, number) ORDER BY number DESC LIMIT %s",
                (tenant, first, last, newest),
            ).fetchall()
        return decode_entries(rows)

    def _select(
        self, where: str, values: Mapping[str, object], limit: int | None = None
    ) -> tuple[Receipt, ...]:
        with self._pool.connection() as connection:
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM receipts WHERE {where} "  # noqa: S608 - fixed texts
                "ORDER BY number DESC LIMIT %(limit)s",
                {**values, "limit": limit},
            ).fetchall()
        return tuple(decode_receipt(row) for row in rows)

    @contextmanager
    def _writing(self, tenant: str) -> Iterator[Connection]:
        with self._pool.connection() as connection, transaction(connection):
            hold_chain(connection, tenant)
            yield connection
