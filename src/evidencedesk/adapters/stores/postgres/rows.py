"""Rows of documents: what each write puts in and takes out. Called in a transaction."""

from __future__ import annotations

from datetime import datetime

from evidencedesk.adapters.stores.postgres.access_classes import class_of
from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.placing import take_out
from evidencedesk.adapters.stores.postgres.schema import STRIPES
from evidencedesk.adapters.stores.shared.codecs import (
    encode_anchors,
    encode_boxes,
    encode_location,
    encode_record,
    record_of,
    rule_of,
)
from evidencedesk.model import Document, Span
from evidencedesk.model.locate import Locator

_CHANGE_CLASS = (
    "UPDATE placements SET class = %(to)s WHERE doc = %(doc)s",
    "UPDATE chunks SET class = %(to)s WHERE doc = %(doc)s",
    "UPDATE vectors SET class = %(to)s FROM chunks "
    "WHERE chunks.slot = vectors.slot AND doc = %(doc)s",
)
_UPDATE_DOCUMENT = """
UPDATE documents SET class = %(class)s, record = %(record)s, content_hash = %(hash)s,
    text = %(text)s, anchors = %(anchors)s, boxes = %(boxes)s
WHERE tenant = %(tenant)s AND id = %(id)s RETURNING doc
"""
_INSERT_DOCUMENT = """
INSERT INTO documents (tenant, id, class, record, content_hash, text, anchors, boxes)
VALUES (%(tenant)s, %(id)s, %(class)s, %(record)s, %(hash)s, %(text)s, %(anchors)s, %(boxes)s)
RETURNING doc
"""
_DELETE_DOCUMENT = (
    "DELETE FROM history WHERE doc = %s",
    "DELETE FROM documents WHERE doc = %s",
)


def count_revision(connection: Connection) -> None:
    """Let the revision grow when this transaction commits. Last in it, to hold no row for long."""
    connection.execute(
        f"UPDATE revisions SET number = number + 1 WHERE stripe = pg_backend_pid() % {STRIPES}"  # noqa: S608
    )


def hold_document(connection: Connection, tenant: str, document_id: str) -> None:
    """Until the end of the transaction, let nobody else write this document."""
    connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || %s || ' ' || %s, 1))",
        (tenant, document_id),
    )


def put_document(connection: Connection, document: Document, now: datetime) -> int:
    """Insert or update the row of a document, its text moved to history if it differs; its number.

    The document must be held.
    """
    number = class_of(connection, rule_of(document))
    record = encode_record(record_of(document, now))
    _keep_history(connection, document)
    values = {
        "tenant": document.tenant,
        "id": document.id,
        "class": number,
        "record": record,
        "hash": document.content_hash,
        "text": document.text.encode(),
        "anchors": encode_anchors(document),
        "boxes": encode_boxes(document),
    }
    # The document is held, so nobody inserts it between the two.
    row = (
        connection.execute(_UPDATE_DOCUMENT, values).fetchone()
        or connection.execute(_INSERT_DOCUMENT, values).fetchone()
    )
    assert row is not None
    connection.execute(
        "UPDATE log SET class = %s WHERE tenant = %s AND document_id = %s "
        "AND class IS DISTINCT FROM %s",
        (number, document.tenant, document.id, number),
    )
    return int(row[0])


def find_document(connection: Connection, tenant: str, document_id: str) -> int | None:
    """Number of a document, or None."""
    row = connection.execute(
        "SELECT doc FROM documents WHERE tenant = %s AND id = %s", (tenant, document_id)
    ).fetchone()
    return None if row is None else int(row[0])


def is_placed(connection: Connection, generation: int, doc: int) -> bool:
    """Whether the document was put into the generation, with chunks or without."""
    found = connection.execute(
        "SELECT FROM placements WHERE doc = %s AND generation = %s", (doc, generation)
    )
    return found.fetchone() is not None


def anchors_differ(connection: Connection, doc: int, document: Document) -> bool:
    """Whether spans of ``document`` stand elsewhere than those stored."""
    stored = connection.execute(
        "SELECT anchors, boxes FROM documents WHERE doc = %s", (doc,)
    ).fetchone()
    return stored != (encode_anchors(document), encode_boxes(document))


def change_class(connection: Connection, doc: int) -> None:
    """Give the document's rows in all generations the class that its own row has."""
    rows = connection.execute(
        "SELECT generation, place, terms, placements.class, documents.class FROM placements "
        "JOIN documents USING (doc) WHERE doc = %s AND placements.class <> documents.class",
        (doc,),
    ).fetchall()
    for generation, place, terms, old, new in rows:
        connection.execute(
            "UPDATE postings SET class = %s WHERE generation = %s AND term = ANY (%s) "
            "AND class = %s AND place = %s",
            (new, generation, terms, old, place),
        )
    if rows:
        for statement in _CHANGE_CLASS:
            connection.execute(statement, {"to": rows[0][4], "doc": doc})


def move_chunks(connection: Connection, doc: int, document: Document) -> None:
    """Locate every stored chunk's span anew in ``document``."""
    locator = Locator(document)
    rows = connection.execute(
        "SELECT slot, (location::json ->> 'start')::integer, (location::json ->> 'end')::integer "
        "FROM chunks WHERE doc = %s",
        (doc,),
    ).fetchall()
    moved = [
        (encode_location(locator.locate(Span(start or 0, end or 0))), slot)
        for slot, start, end in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany("UPDATE chunks SET location = %s WHERE slot = %s", moved)


def erase_document(connection: Connection, doc: int) -> None:
    """Remove a document with all that hangs on it; its log entries keep who might see it."""
    generations = connection.execute(
        "SELECT generation FROM placements WHERE doc = %s", (doc,)
    ).fetchall()
    for (generation,) in generations:
        take_out(connection, generation, doc)
    for statement in _DELETE_DOCUMENT:
        connection.execute(statement, (doc,))


def _keep_history(connection: Connection, document: Document) -> None:
    connection.execute(
        "INSERT INTO history (doc, class, content_hash, record, text) "
        "SELECT doc, class, content_hash, record, text FROM documents "
        "WHERE tenant = %s AND id = %s AND content_hash <> %s",
        (document.tenant, document.id, document.content_hash),
    )
