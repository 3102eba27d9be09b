"""Everything in an index that must agree with something else, and does not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np

from evidencedesk.adapters.stores.shared.codecs import decode_record
from evidencedesk.adapters.stores.shared.quantization import quantize
from evidencedesk.adapters.stores.sqlite.access_classes import read_rules
from evidencedesk.adapters.stores.sqlite.connections import Files
from evidencedesk.adapters.stores.sqlite.parts import Part, read_parts
from evidencedesk.adapters.stores.sqlite.schema import SLOTS_PER_GENERATION
from evidencedesk.adapters.stores.sqlite.segments import open_segment, verify_segment
from evidencedesk.adapters.stores.sqlite.state import read_segment_rows
from evidencedesk.model import content_hash_of


def disagreements(connection: sqlite3.Connection, files: Files) -> Iterator[str]:
    """What is wrong, one sentence each; nothing when all is well."""
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    if found != ["ok"]:
        yield from (f"database: {line}" for line in found)
        return
    yield from _documents(connection)
    yield from _history(connection)
    yield from _counts(connection)
    yield from _features(connection)
    for (generation,) in connection.execute("SELECT id FROM generations").fetchall():
        yield from _segments(connection, files, generation)


def _documents(connection: sqlite3.Connection) -> Iterator[str]:
    rules = read_rules(connection)
    rows = connection.execute(
        "SELECT documents.tenant, id, class, record, text "
        "FROM documents LEFT JOIN contents USING (doc) ORDER BY documents.tenant, id"
    )
    for tenant, document_id, number, stored, text in rows:
        name = f"document {document_id!r} of tenant {tenant!r}"
        record = decode_record(stored)
        if text is None or content_hash_of(text) != record.content_hash:
            yield f"{name}: text does not have its hash {record.content_hash}"
        rule = rules.get(number)
        expected = (tenant, record.status, record.roles, record.deny)
        if rule is None or (rule.tenant, rule.status, rule.roles, rule.deny) != expected:
            yield f"{name}: access class {number} is not that of its rights"
        if (record.tenant, record.id) != (tenant, document_id):
            yield f"{name}: its record belongs to {record.id!r} of {record.tenant!r}"


def _history(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT id, content_hash, text FROM history JOIN documents USING (doc) ORDER BY number"
    )
    for document_id, content_hash, text in rows:
        if content_hash_of(text) != content_hash:
            yield f"document {document_id!r}: an earlier text does not have its hash {content_hash}"


_COUNTS = (
    (
        "SELECT id, placements.generation FROM documents JOIN placements USING (doc) "
        "WHERE documents.class <> placements.class",
        "document {!r}: generation {} has another access class",
    ),
    (
        "SELECT doc, generation FROM placements WHERE doc NOT IN (SELECT doc FROM documents)",
        "document number {}: chunks in generation {} of a document that is not there",
    ),
    (
        "SELECT id, generation, last - first + 1, count(slot) FROM placements "
        "JOIN documents USING (doc) LEFT JOIN chunks ON slot BETWEEN first AND last "
        "AND chunks.doc = placements.doc GROUP BY placements.doc, generation "
        "HAVING count(slot) <> last - first + 1",
        "document {!r}: generation {} should hold {} chunks and holds {}",
    ),
    (
        "SELECT id, generation, vectors, count(vectors.slot) FROM placements "
        "JOIN documents USING (doc) LEFT JOIN vectors ON slot BETWEEN first AND last "
        "GROUP BY placements.doc, generation HAVING count(vectors.slot) <> placements.vectors",
        "document {!r}: generation {} should hold {} vectors and holds {}",
    ),
    (
        "SELECT slot FROM chunks WHERE NOT EXISTS (SELECT 1 FROM placements "
        "WHERE placements.doc = chunks.doc AND slot BETWEEN first AND last)",
        "chunk in slot {}: belongs to no document",
    ),
    (
        "SELECT number FROM history WHERE doc NOT IN (SELECT doc FROM documents)",
        "earlier text number {}: belongs to no document",
    ),
    (
        "SELECT slot FROM chunks WHERE slot NOT IN (SELECT slot FROM features)",
        "chunk in slot {}: has no postings",
    ),
    (
        "SELECT slot FROM features WHERE slot NOT IN (SELECT slot FROM chunks)",
        "slot {}: postings without a chunk",
    ),
    (
        "SELECT slot FROM vectors WHERE slot NOT IN (SELECT slot FROM chunks) "
        "UNION SELECT slot FROM sentences WHERE slot NOT IN (SELECT slot FROM chunks) "
        "UNION SELECT slot FROM tokens WHERE slot NOT IN (SELECT slot FROM chunks)",
        "slot {}: vectors without a chunk",
    ),
    (
        "SELECT slot FROM placements JOIN generations ON id = generation "
        "JOIN vectors ON slot BETWEEN first AND last LEFT JOIN tokens USING (slot) WHERE "
        "(coalesce(json_extract(embedding, '$.token_dimensions'), 0) > 0) <> (codes IS NOT NULL)",
        "slot {}: token vectors are missing, or there are some where none should be",
    ),
    (
        "SELECT id, ordinal FROM chunks JOIN documents USING (doc) JOIN contents USING (doc) "
        "WHERE chunks.text <> substr(contents.text, "
        "coalesce(json_extract(location, '$.start'), 0) + 1, length(chunks.text)) "
        "OR length(chunks.text) <> json_extract(location, '$.end') "
        "- coalesce(json_extract(location, '$.start'), 0)",
        "chunk {}:c{}: its text is not that of its span",
    ),
    (
        "SELECT id FROM documents WHERE doc NOT IN (SELECT doc FROM placements "
        "JOIN generations ON id = generation WHERE state = 'active')",
        "document {!r}: is not in the active generation",
    ),
)


def _counts(connection: sqlite3.Connection) -> Iterator[str]:
    for statement, message in _COUNTS:
        for row in connection.execute(statement):
            yield message.format(*row)


def _features(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT slot, length, terms, counts, features.codes, scale, vector "
        "FROM features LEFT JOIN vectors USING (slot) ORDER BY slot"
    )
    for slot, length, terms, counts, codes, scale, vector in rows:
        frequencies = np.frombuffer(counts, "<u4")
        if len(terms) != 8 * len(frequencies) or int(frequencies.sum()) != length:
            yield f"slot {slot}: postings do not add up to its length {length}"
        if _coded(vector) != (codes, scale):
            yield f"slot {slot}: int8 codes are not those of its vector"


def _coded(vector: bytes | None) -> tuple[bytes, float]:
    if vector is None:
        return b"", 0.0
    codes, scales = quantize(np.frombuffer(vector, "<f4")[None])
    return codes.tobytes(), float(scales[0])


def _segments(connection: sqlite3.Connection, files: Files, generation: int) -> Iterator[str]:
    end = generation * SLOTS_PER_GENERATION - 1
    for row in read_segment_rows(connection, generation):
        path = files.generation(generation) / row.file
        wrong = verify_segment(path, row)
        if wrong is not None:
            yield f"segment {wrong}; readers use rows until the next compaction"
        elif row.first <= end:
            yield f"segment {row.file} overlaps the one before it"
        else:
            stored = list(read_parts(connection, row.first, row.last))
            if not _holds(open_segment(path, row), stored):
                yield f"segment {row.file} does not hold the chunks of its slots"
        end = row.last


def _holds(segment: Part, stored: list[Part]) -> bool:
    if not stored:
        return True
    if len(stored) > 1:
        return False
    part = stored[0]
    at = np.searchsorted(segment.slots, part.slots)
    if (at >= len(segment)).any() or not np.array_equal(segment.slots[at], part.slots):
        return False
    if part.dimensions and not np.array_equal(segment.codes[at], part.codes):
        return False
    return (
        np.array_equal(segment.lengths[at], part.lengths)
        and np.array_equal(segment.scales[at], part.scales)
        and _same_postings(segment, part, at)
    )


def _same_postings(segment: Part, part: Part, at: np.ndarray) -> bool:
    numbers = np.full(len(segment), -1, np.int64)
    numbers[at] = np.arange(len(part))
    terms, rows = segment.postings.entries()
    kept = numbers[rows] >= 0
    own_terms, own_rows = part.postings.entries()
    return bool(
        np.array_equal(terms[kept], own_terms)
        and np.array_equal(numbers[rows[kept]], own_rows)
        and np.array_equal(segment.postings.counts[kept], part.postings.counts)
    )
