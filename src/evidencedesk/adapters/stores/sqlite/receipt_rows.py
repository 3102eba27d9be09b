"""Rows of receipts and of the audit chain. Called in a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from evidencedesk.adapters.stores.shared.codecs import decode_time
from evidencedesk.adapters.stores.sqlite.feedback_rows import blank_notes
from evidencedesk.model.receipt import (
    NO_ENTRY,
    AuditEntry,
    AuditEvent,
    Receipt,
    canonical_json,
    utc_text,
)

COLUMNS = "number, tenant, answer_id, subject, at, reason, record, content, position"
CITING = (
    "number IN (SELECT receipt FROM receipt_documents "
    "WHERE tenant = ?1 AND document_id IN (SELECT value FROM json_each(?2)))"
)
"""Which receipts may repeat documents: ?1 is the tenant, ?2 a JSON list of ids."""


def blank_document(connection: sqlite3.Connection, tenant: str, document_id: str) -> int:
    """Take what receipts quote of a document out of them; how many held any. In a transaction.

    Its quotes go, and with them every piece that may repeat them: claims that cite it, the note,
    details of checks, and dropped claims. The record with its commitments stays.
    """
    rows = connection.execute(
        f"SELECT number, record, content FROM receipts WHERE {CITING} "  # noqa: S608 - fixed text
        "AND content <> '{}'",
        (tenant, json.dumps([document_id])),
    ).fetchall()
    blanked = [
        (json.dumps(_without(document_id, json.loads(record), json.loads(content))), number)
        for number, record, content in rows
    ]
    connection.executemany("UPDATE receipts SET content = ? WHERE number = ?", blanked)
    blank_notes(connection, [number for _, number in blanked])
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


def key_of(connection: sqlite3.Connection, tenant: str, subject: str) -> bytes | None:
    """A subject's key, None when there is none."""
    row = connection.execute(
        "SELECT key FROM subject_keys WHERE tenant = ? AND subject = ?", (tenant, subject)
    ).fetchone()
    return None if row is None else bytes(row[0])


def append_event(connection: sqlite3.Connection, event: AuditEvent) -> AuditEntry:
    """Append to the chain of the event's tenant."""
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


def still_kept(connection: sqlite3.Connection, receipt: Receipt, key: bytes) -> dict[str, Any]:
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


def insert_receipt(
    connection: sqlite3.Connection, receipt: Receipt, position: int, content: Mapping[str, Any]
) -> None:
    """Keep a receipt with ``content``, and the documents by which it is found."""
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


def decode_receipt(row: tuple[int, str, str, str, str, str, str, str, int]) -> Receipt:
    """The receipt of a row of :data:`COLUMNS`."""
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
