"""Rows of receipts and of the audit chain. Called in a transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.feedback_rows import blank_notes
from evidencedesk.adapters.stores.postgres.partitions import bounds_of
from evidencedesk.adapters.stores.shared.receipts import (
    entry_after,
    entry_values,
    receipt_values,
    without,
)
from evidencedesk.model.receipt import AuditEntry, AuditEvent, Receipt

CITING = (
    "number IN (SELECT receipt FROM receipt_documents "
    "WHERE tenant = %(tenant)s AND document_id = ANY (%(documents)s))"
)
"""Which receipts may repeat documents."""


def blank_document(connection: Connection, tenant: str, document_id: str) -> int:
    """Take what receipts quote of a document out of them; how many held any. In a transaction.

    Its quotes go, and with them every piece that may repeat them: claims that cite it, the note,
    details of checks, and dropped claims. The record with its commitments stays.
    """
    rows = connection.execute(
        f"SELECT number, record, content FROM receipts WHERE {CITING} "  # noqa: S608 - fixed text
        "AND content <> '{}' FOR UPDATE",
        {"tenant": tenant, "documents": [document_id]},
    ).fetchall()
    for number, record, content in rows:
        kept = without(document_id, json.loads(record), json.loads(content))
        connection.execute(
            "UPDATE receipts SET content = %s WHERE number = %s", (json.dumps(kept), number)
        )
    blank_notes(connection, [number for number, _, _ in rows])
    return len(rows)


def key_of(connection: Connection, tenant: str, subject: str) -> bytes | None:
    """A subject's key, None when there is none."""
    row = connection.execute(
        "SELECT key FROM subject_keys WHERE tenant = %s AND subject = %s", (tenant, subject)
    ).fetchone()
    return None if row is None else bytes(row[0])


def hold_chain(connection: Connection, tenant: str) -> None:
    """Until the end of the transaction, let nobody else append to the chain of the tenant."""
    connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || %s, 2))", (tenant,)
    )


def append_event(connection: Connection, event: AuditEvent) -> AuditEntry:
    """Append to the chain of the event's tenant, which must be held."""
    last = connection.execute(
        "SELECT number, hash FROM audit WHERE tenant = %s ORDER BY number DESC LIMIT 1",
        (event.tenant,),
    ).fetchone()
    entry = entry_after(last, event)
    connection.execute("INSERT INTO audit VALUES (%s, %s, %s, %s, %s)", entry_values(event, entry))
    return entry


_HELD_KEY = """
SELECT (SELECT id FROM access_classes WHERE tenant = %(tenant)s LIMIT 1 FOR KEY SHARE)
FROM subject_keys WHERE tenant = %(tenant)s AND key = %(key)s FOR SHARE
"""
"""A key, and one class of the tenant, which does not move to another partition while it is held."""


def still_kept(connection: Connection, receipt: Receipt, key: bytes) -> dict[str, Any]:
    """The content, without what was erased since the answer was begun.

    What is found is held until the end of the transaction: whoever erases it meanwhile waits, and
    then blanks this receipt, too.
    """
    known = connection.execute(_HELD_KEY, {"tenant": receipt.tenant, "key": key}).fetchone()
    content = dict(receipt.content) if known is not None else {}
    there = connection.execute(
        "SELECT id FROM documents WHERE tenant = %s AND id = ANY (%s) "
        "AND class BETWEEN %s AND %s ORDER BY id FOR KEY SHARE",
        (receipt.tenant, list(receipt.documents), *bounds_of(known[0] if known else None)),
    ).fetchall()
    for document_id in {*receipt.documents} - {name for (name,) in there}:
        content = without(document_id, receipt.record, content)
    return content


def insert_receipt(
    connection: Connection, receipt: Receipt, position: int, content: Mapping[str, Any]
) -> None:
    """Keep a receipt with ``content``, and the documents by which it is found."""
    row = connection.execute(
        "INSERT INTO receipts (tenant, answer_id, subject, at, reason, record, content, position) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s) RETURNING number",
        receipt_values(receipt, position, content),
    ).fetchone()
    assert row is not None
    connection.execute(
        "INSERT INTO receipt_documents SELECT %s, document_id, %s "
        "FROM unnest(%s::text[]) AS document_id ON CONFLICT DO NOTHING",
        (receipt.tenant, row[0], list(receipt.documents)),
    )
