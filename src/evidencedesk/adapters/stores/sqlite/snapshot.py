"""The reader's side: one transaction, one filter."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evidencedesk.access import AccessFilter, Status
from evidencedesk.adapters.stores.shared.codecs import (
    decode_chunk,
    decode_document,
    decode_entry,
    decode_record,
)
from evidencedesk.adapters.stores.shared.quantization import unit_vectors
from evidencedesk.adapters.stores.shared.reading import (
    dimensions_of,
    place_of,
    refuse_other_dimensions,
)
from evidencedesk.adapters.stores.shared.token_codes import decode_tokens
from evidencedesk.adapters.stores.sqlite.access_classes import admitted
from evidencedesk.adapters.stores.sqlite.generations import read_generation
from evidencedesk.adapters.stores.sqlite.search import search
from evidencedesk.adapters.stores.sqlite.similarity import Products
from evidencedesk.adapters.stores.sqlite.state import State
from evidencedesk.model import (
    Candidates,
    Chunk,
    Document,
    DocumentRecord,
    Generation,
    LogEntry,
    StoreQuery,
    TokenVectors,
)

_CHUNKS = """
SELECT slot, documents.class, record, ordinal, location, context, chunks.text
FROM chunks JOIN documents USING (doc)
WHERE slot IN (SELECT value FROM json_each(?))
"""
_SENTENCES = """
SELECT slot, documents.class, codes, scales
FROM chunks JOIN documents USING (doc) LEFT JOIN sentences USING (slot)
WHERE slot IN (SELECT value FROM json_each(?))
"""
_TOKENS = """
SELECT slot, documents.class, spans, codes, scales
FROM chunks JOIN documents USING (doc) LEFT JOIN tokens USING (slot)
WHERE slot IN (SELECT value FROM json_each(?))
"""
_CHUNKS_OF_DOCUMENT = """
SELECT slot, documents.class, record, ordinal, location, context, chunks.text
FROM placements JOIN documents USING (doc) JOIN chunks ON slot BETWEEN first AND last
WHERE placements.doc = ?1 AND generation = ?2 AND ordinal = coalesce(?3, ordinal)
ORDER BY ordinal
"""


class SQLiteSnapshot:
    """One committed state seen through one access filter; see ``protocols.Snapshot``."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        state: State,
        access: AccessFilter,
        products: Products,
    ) -> None:
        self._connection = connection
        self._state = state
        self._access = access
        self._products = products
        self._view = state.view(access)
        self._generation = read_generation(connection, state.position.generation)

    @property
    def access(self) -> AccessFilter:
        """The filter it was opened with."""
        return self._access

    @property
    def generation(self) -> Generation:
        """The generation that answers."""
        return self._generation

    def search(self, query: StoreQuery) -> Candidates:
        """See ``protocols.Snapshot.search``.

        Vector statistics are of cosines from int8 codes, within 0.002 of those from float32.

        Raises:
            IndexMismatchError: when the question's vector has another length than the index's.
        """
        refuse_other_dimensions(query, self._generation)
        return search(self._connection, self._view, query, self._products)

    def sentence_vectors(self, keys: Sequence[int]) -> list[NDArray[np.float32]]:
        """See ``protocols.Snapshot.sentence_vectors``. Scaled to unit length."""
        wanted = [int(key) for key in keys]
        found = {
            slot: (codes or b"", scales or b"")
            for slot, number, codes, scales in self._connection.execute(
                _SENTENCES, (json.dumps(wanted),)
            )
            if number in self._view.admitted
        }
        return unit_vectors([found[key] for key in wanted], dimensions_of(self._generation))

    def token_vectors(self, keys: Sequence[int]) -> list[TokenVectors | None]:
        """See ``protocols.Snapshot.token_vectors``."""
        wanted = [int(key) for key in keys]
        found = {
            slot: decode_tokens(*stored)
            for slot, number, *stored in self._connection.execute(_TOKENS, (json.dumps(wanted),))
            if number in self._view.admitted
        }
        return [found[key] for key in wanted]

    def chunks(self, keys: Sequence[int]) -> tuple[Chunk, ...]:
        """See ``protocols.Snapshot.chunks``."""
        wanted = [int(key) for key in keys]
        rows = self._rows(wanted)
        return tuple(rows[key] for key in wanted)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """See ``protocols.Snapshot.chunk``."""
        place = place_of(chunk_id)
        found = self._chunks_of(*place) if place else ()
        return found[0] if found else None

    def document(self, document_id: str) -> Document | None:
        """See ``protocols.Snapshot.document``."""
        seen = self._seen(document_id)
        if seen is None:
            return None
        content = self._connection.execute(
            "SELECT text, anchors, boxes FROM contents WHERE doc = ?", (seen[0],)
        ).fetchone()
        return decode_document(seen[1], *content)

    def document_chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """See ``protocols.Snapshot.document_chunks``."""
        return self._chunks_of(document_id, None)

    def documents(self) -> Iterator[DocumentRecord]:
        """See ``protocols.Snapshot.documents``."""
        rows = self._connection.execute(
            "SELECT documents.class, record, last - first + 1, vectors "
            "FROM documents LEFT JOIN placements "
            "ON placements.doc = documents.doc AND generation = ? WHERE tenant = ? ORDER BY id",
            (self._generation.id, self._access.tenant),
        ).fetchall()
        for number, record, chunks, vectors in rows:
            if number in self._view.admitted:
                yield decode_record(record, chunks or 0, vectors or 0)

    def history(self, document_id: str) -> tuple[DocumentRecord, ...]:
        """See ``protocols.Snapshot.history``.

        An earlier version is shown when the reader's roles admit him to the document of now and,
        whatever its status, to that version as it was: publishing a document does not publish what
        was struck out of it.
        """
        return tuple(decode_record(record) for record, _ in self._versions(document_id))

    def historic_text(self, document_id: str, content_hash: str) -> str | None:
        """See ``protocols.Snapshot.historic_text``; shown under the same conditions as history."""
        for record, text in self._versions(document_id):
            if decode_record(record).content_hash == content_hash:
                return text
        return None

    def log(self, limit: int = 100) -> tuple[LogEntry, ...]:
        """See ``protocols.Snapshot.log``; newest first.

        Entries on a document that the filter does not admit now or, if it is gone, did not admit
        in the end are left out; the filter of whoever keeps the log should have all statuses.
        """
        if not (self._access.administrator or self._access.auditor):
            return ()
        rows = self._connection.execute(
            "SELECT entry, coalesce(documents.class, log.class) FROM log LEFT JOIN documents "
            "ON documents.tenant = log.tenant AND documents.id = log.document_id "
            "WHERE log.tenant = ? ORDER BY number DESC",
            (self._access.tenant,),
        )
        entries: list[LogEntry] = []
        for entry, number in rows:
            if len(entries) >= limit:
                break
            if number is None or number in self._view.admitted:
                entries.append(decode_entry(entry))
        return tuple(entries)

    def _chunks_of(self, document_id: str, ordinal: int | None) -> tuple[Chunk, ...]:
        seen = self._seen(document_id)
        if seen is None:
            return ()
        wanted = (seen[0], self._generation.id, ordinal)
        rows = self._connection.execute(_CHUNKS_OF_DOCUMENT, wanted)
        return tuple(chunk for _, chunk in self._decoded(rows))

    def _rows(self, keys: Sequence[int]) -> dict[int, Chunk]:
        rows = self._connection.execute(_CHUNKS, (json.dumps(keys),))
        found = dict(self._decoded(rows))
        for key in keys:
            if key not in found:
                raise KeyError(key)
        return found

    def _decoded(self, rows: sqlite3.Cursor) -> Iterator[tuple[int, Chunk]]:
        records: dict[str, DocumentRecord] = {}
        for slot, number, stored, *chunk in rows:
            if number not in self._view.admitted:
                continue
            if stored not in records:
                records[stored] = decode_record(stored)
            yield slot, decode_chunk(records[stored], *chunk)

    def _seen(self, document_id: str) -> tuple[int, DocumentRecord] | None:
        if any("\ud800" <= letter <= "\udfff" for letter in document_id):
            return None  # no text, so SQLite would not take it
        row = self._connection.execute(
            "SELECT doc, class, record FROM documents WHERE tenant = ? AND id = ?",
            (self._access.tenant, document_id),
        ).fetchone()
        if row is None or row[1] not in self._view.admitted:
            return None
        return row[0], decode_record(row[2])

    def _versions(self, document_id: str) -> list[tuple[str, str]]:
        seen = self._seen(document_id)
        if seen is None:
            return []
        open_to_reader = self._admitted_with_any_status()
        rows = self._connection.execute(
            "SELECT class, record, text FROM history WHERE doc = ? ORDER BY number DESC",
            (seen[0],),
        )
        return [(record, text) for number, record, text in rows if number in open_to_reader]

    def _admitted_with_any_status(self) -> frozenset[int]:
        return admitted(self._state.rules, replace(self._access, statuses=frozenset(Status)))
