"""Receipts, keys of subjects and audit chains, in the index's own database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any

from evidencedesk.adapters.stores.sqlite import failures, schema
from evidencedesk.adapters.stores.sqlite.codecs import decode_time
from evidencedesk.adapters.stores.sqlite.connections import Files, Pool, reading, transaction
from evidencedesk.model.receipt import (
    NO_ENTRY,
    AuditEntry,
    AuditEvent,
    Receipt,
    canonical_json,
    utc_text,
)

_COLUMNS = "number, tenant, answer_id, subject, at, reason, record, content, position"
_CITING = (
    "number IN (SELECT receipt FROM receipt_documents "
    "WHERE tenant = ?1 AND document_id IN (SELECT value FROM json_each(?2)))"
)


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
            return _key(connection, tenant, subject) or fresh

    def known_key(self, tenant: str, subject: str) -> bytes | None:
        """See ``protocols.Ledger.known_key``."""
        with self._reading() as connection:
            return None if connection is None else _key(connection, tenant, subject)

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
            entry = _append(connection, event)
            if receipt is not None:
                _insert(connection, receipt, entry.number, _still_kept(connection, receipt, key))
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
        return self._select(_CITING, (tenant, json.dumps(list(documents))))

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
            _append(connection, event)
        return erased

    def erase_document(self, event: AuditEvent, document_id: str) -> int:
        """See ``protocols.Ledger.erase_document``."""
        with self._writing(durable=True) as connection:
            erased = blank_document(connection, event.tenant, document_id)
            _append(connection, event)
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
            gone = connection.execute(
                "DELETE FROM receipts WHERE tenant = ? AND at < ?", bounds
            ).rowcount
            _append(connection, event)
        return gone

    def entry(self, tenant: str, number: int) -> AuditEntry | None:
        """See ``protocols.Ledger.entry``."""
        return next(iter(self._entries(tenant, number, number)), None)

    def chain(self, tenant: str) -> Iterator[AuditEntry]:
        """See ``protocols.Ledger.chain``."""
        yield from self._entries(tenant, 1, None)

    def tenants(self) -> tuple[str, ...]:
        """See ``protocols.Ledger.tenants``."""
        with self._reading() as connection:
            if connection is None:
                return ()
            found = connection.execute("SELECT DISTINCT tenant FROM audit ORDER BY tenant")
            return tuple(tenant for (tenant,) in found)

    def _entries(self, tenant: str, first: int, last: int | None) -> list[AuditEntry]:
        with self._reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT number, previous, event, hash FROM audit WHERE tenant = ?1 "
                "AND number >= ?2 AND number <= coalesce(?3, number) ORDER BY number",
                (tenant, first, last),
            )
            return [
                AuditEntry(number, previous, json.loads(event), found)
                for number, previous, event, found in rows
            ]

    def _select(
        self, where: str, values: tuple[object, ...], limit: int | None = None
    ) -> tuple[Receipt, ...]:
        with self._reading() as connection:
            if connection is None:
                return ()
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM receipts WHERE {where} "  # noqa: S608 - fixed texts
                f"ORDER BY number DESC LIMIT {-1 if limit is None else int(limit)}",
                values,
            )
            return tuple(_decode(row) for row in rows)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A read transaction; None for an index of before there were receipts, seen read-only."""
        with self._pool.connection() as connection, reading(connection):
            yield connection if schema.version_of(connection) >= schema.RECEIPTS_SINCE else None

    @contextmanager
    def _writing(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        if not self.writable:
            raise failures.read_only(self._files.folder)
        with self._pool.connection() as connection, transaction(connection, durable=durable):
            yield connection


def blank_document(connection: sqlite3.Connection, tenant: str, document_id: str) -> int:
    """Take what receipts quote of a document out of them; how many held any. In a transaction.

    Its quotes go, and with them every piece that may repeat them: claims that cite it, the note,
    details of checks, and dropped claims. The record with its commitments stays.
    """
    rows = connection.execute(
        f"SELECT number, record, content FROM receipts WHERE {_CITING} "  # noqa: S608 - fixed text
        "AND content <> '{}'",
        (tenant, json.dumps([document_id])),
    ).fetchall()
    blanked = [
        (json.dumps(_without(document_id, json.loads(record), json.loads(content))), number)
        for number, record, content in rows
    ]
    connection.executemany("UPDATE receipts SET content = ? WHERE number = ?", blanked)
    return len(blanked)


def _without(
    document_id: str, record: Mapping[str, object], content: Mapping[str, object]
) -> dict[str, object]:
    pieces = record["pieces"]
    assert isinstance(pieces, dict)
    return {
        label: value
        for label, value in content.items()
        if document_id not in pieces.get(label, {}).get("documents", ())
    }


def _key(connection: sqlite3.Connection, tenant: str, subject: str) -> bytes | None:
    row = connection.execute(
        "SELECT key FROM subject_keys WHERE tenant = ? AND subject = ?", (tenant, subject)
    ).fetchone()
    return None if row is None else bytes(row[0])


def _append(connection: sqlite3.Connection, event: AuditEvent) -> AuditEntry:
    last = connection.execute(
        "SELECT number, hash FROM audit WHERE tenant = ? ORDER BY number DESC LIMIT 1",
        (event.tenant,),
    ).fetchone()
    number, previous = last or (0, NO_ENTRY)
    entry = AuditEntry.sealed(number + 1, previous, event.to_json())
    connection.execute(
        "INSERT INTO audit VALUES (?, ?, ?, ?, ?)",
        (event.tenant, entry.number, entry.previous, canonical_json(entry.event), entry.hash),
    )
    return entry


def _still_kept(connection: sqlite3.Connection, receipt: Receipt, key: bytes) -> dict[str, Any]:
    """The content, without what was erased since the answer was begun."""
    known = connection.execute(
        "SELECT 1 FROM subject_keys WHERE tenant = ? AND key = ?", (receipt.tenant, key)
    ).fetchone()
    content = dict(receipt.content) if known else {}
    gone = connection.execute(
        "SELECT value FROM json_each(?) WHERE value NOT IN "
        "(SELECT id FROM documents WHERE tenant = ? AND id = value)",
        (json.dumps(receipt.documents), receipt.tenant),
    )
    for (document_id,) in gone.fetchall():
        content = _without(document_id, receipt.record, content)
    return content


def _insert(
    connection: sqlite3.Connection, receipt: Receipt, position: int, content: Mapping[str, Any]
) -> None:
    number = connection.execute(
        "INSERT INTO receipts (tenant, answer_id, subject, at, reason, record, content, position) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            receipt.tenant,
            receipt.answer_id,
            receipt.subject,
            utc_text(receipt.at),
            receipt.reason,
            canonical_json(receipt.record),
            json.dumps(dict(content)),
            position,
        ),
    ).lastrowid
    connection.executemany(
        "INSERT OR IGNORE INTO receipt_documents VALUES (?, ?, ?)",
        [(receipt.tenant, document_id, number) for document_id in receipt.documents],
    )


class _Content(Mapping[str, Any]):
    """Content that is decoded when it is first looked at: most rechecks never do."""

    def __init__(self, stored: str) -> None:
        self._stored = stored

    @cached_property
    def _pieces(self) -> dict[str, Any]:
        return dict(json.loads(self._stored))

    def __getitem__(self, label: str) -> Any:
        return self._pieces[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)


def _decode(row: tuple[int, str, str, str, str, str, str, str, int]) -> Receipt:
    _, tenant, answer_id, subject, at, reason, stored, content, position = row
    record = json.loads(stored)
    return Receipt(
        tenant=tenant,
        answer_id=answer_id,
        subject=subject,
        at=decode_time(at),
        reason=reason,
        record=record,
        content=_Content(content),
        documents=tuple(
            dict.fromkeys(name for each in record["pieces"].values() for name in each["documents"])
        ),
        position=position,
    )
