"""A whole index out of the database, and into it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from evidencedesk.adapters.stores.shared import refusals
from evidencedesk.adapters.stores.shared.codecs import decode_record, rule_from, rule_of
from evidencedesk.adapters.stores.shared.quantization import quantize
from evidencedesk.adapters.stores.sqlite.access_classes import class_of, read_rules
from evidencedesk.adapters.stores.sqlite.schema import SLOTS_PER_GENERATION
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

_CHUNKS = """
SELECT ordinal, location, context, text, terms, counts, coalesce(embedding_key, ''), vector,
    sentences.codes, sentences.scales, spans, tokens.codes, tokens.scales
FROM chunks JOIN features USING (slot) LEFT JOIN vectors USING (slot)
LEFT JOIN sentences USING (slot) LEFT JOIN tokens USING (slot) WHERE slot BETWEEN ? AND ? ORDER BY slot
"""


def pieces_of(connection: sqlite3.Connection) -> Iterator[MovedPiece]:
    """Everything that the open transaction sees, in the order in which it is filled in."""
    revision = connection.execute("SELECT sequence FROM state").fetchone()[0]
    yield MovedIndex(revision, dict(connection.execute("SELECT name, value FROM facts")))
    for generation in connection.execute(
        "SELECT id, state, embedding, chunking, normalisation, created_at, runtime "
        "FROM generations ORDER BY id"
    ).fetchall():
        yield MovedGeneration(*generation)
    yield from _documents(connection)
    for generation, first, last, tenant, document_id in connection.execute(
        "SELECT generation, first, last, tenant, id FROM placements JOIN documents USING (doc) "
        "ORDER BY generation, first, doc"
    ):
        chunks = connection.execute(_CHUNKS, (first, last))
        moved = tuple(MovedChunk(*row) for row in chunks)
        yield MovedPlacement(generation, tenant, document_id, moved)
    yield from _log(connection)
    for table, columns in PLAIN_TABLES.items():
        order = ", ".join(columns[:2])
        chosen = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"  # noqa: S608
        for values in connection.execute(chosen):
            yield MovedRow(table, values)


def fill(connection: sqlite3.Connection, pieces: Iterable[MovedPiece]) -> None:
    """Put ``pieces`` into an index that holds nothing, in the transaction that is open.

    Raises:
        IndexingError: ``index_not_empty``.
    """
    for table in ("documents", "receipts", "audit", "log"):
        if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():  # noqa: S608
            raise refusals.not_empty()
    connection.execute("DELETE FROM generations")
    connection.execute("UPDATE state SET layout = layout + 1")
    for piece in pieces:
        _put(connection, piece)


def _put(connection: sqlite3.Connection, piece: MovedPiece) -> None:
    match piece:
        case MovedIndex(revision, facts):
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())
            connection.execute("UPDATE state SET sequence = sequence + ?", (revision,))
        case MovedGeneration():
            connection.execute(
                "INSERT INTO generations (id, state, embedding, chunking, normalisation, "
                "created_at, runtime, next_slot) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    piece.id,
                    piece.state,
                    piece.embedding,
                    piece.chunking,
                    piece.normalisation,
                    piece.created_at,
                    piece.runtime,
                    piece.id * SLOTS_PER_GENERATION,
                ),
            )
        case MovedDocument():
            _put_document(connection, piece)
        case MovedPlacement():
            _put_placement(connection, piece)
        case MovedEntry(tenant, document_id, entry, rule):
            number = None if rule is None else class_of(connection, rule_from(tenant, *rule))
            connection.execute(
                "INSERT INTO log (tenant, document_id, class, entry) VALUES (?, ?, ?, ?)",
                (tenant, document_id, number, entry),
            )
        case MovedRow(table, values):
            columns = ", ".join(PLAIN_TABLES[table])
            marks = ", ".join("?" for _ in values)
            connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)  # noqa: S608


def _put_document(connection: sqlite3.Connection, piece: MovedDocument) -> None:
    record = decode_record(piece.record)
    number = class_of(connection, rule_of(record))
    doc = connection.execute(
        "INSERT INTO documents (tenant, id, class, record) VALUES (?, ?, ?, ?) RETURNING doc",
        (record.tenant, record.id, number, piece.record),
    ).fetchone()[0]
    connection.execute(
        "INSERT INTO contents (doc, text, anchors, boxes) VALUES (?, ?, ?, ?)",
        (doc, piece.text, piece.anchors, piece.boxes),
    )
    connection.executemany(
        "INSERT INTO history (doc, class, content_hash, record, text) VALUES (?, ?, ?, ?, ?)",
        [
            (doc, class_of(connection, rule_of(old)), old.content_hash, stored, text)
            for old, stored, text in (
                (decode_record(stored), stored, text) for stored, text in piece.history
            )
        ],
    )


def _put_placement(connection: sqlite3.Connection, piece: MovedPlacement) -> None:
    chunks = piece.chunks
    doc, number = connection.execute(
        "SELECT doc, class FROM documents WHERE tenant = ? AND id = ?",
        (piece.tenant, piece.document_id),
    ).fetchone()
    first = connection.execute(
        "UPDATE generations SET next_slot = next_slot + ? WHERE id = ? RETURNING next_slot - ?",
        (len(chunks), piece.generation, len(chunks)),
    ).fetchone()[0]
    _insert_chunks(connection, first, doc, chunks)
    connection.execute(
        "INSERT INTO placements (generation, doc, first, last, class, vectors) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (
            piece.generation,
            doc,
            first,
            first + len(chunks) - 1,
            number,
            sum(chunk.vector is not None for chunk in chunks),
        ),
    )


def _insert_chunks(
    connection: sqlite3.Connection, first: int, doc: int, chunks: Sequence[MovedChunk]
) -> None:
    numbered = list(enumerate(chunks, first))
    connection.executemany(
        "INSERT INTO chunks (slot, doc, ordinal, location, context, text) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(slot, doc, c.ordinal, c.location, c.context, c.text) for slot, c in numbered],
    )
    connection.executemany(
        "INSERT INTO features (slot, length, terms, counts, codes, scale) VALUES (?, ?, ?, ?, ?, ?)",
        [(slot, _length(c.counts), c.terms, c.counts, *_coded(c.vector)) for slot, c in numbered],
    )
    connection.executemany(
        "INSERT INTO vectors (slot, vector, embedding_key) VALUES (?, ?, ?)",
        [(slot, c.vector, c.embedding_key) for slot, c in numbered if c.vector is not None],
    )
    connection.executemany(
        "INSERT INTO sentences (slot, codes, scales) VALUES (?, ?, ?)",
        [
            (slot, c.sentence_codes, c.sentence_scales)
            for slot, c in numbered
            if c.sentence_codes is not None
        ],
    )
    connection.executemany(
        "INSERT INTO tokens (slot, spans, codes, scales) VALUES (?, ?, ?, ?)",
        [
            (slot, c.token_spans, c.token_codes, c.token_scales)
            for slot, c in numbered
            if c.token_codes is not None
        ],
    )


def _length(counts: bytes) -> int:
    return int(np.frombuffer(counts, "<u4").sum())


def _coded(vector: bytes | None) -> tuple[bytes, float]:
    if vector is None:
        return b"", 0.0
    codes, scales = quantize(np.frombuffer(vector, "<f4")[None])
    return codes.tobytes(), float(scales[0])


def _documents(connection: sqlite3.Connection) -> Iterator[MovedDocument]:
    for doc, record, text, anchors, boxes in connection.execute(
        "SELECT doc, record, text, anchors, boxes FROM documents JOIN contents USING (doc) "
        "ORDER BY doc"
    ):
        history = connection.execute(
            "SELECT record, text FROM history WHERE doc = ? ORDER BY number", (doc,)
        ).fetchall()
        yield MovedDocument(record, text, anchors, boxes, tuple(history))


def _log(connection: sqlite3.Connection) -> Iterator[MovedEntry]:
    rules = read_rules(connection)
    for tenant, document_id, entry, number in connection.execute(
        "SELECT log.tenant, document_id, entry, coalesce(documents.class, log.class) FROM log "
        "LEFT JOIN documents ON documents.tenant = log.tenant AND documents.id = document_id "
        "ORDER BY number"
    ):
        rule = rules.get(number)
        held = None if rule is None else (rule.status.value, _names(rule.roles), _names(rule.deny))
        yield MovedEntry(tenant, document_id, entry, held)


def _names(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
