"""Rows of receipts and of the audit chain. Called in a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from evidencedesk.adapters.stores.shared.receipts import (
    entry_after,
    entry_values,
    receipt_values,
    without,
)
from evidencedesk.adapters.stores.sqlite.feedback_rows import blank_notes
from evidencedesk.model.receipt import AuditEntry, AuditEvent, Receipt

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
        (json.dumps(without(document_id, json.loads(record), json.loads(content))), number)
        for number, record, content in rows
    ]
    connection.executemany("UPDATE receipts SET content = ? WHERE number = ?", blanked)
    blank_notes(connection, [number for _, number in blanked])
    return len(blanked)


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
    entry = entry_after(last, event)
    connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?)", entry_values(event, entry))
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
        content = without(document_id, receipt.record, content)
    return content


def insert_receipt(
    connection: sqlite3.Connection, receipt: Receipt, position: int, content: Mapping[str, Any]
) -> None:
    """Keep a receipt with ``content``, and the documents by which it is found."""
    number = connection.execute(
        "INSERT INTO receipts (tenant, answer_id, subject, at, reason, record, content, position) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        receipt_values(receipt, position, content),
    ).lastrowid
    connection.executemany(
        "INSERT OR IGNORE INTO receipt_documents VALUES (?, ?, ?)",
        [(receipt.tenant, document_id, number) for document_id in receipt.documents],
    )
