"""The reader's side: one transaction, one filter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.search import search
from evidencedesk.adapters.stores.postgres.visible import Visible, read_visible
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

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_LARGEST_KEY = (1 << 63) - 1

_CHUNKS = """
SELECT slot, record, ordinal, location, context, chunks.text
FROM chunks JOIN documents USING (doc)
WHERE slot = ANY (%(slots)s::bigint[]) AND chunks.class = ANY (%(classes)s::integer[])
    AND documents.class = ANY (%(classes)s::integer[])
"""
_CHUNKS_OF_DOCUMENT = """
SELECT slot, record, ordinal, location, context, chunks.text
FROM placements JOIN documents USING (doc)
JOIN chunks ON slot BETWEEN place << 20 AND (place << 20) + placements.chunks
WHERE placements.doc = %(doc)s AND generation = %(generation)s
    AND placements.class = ANY (%(classes)s::integer[])
    AND documents.class = ANY (%(classes)s::integer[])
    AND ordinal = coalesce(%(ordinal)s::integer, ordinal)
    AND chunks.class = ANY (%(classes)s::integer[])
ORDER BY ordinal
"""


class PostgresSnapshot:
    """One committed state seen through one access filter; see ``protocols.Snapshot``."""

    def __init__(
        self,
        connection: Connection,
        generation: Generation,
        access: AccessFilter,
        classes: frozenset[int],
        classes_of_any_status: frozenset[int],
    ) -> None:
        self._connection = connection
        self._generation = generation
        self._access = access
        self._classes = sorted(classes)
        self._classes_of_any_status = sorted(classes_of_any_status)
        self._visible: Visible | None = None

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
        if self._visible is None:
            self._visible = read_visible(
                self._connection, self._generation.id, frozenset(self._classes)
            )
        return search(self._connection, self._visible, query)

    def sentence_vectors(self, keys: Sequence[int]) -> list[NDArray[np.float32]]:
        """See ``protocols.Snapshot.sentence_vectors``. Scaled to unit length."""
        wanted = [int(key) for key in keys]
        rows = self._connection.execute(
            "SELECT slot, sentence_codes, sentence_scales FROM chunks "
            "WHERE slot = ANY (%s::bigint[]) AND class = ANY (%s::integer[])",
            (_storable_keys(wanted), self._classes),
            binary=True,
        ).fetchall()
        found = {slot: (codes or b"", scales or b"") for slot, codes, scales in rows}
        return unit_vectors([found[key] for key in wanted], dimensions_of(self._generation))

    def token_vectors(self, keys: Sequence[int]) -> list[TokenVectors | None]:
        """See ``protocols.Snapshot.token_vectors``."""
        wanted = [int(key) for key in keys]
        rows = self._connection.execute(
            "SELECT slot, token_spans, token_codes, token_scales FROM chunks "
            "WHERE slot = ANY (%s::bigint[]) AND class = ANY (%s::integer[])",
            (_storable_keys(wanted), self._classes),
            binary=True,
        ).fetchall()
        found = {slot: decode_tokens(*stored) for slot, *stored in rows}
        return [found[key] for key in wanted]

    def chunks(self, keys: Sequence[int]) -> tuple[Chunk, ...]:
        """See ``protocols.Snapshot.chunks``."""
        wanted = [int(key) for key in keys]
        rows = self._connection.execute(
            _CHUNKS, {"slots": _storable_keys(wanted), "classes": self._classes}
        )
        found = dict(_decoded(rows))
        return tuple(found[key] for key in wanted)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """See ``protocols.Snapshot.chunk``."""
        place = place_of(chunk_id)
        found = self._chunks_of(*place) if place else ()
        return found[0] if found else None

    def document(self, document_id: str) -> Document | None:
        """See ``protocols.Snapshot.document``."""
        seen = self._seen(document_id, "record, text, anchors, boxes")
        if seen is None:
            return None
        record, text, *anchors = seen
        return decode_document(decode_record(record), text.decode(), *anchors)

    def document_chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """See ``protocols.Snapshot.document_chunks``."""
        return self._chunks_of(document_id, None)

    def documents(self) -> Iterator[DocumentRecord]:
        """See ``protocols.Snapshot.documents``."""
        rows = self._connection.execute(
            "SELECT record, coalesce(chunks, 0), coalesce(vectors, 0) "
            "FROM documents LEFT JOIN placements "
            "ON placements.doc = documents.doc AND generation = %s "
            "AND placements.class = ANY (%s::integer[]) "
            "WHERE tenant = %s AND documents.class = ANY (%s::integer[]) ORDER BY id",
            (self._generation.id, self._classes, self._access.tenant, self._classes),
        ).fetchall()
        return (decode_record(*row) for row in rows)

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
                return text.decode()
        return None

    def log(self, limit: int = 100) -> tuple[LogEntry, ...]:
        """See ``protocols.Snapshot.log``; newest first.

        Entries on a document that the filter does not admit now or, if it is gone, did not admit
        in the end are left out; the filter of whoever keeps the log should have all statuses.
        """
        if not (self._access.administrator or self._access.auditor):
            return ()
        rows = self._connection.execute(
            "SELECT entry FROM log WHERE tenant = %s "
            "AND (class IS NULL OR class = ANY (%s::integer[])) ORDER BY number DESC LIMIT %s",
            (self._access.tenant, self._classes, max(0, limit)),
        ).fetchall()
        return tuple(decode_entry(entry) for (entry,) in rows)

    def _chunks_of(self, document_id: str, ordinal: int | None) -> tuple[Chunk, ...]:
        seen = self._seen(document_id, "doc")
        if seen is None:
            return ()
        rows = self._connection.execute(
            _CHUNKS_OF_DOCUMENT,
            {
                "doc": seen[0],
                "generation": self._generation.id,
                "ordinal": ordinal,
                "classes": self._classes,
            },
        )
        return tuple(chunk for _, chunk in _decoded(rows))

    def _seen(self, document_id: str, columns: str) -> tuple[Any, ...] | None:
        if _UNSTORABLE.search(document_id):
            return None
        return self._connection.execute(
            f"SELECT {columns} FROM documents "  # noqa: S608 - fixed texts
            "WHERE tenant = %s AND id = %s AND class = ANY (%s::integer[])",
            (self._access.tenant, document_id, self._classes),
        ).fetchone()

    def _versions(self, document_id: str) -> list[tuple[str, bytes]]:
        seen = self._seen(document_id, "doc")
        if seen is None:
            return []
        return self._connection.execute(
            "SELECT record, text FROM history WHERE doc = %s AND class = ANY (%s::integer[]) "
            "ORDER BY number DESC",
            (seen[0], self._classes_of_any_status),
        ).fetchall()


def _decoded(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Chunk]]:
    records: dict[str, DocumentRecord] = {}
    for slot, stored, ordinal, location, context, text in rows:
        if stored not in records:
            records[stored] = decode_record(stored)
        chunk = decode_chunk(records[stored], ordinal, location, context.decode(), text.decode())
        yield slot, chunk


def _storable_keys(keys: Sequence[int]) -> list[int]:
    return [key for key in keys if 0 <= key <= _LARGEST_KEY]
