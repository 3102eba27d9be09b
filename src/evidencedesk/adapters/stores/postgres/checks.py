"""Everything in an index that must agree with something else, and does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.placing import ENTRY
from evidencedesk.adapters.stores.shared.codecs import decode_record
from evidencedesk.adapters.stores.shared.quantization import quantize
from evidencedesk.model import content_hash_of

_BATCH = 500


def disagreements(connection: Connection) -> Iterator[str]:
    """What is wrong, one sentence each; nothing when all is well."""
    yield from _documents(connection)
    yield from _history(connection)
    yield from _counts(connection)
    yield from _vectors(connection)
    yield from _postings(connection)


def _documents(connection: Connection) -> Iterator[str]:
    rows = _stream(
        connection,
        "SELECT documents.tenant, documents.id, record, content_hash, text, access_classes.tenant, "
        "access_classes.status, access_classes.roles, access_classes.deny "
        "FROM documents LEFT JOIN access_classes ON access_classes.id = class "
        "ORDER BY documents.tenant, documents.id",
    )
    for tenant, document_id, stored, content_hash, text, *rule in rows:
        name = f"document {document_id!r} of tenant {tenant!r}"
        record = decode_record(stored)
        if {content_hash_of(text.decode()), content_hash} != {record.content_hash}:
            yield f"{name}: text does not have its hash {record.content_hash}"
        expected = [tenant, record.status, sorted(record.roles), sorted(record.deny)]
        if rule != expected:
            yield f"{name}: its access class is not that of its rights"
        if (record.tenant, record.id) != (tenant, document_id):
            yield f"{name}: its record belongs to {record.id!r} of {record.tenant!r}"


def _history(connection: Connection) -> Iterator[str]:
    rows = _stream(
        connection,
        "SELECT id, history.content_hash, history.text FROM history JOIN documents USING (doc) "
        "ORDER BY number",
    )
    for document_id, content_hash, text in rows:
        if content_hash_of(text.decode()) != content_hash:
            yield f"document {document_id!r}: an earlier text does not have its hash {content_hash}"


_COUNTS = (
    (
        "SELECT id, generation FROM documents JOIN placements USING (doc) "
        "WHERE documents.class <> placements.class",
        "document {!r}: generation {} has another access class",
    ),
    (
        "SELECT DISTINCT id FROM documents JOIN chunks USING (doc) "
        "LEFT JOIN vectors USING (slot) WHERE chunks.class <> documents.class "
        "OR vectors.class <> documents.class",
        "document {!r}: a chunk has another access class",
    ),
    (
        "SELECT id, generation, placements.chunks, count(slot) FROM placements "
        "JOIN documents USING (doc) LEFT JOIN chunks ON chunks.doc = placements.doc "
        "AND slot BETWEEN place << 20 AND (place << 20) + placements.chunks "
        "GROUP BY placements.doc, id, generation, placements.chunks "
        "HAVING count(slot) <> placements.chunks",
        "document {!r}: generation {} should hold {} chunks and holds {}",
    ),
    (
        "SELECT id, placements.generation, placements.vectors, count(slot) FROM placements "
        "JOIN documents USING (doc) LEFT JOIN vectors "
        "ON vectors.generation = placements.generation "
        "AND slot BETWEEN place << 20 AND (place << 20) + placements.chunks "
        "GROUP BY placements.doc, id, placements.generation, placements.vectors "
        "HAVING count(slot) <> placements.vectors",
        "document {!r}: generation {} should hold {} vectors and holds {}",
    ),
    (
        "SELECT slot FROM chunks WHERE NOT EXISTS (SELECT FROM placements "
        "WHERE placements.doc = chunks.doc AND place = slot >> 20)",
        "chunk in slot {}: belongs to no document",
    ),
    (
        "SELECT slot FROM vectors LEFT JOIN chunks USING (slot) WHERE vector IS NULL",
        "slot {}: vectors without a chunk",
    ),
    (
        "SELECT slot FROM chunks LEFT JOIN vectors USING (slot) "
        "WHERE vector IS NOT NULL AND codes IS NULL",
        "chunk in slot {}: its vector is not searched",
    ),
    (
        "SELECT slot FROM chunks JOIN placements ON placements.doc = chunks.doc "
        "AND place = slot >> 20 JOIN generations ON generations.id = generation "
        "WHERE vector IS NOT NULL AND (token_codes IS NOT NULL) "
        "<> (coalesce((embedding::json ->> 'token_dimensions')::integer, 0) > 0)",
        "slot {}: token vectors are missing, or there are some where none should be",
    ),
    (
        "SELECT id, ordinal FROM chunks JOIN documents USING (doc) WHERE "
        "convert_from(chunks.text, 'UTF8') <> substr(convert_from(documents.text, 'UTF8'), "
        "coalesce((location::json ->> 'start')::integer, 0) + 1, "
        "length(convert_from(chunks.text, 'UTF8'))) "
        "OR length(convert_from(chunks.text, 'UTF8')) <> (location::json ->> 'end')::integer "
        "- coalesce((location::json ->> 'start')::integer, 0)",
        "chunk {}:c{}: its text is not that of its span",
    ),
    (
        "SELECT id FROM documents WHERE NOT EXISTS (SELECT FROM placements JOIN generations "
        "ON generations.id = generation WHERE placements.doc = documents.doc AND state = 'active')",
        "document {!r}: is not in the active generation",
    ),
    (
        "SELECT DISTINCT postings.place FROM postings LEFT JOIN placements "
        "ON placements.place = postings.place AND placements.generation = postings.generation "
        "AND placements.class = postings.class WHERE placements.doc IS NULL",
        "place {}: postings of no document, or with another access class",
    ),
)


def _counts(connection: Connection) -> Iterator[str]:
    for statement, message in _COUNTS:
        for row in connection.execute(statement.encode()).fetchall():
            yield message.format(*row)


def _vectors(connection: Connection) -> Iterator[str]:
    rows = _stream(
        connection,
        "SELECT slot, vector, scale, codes::text FROM chunks JOIN vectors USING (slot) "
        "WHERE vector IS NOT NULL ORDER BY slot",
    )
    for slot, vector, scale, stored in rows:
        codes, scales = quantize(np.frombuffer(vector, "<f4")[None])
        held = np.array(stored.strip("[]").split(","), np.float64)
        if float(scales[0]) != scale or not np.array_equal(held, codes[0]):
            yield f"slot {slot}: int8 codes are not those of its vector"


def _postings(connection: Connection) -> Iterator[str]:
    """Every chunk's postings add up to its length, and each document's to those it should have."""
    rows = _stream(
        connection,
        "SELECT id, placements.generation, place, placements.length, "
        "cardinality(terms), count(term), coalesce(string_agg(entries, ''), '') "
        "FROM placements JOIN documents USING (doc) LEFT JOIN postings USING (generation, place) "
        "GROUP BY id, placements.generation, place, placements.length, terms",
    )
    for document_id, generation, place, length, terms, found, stored in rows:
        name = f"document {document_id!r}: generation {generation}"
        if terms != found:
            yield f"{name} should hold postings of {terms} terms and holds {found}"
        if len(stored) % ENTRY.itemsize:
            yield f"{name} holds broken postings"
            continue
        entries = np.frombuffer(stored, ENTRY)
        chunks, places = np.unique(entries["slot"], return_inverse=True)
        sums = np.bincount(places, weights=entries["count"], minlength=len(chunks))
        lengths = np.zeros(len(chunks))
        lengths[places] = entries["length"]
        if not np.array_equal(sums, lengths) or int(sums.sum()) != length:
            yield f"{name} holds postings that do not add up to {length}"
        if len(chunks) and ((chunks >> 20) != place).any():
            yield f"{name} holds postings of other documents"


def _stream(connection: Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Rows a few at a time: an index may be larger than memory."""
    with connection.cursor(name="checked", binary=True) as cursor:
        cursor.itersize = _BATCH
        cursor.execute(statement.encode())
        yield from cursor
