"""A whole index out of the tables, and into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from psycopg import sql

from evidencedesk.adapters.stores.postgres.access_classes import class_of
from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.placing import ENTRY, insert_placement
from evidencedesk.adapters.stores.postgres.schema import SCHEMA_FACT, SLOT_BITS
from evidencedesk.adapters.stores.shared import refusals
from evidencedesk.adapters.stores.shared.codecs import decode_record, rule_from, rule_of
from evidencedesk.model.moving import (
    PLAIN_TABLES,
    MovedChunk,
    MovedDocument,
    MovedEntry,
    MovedGeneration,
    MovedIndex,
    MovedPiece,
    MovedPlacement,
    MovedRow,
)

_BATCH = 200
_NUMBERED = ("receipts", "notices")


def pieces_of(connection: Connection) -> Iterator[MovedPiece]:
    """Everything that the open transaction sees, in the order in which it is filled in."""
    row = connection.execute("SELECT sum(number)::bigint FROM revisions").fetchone()
    facts: dict[str, str] = dict(connection.execute("SELECT name, value FROM facts").fetchall())
    facts.pop(SCHEMA_FACT, None)
    yield MovedIndex(revision=int(row[0]) if row else 0, facts=facts)
    for generation in connection.execute(
        "SELECT id, state, embedding, chunking, normalisation, created_at, runtime "
        "FROM generations ORDER BY id"
    ).fetchall():
        yield MovedGeneration(*generation)
    yield from _documents(connection)
    yield from _placements(connection)
    yield from _log(connection)
    for table, columns in PLAIN_TABLES.items():
        order = ", ".join(columns[:2])
        chosen = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"  # noqa: S608
        for values in _stream(connection, chosen):
            yield MovedRow(table, values)


def fill(connection: Connection, pieces: Iterable[MovedPiece]) -> None:
    """Put ``pieces`` into an index that holds nothing, in the transaction that is open.

    Raises:
        IndexingError: ``index_not_empty``.
    """
    for table in ("documents", "receipts", "audit", "log"):
        found = connection.execute(f"SELECT FROM {table} LIMIT 1".encode()).fetchone()
        if found is not None:
            raise refusals.not_empty()
    connection.execute("DELETE FROM generations")
    for piece in pieces:
        _put(connection, piece)
    connection.execute(
        "SELECT setval(pg_get_serial_sequence('generations', 'id'), max(id)) FROM generations"
    )
    for table in _NUMBERED:
        connection.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'number'), max(number)) "  # noqa: S608
            f"FROM {table} HAVING max(number) IS NOT NULL".encode()
        )


def _put(connection: Connection, piece: MovedPiece) -> None:
    match piece:
        case MovedIndex(revision, facts):
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO facts VALUES (%s, %s) ON CONFLICT (name) "
                    "DO UPDATE SET value = excluded.value",
                    list(facts.items()),
                )
            connection.execute(
                "UPDATE revisions SET number = number + %s WHERE stripe = 0", (revision + 1,)
            )
        case MovedGeneration():
            connection.execute(
                "INSERT INTO generations "
                "(id, state, embedding, chunking, normalisation, created_at, runtime) "
                "OVERRIDING SYSTEM VALUE VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (
                    piece.id,
                    piece.state,
                    piece.embedding,
                    piece.chunking,
                    piece.normalisation,
                    piece.created_at,
                    piece.runtime,
                ),
            )
        case MovedDocument():
            _put_document(connection, piece)
        case MovedPlacement():
            row = connection.execute(
                "SELECT doc, nextval('places'), class FROM documents WHERE tenant = %s AND id = %s",
                (piece.tenant, piece.document_id),
            ).fetchone()
            assert row is not None
            doc, place, number = row
            insert_placement(
                connection, piece.generation, doc, piece.chunks, place=place, number=number
            )
        case MovedEntry(tenant, document_id, entry, rule):
            number = None if rule is None else class_of(connection, rule_from(tenant, *rule))
            connection.execute(
                "INSERT INTO log (tenant, document_id, class, entry) VALUES (%s, %s, %s, %s)",
                (tenant, document_id, number, entry),
            )
        case MovedRow(table, values):
            _put_row(connection, table, values)


def _put_document(connection: Connection, piece: MovedDocument) -> None:
    record = decode_record(piece.record)
    row = connection.execute(
        "INSERT INTO documents (tenant, id, class, record, content_hash, text, anchors, boxes) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s) RETURNING doc",
        (
            record.tenant,
            record.id,
            class_of(connection, rule_of(record)),
            piece.record,
            record.content_hash,
            piece.text.encode(),
            piece.anchors,
            piece.boxes,
        ),
    ).fetchone()
    assert row is not None
    for stored, text in piece.history:
        old = decode_record(stored)
        connection.execute(
            "INSERT INTO history (doc, class, content_hash, record, text) "
            "VALUES (%s, %s, %s, %s, %s)",
            (row[0], class_of(connection, rule_of(old)), old.content_hash, stored, text.encode()),
        )


def _put_row(connection: Connection, table: str, values: tuple[Any, ...]) -> None:
    statement = sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({})").format(
        sql.Identifier(table),
        sql.SQL(", ").join(map(sql.Identifier, PLAIN_TABLES[table])),
        sql.SQL(", ").join(sql.Placeholder() for _ in values),
    )
    connection.execute(statement, values)


def _documents(connection: Connection) -> Iterator[MovedDocument]:
    rows = _stream(
        connection, "SELECT doc, record, text, anchors, boxes FROM documents ORDER BY doc"
    )
    for doc, record, text, anchors, boxes in rows:
        earlier = connection.execute(
            "SELECT record, text FROM history WHERE doc = %s ORDER BY number", (doc,)
        ).fetchall()
        history = tuple((stored, old.decode()) for stored, old in earlier)
        yield MovedDocument(record, text.decode(), anchors, boxes, history)


def _placements(connection: Connection) -> Iterator[MovedPlacement]:
    rows = _stream(
        connection,
        "SELECT generation, place, placements.class, terms, tenant, id FROM placements "
        "JOIN documents USING (doc) ORDER BY generation, place",
    )
    for generation, place, number, terms, tenant, document_id in rows:
        chunks = _chunks(connection, generation, place, number, terms)
        yield MovedPlacement(generation, tenant, document_id, tuple(chunks))


def _chunks(
    connection: Connection, generation: int, place: int, number: int, terms: list[int]
) -> Iterator[MovedChunk]:
    first = place << SLOT_BITS
    held = _terms_by_slot(connection, (generation, terms, number, place))
    rows = connection.execute(
        "SELECT slot, ordinal, location, context, text, embedding_key, vector, sentence_codes, "
        "sentence_scales, token_spans, token_codes, token_scales FROM chunks "
        "WHERE slot BETWEEN %s AND %s ORDER BY slot",
        (first, first + (1 << SLOT_BITS) - 1),
        binary=True,
    ).fetchall()
    for slot, ordinal, location, context, text, *vectors in rows:
        hashes, counts = held.get(slot, (b"", b""))
        yield MovedChunk(
            ordinal, location, context.decode(), text.decode(), hashes, counts, *vectors
        )


def _terms_by_slot(
    connection: Connection, where: tuple[int, list[int], int, int]
) -> dict[int, tuple[bytes, bytes]]:
    rows = connection.execute(
        "SELECT term, entries FROM postings WHERE generation = %s AND term = ANY (%s::bigint[]) "
        "AND class = %s AND place = %s",
        where,
        binary=True,
    ).fetchall()
    if not rows:
        return {}
    sizes = [len(entries) // ENTRY.itemsize for _, entries in rows]
    entries = np.frombuffer(b"".join(entries for _, entries in rows), ENTRY)
    hashes = np.repeat(np.array([term for term, _ in rows], "<i8").view("<u8"), sizes)
    order = np.lexsort((hashes, entries["slot"]))
    hashes, entries = hashes[order], entries[order]
    slots, starts = np.unique(entries["slot"], return_index=True)
    parts = zip(np.split(hashes, starts[1:]), np.split(entries["count"], starts[1:]), strict=True)
    return {
        slot: (terms.tobytes(), counts.tobytes())
        for slot, (terms, counts) in zip(slots.tolist(), parts, strict=True)
    }


def _log(connection: Connection) -> Iterator[MovedEntry]:
    rows = _stream(
        connection,
        "SELECT log.tenant, document_id, entry, status, roles, deny FROM log "
        "LEFT JOIN access_classes ON access_classes.id = class ORDER BY number",
    )
    for tenant, document_id, entry, status, roles, deny in rows:
        rule = None if status is None else (status, tuple(roles), tuple(deny))
        yield MovedEntry(tenant, document_id, entry, rule)


def _stream(connection: Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Rows a few at a time: an index may be larger than memory."""
    with connection.cursor(name="moved", binary=True) as cursor:
        cursor.itersize = _BATCH
        cursor.execute(statement.encode())
        yield from cursor
