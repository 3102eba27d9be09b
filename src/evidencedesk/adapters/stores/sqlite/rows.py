"""Rows of documents and chunks: what each write puts in and takes out. Called in a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from evidencedesk.adapters.stores.shared.codecs import (
    encode_anchors,
    encode_boxes,
    encode_location,
    encode_record,
    record_of,
    rule_of,
)
from evidencedesk.adapters.stores.sqlite.access_classes import class_of, columns_of
from evidencedesk.adapters.stores.sqlite.chunk_rows import insert_chunks
from evidencedesk.adapters.stores.sqlite.schema import DELETE_SLOTS
from evidencedesk.model import Document, EmbeddingSpec, IndexedChunk, Span
from evidencedesk.model.locate import Locator

_CHANGES_KEPT = 10_000
_DELETE_DOCUMENT = (
    "DELETE FROM contents WHERE doc = ?",
    "DELETE FROM history WHERE doc = ?",
    "DELETE FROM documents WHERE doc = ?",
)


def next_sequence(connection: sqlite3.Connection) -> int:
    """Number this transaction's changes, and forget those that few readers are still behind."""
    sequence = connection.execute(
        "UPDATE state SET sequence = sequence + 1, pruned = max(pruned, sequence + 1 - ?) "
        "RETURNING sequence",
        (_CHANGES_KEPT,),
    ).fetchone()[0]
    connection.execute("DELETE FROM changes WHERE sequence <= ?", (sequence - _CHANGES_KEPT,))
    return int(sequence)


def put_document(connection: sqlite3.Connection, document: Document, now: datetime) -> int:
    """Insert or update the row of a document, its text moved to history if it differs; its number."""
    number = class_of(connection, rule_of(document))
    record = encode_record(record_of(document, now))
    _keep_history(connection, document)
    doc = connection.execute(
        "INSERT INTO documents (tenant, id, class, record) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (tenant, id) DO UPDATE SET class = excluded.class, record = excluded.record "
        "RETURNING doc",
        (document.tenant, document.id, number, record),
    ).fetchone()[0]
    connection.execute(
        "INSERT OR REPLACE INTO contents (doc, text, anchors, boxes) VALUES (?, ?, ?, ?)",
        (doc, document.text, encode_anchors(document), encode_boxes(document)),
    )
    return int(doc)


def find_document(connection: sqlite3.Connection, tenant: str, document_id: str) -> int | None:
    """Number of a document, or None."""
    row = connection.execute(
        "SELECT doc FROM documents WHERE tenant = ? AND id = ?", (tenant, document_id)
    ).fetchone()
    return None if row is None else int(row[0])


def is_placed(connection: sqlite3.Connection, generation: int, doc: int) -> bool:
    """Whether the document was put into the generation, with chunks or without."""
    found = connection.execute(
        "SELECT 1 FROM placements WHERE doc = ? AND generation = ?", (doc, generation)
    )
    return found.fetchone() is not None


def rights_change(connection: sqlite3.Connection, document: Document) -> bool:
    """Whether a document is stored under the same key with other rights."""
    row = connection.execute(
        "SELECT access_classes.tenant, status, roles, deny "
        "FROM documents JOIN access_classes ON access_classes.id = class "
        "WHERE documents.tenant = ? AND documents.id = ?",
        (document.tenant, document.id),
    ).fetchone()
    return row is not None and tuple(row) != columns_of(rule_of(document))


def anchors_differ(connection: sqlite3.Connection, doc: int, document: Document) -> bool:
    """Whether spans of ``document`` stand elsewhere than those stored."""
    stored = connection.execute(
        "SELECT anchors, boxes FROM contents WHERE doc = ?", (doc,)
    ).fetchone()
    return bool(stored != (encode_anchors(document), encode_boxes(document)))


def place_chunks(
    connection: sqlite3.Connection,
    sequence: int,
    generation: int,
    doc: int,
    chunks: Sequence[IndexedChunk],
    *,
    embedding: EmbeddingSpec | None,
) -> None:
    """Take the document's chunks in the generation out and put ``chunks`` in."""
    take_out(connection, sequence, generation, doc)
    first = int(
        connection.execute(
            "UPDATE generations SET next_slot = next_slot + ? WHERE id = ? RETURNING next_slot",
            (len(chunks), generation),
        ).fetchone()[0]
    ) - len(chunks)
    last = first + len(chunks) - 1
    insert_chunks(connection, first, doc, chunks, embedding)
    connection.execute(
        "INSERT INTO placements (generation, doc, first, last, class, vectors) "
        "SELECT ?, doc, ?, ?, class, ? FROM documents WHERE doc = ?",
        (generation, first, last, sum(c.vector is not None for c in chunks), doc),
    )


def take_out(connection: sqlite3.Connection, sequence: int, generation: int, doc: int) -> None:
    """Remove the chunks of a document in one generation, with their vectors and postings."""
    placed = connection.execute(
        "DELETE FROM placements WHERE generation = ? AND doc = ? RETURNING first, last",
        (generation, doc),
    ).fetchone()
    if placed is None:
        return
    for statement in DELETE_SLOTS:
        connection.execute(statement, placed)
    connection.execute(
        "INSERT INTO changes VALUES (?, ?, ?, ?, 0)", (sequence, generation, *placed)
    )


def change_class(connection: sqlite3.Connection, sequence: int, doc: int) -> None:
    """Give the document's chunks in all generations the class that its row has."""
    connection.execute(
        "UPDATE placements SET class = (SELECT class FROM documents WHERE doc = ?1) WHERE doc = ?1",
        (doc,),
    )
    connection.execute(
        "INSERT INTO changes SELECT ?, generation, first, last, class FROM placements "
        "WHERE doc = ?",
        (sequence, doc),
    )


def move_chunks(connection: sqlite3.Connection, doc: int, document: Document) -> None:
    """Locate every stored chunk's span anew in ``document``."""
    locator = Locator(document)
    rows = connection.execute(
        "SELECT slot, json_extract(location, '$.start'), json_extract(location, '$.end') FROM placements "
        "JOIN chunks ON slot BETWEEN first AND last WHERE placements.doc = ?",
        (doc,),
    ).fetchall()
    connection.executemany(
        "UPDATE chunks SET location = ? WHERE slot = ?",
        (
            (encode_location(locator.locate(Span(start or 0, end or 0))), slot)
            for slot, start, end in rows
        ),
    )


def erase_document(connection: sqlite3.Connection, sequence: int, doc: int) -> None:
    """Remove a document with all that hangs on it; its log entries keep who might see it."""
    connection.execute(
        "UPDATE log SET class = documents.class FROM documents WHERE doc = ? "
        "AND log.tenant = documents.tenant AND log.document_id = documents.id",
        (doc,),
    )
    generations = connection.execute(
        "SELECT generation FROM placements WHERE doc = ?", (doc,)
    ).fetchall()
    for (generation,) in generations:
        take_out(connection, sequence, generation, doc)
    for statement in _DELETE_DOCUMENT:
        connection.execute(statement, (doc,))


def _keep_history(connection: sqlite3.Connection, document: Document) -> None:
    connection.execute(
        "INSERT INTO history (doc, class, content_hash, record, text) "
        "SELECT doc, class, json_extract(record, '$.content_hash'), record, text "
        "FROM documents JOIN contents USING (doc) "
        "WHERE tenant = ? AND id = ? AND json_extract(record, '$.content_hash') <> ?",
        (document.tenant, document.id, document.content_hash),
    )
