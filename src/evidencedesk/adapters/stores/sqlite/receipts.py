"""Receipts, keys of subjects and audit chains, in the index's own database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from evidencedesk.adapters.stores.shared.receipts import COLUMNS, decode_entries, decode_receipt
from evidencedesk.adapters.stores.sqlite import failures, schema
from evidencedesk.adapters.stores.sqlite.connections import Files, Pool, reading, transaction
from evidencedesk.adapters.stores.sqlite.feedback_rows import (
    erase_notes_of,
    expire_feedback,
    put_feedback,
    read_feedback,
)
from evidencedesk.adapters.stores.sqlite.receipt_rows import (
    CITING,
    append_event,
    blank_document,
    insert_receipt,
    key_of,
    still_kept,
)
from evidencedesk.model.feedback import Feedback
from evidencedesk.model.receipt import AuditEntry, AuditEvent, Receipt, utc_text


class SQLiteLedger:
    """Receipts and the audit chain; see ``protocols.Ledger``."""

    def __init__(self, pool: Pool, files: Files) -> None:
        self._pool = pool
        self._files = files

    @property
    def writable(self) -> bool:
        """See ``protocols.Ledger.writable``."""
        return self._files.writable()

    def revision(self) -> int:
        """See ``protocols.Ledger.revision``."""
        with self._pool.connection() as connection:
            return int(connection.execute("SELECT sequence FROM state").fetchone()[0])

    def subject_key(self, tenant: str, subject: str, fresh: bytes) -> bytes:
        """See ``protocols.Ledger.subject_key``."""
        known = self.known_key(tenant, subject)
        if known is not None:
            return known
        with self._writing(durable=False) as connection:
            connection.execute(
                "INSERT OR IGNORE INTO subject_keys VALUES (?, ?, ?)", (tenant, subject, fresh)
            )
            return key_of(connection, tenant, subject) or fresh

    def known_key(self, tenant: str, subject: str) -> bytes | None:
        """See ``protocols.Ledger.known_key``."""
        with self._reading() as connection:
            return None if connection is None else key_of(connection, tenant, subject)

    def subjects(self, tenant: str) -> Mapping[str, bytes]:
        """See ``protocols.Ledger.subjects``."""
        with self._reading() as connection:
            if connection is None:
                return {}
            rows = connection.execute(
                "SELECT subject, key FROM subject_keys WHERE tenant = ?", (tenant,)
            )
            return dict(rows.fetchall())

    def append(
        self, event: AuditEvent, receipt: Receipt | None = None, *, key: bytes = b""
    ) -> AuditEntry:
        """See ``protocols.Ledger.append``.

        Not waited for on the disk: a power cut may take the newest answers back, whole, and the
        chain before them stays.
        """
        with self._writing(durable=False) as connection:
            entry = append_event(connection, event)
            if receipt is not None:
                insert_receipt(
                    connection, receipt, entry.number, still_kept(connection, receipt, key)
                )
            return entry

    def receipt(self, tenant: str, answer_id: str) -> Receipt | None:
        """See ``protocols.Ledger.receipt``."""
        found = self._select("tenant = ?1 AND answer_id = ?2", (tenant, answer_id))
        return next(iter(found), None)

    def receipts(
        self, tenant: str, *, subject: str | None = None, limit: int | None = None
    ) -> tuple[Receipt, ...]:
        """See ``protocols.Ledger.receipts``."""
        return self._select(
            "tenant = ?1 AND subject = coalesce(?2, subject)", (tenant, subject), limit
        )

    def receipts_citing(self, tenant: str, documents: Sequence[str]) -> tuple[Receipt, ...]:
        """See ``protocols.Ledger.receipts_citing``."""
        return self._select(CITING, (tenant, json.dumps(list(documents))))

    def erase_subject(self, event: AuditEvent, subject: str, subject_hash: str) -> int:
        """See ``protocols.Ledger.erase_subject``."""
        with self._writing(durable=True) as connection:
            connection.execute(
                "DELETE FROM subject_keys WHERE tenant = ? AND subject = ?", (event.tenant, subject)
            )
            erased = connection.execute(
                "UPDATE receipts SET content = '{}' WHERE tenant = ? AND subject = ?",
                (event.tenant, subject_hash),
            ).rowcount
            erase_notes_of(connection, event.tenant, subject_hash)
            append_event(connection, event)
        return erased

    def erase_document(self, event: AuditEvent, document_id: str) -> int:
        """See ``protocols.Ledger.erase_document``."""
        with self._writing(durable=True) as connection:
            erased = blank_document(connection, event.tenant, document_id)
            append_event(connection, event)
        return erased

    def expire(self, event: AuditEvent, before: datetime) -> int:
        """See ``protocols.Ledger.expire``."""
        bounds = event.tenant, utc_text(before)
        with self._reading() as connection:
            if (
                connection is None
                or not connection.execute(
                    "SELECT 1 FROM receipts WHERE tenant = ? AND at < ? LIMIT 1", bounds
                ).fetchone()
            ):
                return 0
        with self._writing(durable=True) as connection:
            connection.execute(
                "DELETE FROM receipt_documents WHERE receipt IN "
                "(SELECT number FROM receipts WHERE tenant = ? AND at < ?)",
                bounds,
            )
            expire_feedback(connection, *bounds)
            gone = connection.execute(
                "DELETE FROM receipts WHERE tenant = ? AND at < ?", bounds
            ).rowcount
            append_event(connection, event)
        return gone

    def add_feedback(self, event: AuditEvent, feedback: Feedback) -> bool:
        """See ``protocols.Ledger.add_feedback``."""
        with self._writing(durable=True) as connection:
            kept = put_feedback(connection, feedback)
            if kept:
                append_event(connection, event)
        return kept

    def feedback(self, tenant: str, answer_id: str | None = None) -> tuple[Feedback, ...]:
        """See ``protocols.Ledger.feedback``."""
        with self._reading(since=schema.FEEDBACK_SINCE) as connection:
            return () if connection is None else read_feedback(connection, tenant, answer_id)

    def entry(self, tenant: str, number: int) -> AuditEntry | None:
        """See ``protocols.Ledger.entry``."""
        return next(iter(self._entries(tenant, number, number)), None)

    def chain(self, tenant: str, *, newest: int | None = None) -> Iterator[AuditEntry]:
        """See ``protocols.Ledger.chain``."""
        yield from self._entries(tenant, 1, None, newest)

    def tenants(self) -> tuple[str, ...]:
        """See ``protocols.Ledger.tenants``."""
        with self._reading() as connection:
            if connection is None:
                return ()
            found = connection.execute("SELECT DISTINCT tenant FROM audit ORDER BY tenant")
            return tuple(tenant for (tenant,) in found)

    def _entries(
        self, tenant: str, first: int, last: int | None, newest: int | None = None
    ) -> list[AuditEntry]:
        with self._reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT number, previous, event, hash FROM audit WHERE tenant = ?1 "
                "AND number >= ?2 AND number <= coalesce(?3, number) ORDER BY number DESC LIMIT ?4",
                (tenant, first, last, -1 if newest is None else newest),
            ).fetchall()
        return decode_entries(rows)

    def _select(
        self, where: str, values: tuple[object, ...], limit: int | None = None
    ) -> tuple[Receipt, ...]:
        with self._reading() as connection:
            if connection is None:
                return ()
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM receipts WHERE {where} "  # noqa: S608 - fixed texts
                f"ORDER BY number DESC LIMIT {-1 if limit is None else int(limit)}",
                values,
            )
            return tuple(decode_receipt(row) for row in rows)

    @contextmanager
    def _reading(self, since: int = schema.RECEIPTS_SINCE) -> Iterator[sqlite3.Connection | None]:
        """A read transaction; None for an index of before there were such rows, seen read-only."""
        with self._pool.connection() as connection, reading(connection):
            yield connection if schema.version_of(connection) >= since else None

    @contextmanager
    def _writing(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        if not self.writable:
            raise failures.read_only(self._files.folder)
        with self._pool.connection() as connection, transaction(connection, durable=durable):
            yield connection
