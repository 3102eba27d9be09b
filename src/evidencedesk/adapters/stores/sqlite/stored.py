"""What is stored, as its operator reads it to bring it up to date."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.codecs import decode_document, decode_record
from evidencedesk.adapters.stores.shared.quantization import decode_vectors
from evidencedesk.adapters.stores.shared.token_codes import decode_stored
from evidencedesk.adapters.stores.sqlite import generations
from evidencedesk.model import Document, DocumentRecord, Generation, TokenVectors

_RECORDS = """
SELECT record, coalesce(last - first + 1, 0), coalesce(vectors, 0) FROM documents
LEFT JOIN placements ON placements.doc = documents.doc
    AND generation = (SELECT id FROM generations WHERE state = 'active')
WHERE tenant = ?
"""


class StoredDocuments:
    """The half of ``protocols.Writer`` that changes nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def record(self, tenant: str, document_id: str) -> DocumentRecord | None:
        """See ``protocols.Writer.record``; counts are those of the active generation."""
        row = self._connection.execute(_RECORDS + "AND id = ?", (tenant, document_id)).fetchone()
        return None if row is None else decode_record(*row)

    def records(self, tenant: str) -> Iterator[DocumentRecord]:
        """See ``protocols.Writer.records``."""
        rows = self._connection.execute(_RECORDS + "ORDER BY id", (tenant,)).fetchall()
        return (decode_record(*row) for row in rows)

    def document(self, tenant: str, document_id: str) -> Document | None:
        """See ``protocols.Writer.document``."""
        row = self._connection.execute(
            "SELECT record, text, anchors, boxes FROM documents JOIN contents USING (doc) "
            "WHERE tenant = ? AND id = ?",
            (tenant, document_id),
        ).fetchone()
        return None if row is None else decode_document(decode_record(row[0]), *row[1:])

    def tenants(self) -> tuple[str, ...]:
        """See ``protocols.Writer.tenants``."""
        found = self._connection.execute("SELECT DISTINCT tenant FROM documents ORDER BY tenant")
        return tuple(tenant for (tenant,) in found)

    def generations(self) -> tuple[Generation, ...]:
        """See ``protocols.Writer.generations``."""
        return generations.read_generations(self._connection)

    def cached_vectors(
        self, keys: Sequence[str]
    ) -> Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """See ``protocols.Writer.cached_vectors``.

        Sentence vectors come from their int8 codes; storing them again gives the same codes.
        """
        found = self._connection.execute(
            "SELECT embedding_key, vector, codes, scales "
            "FROM vectors LEFT JOIN sentences USING (slot) WHERE embedding_key <> '' "
            "AND embedding_key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        )
        return {key: decode_vectors(*stored) for key, *stored in found}

    def cached_tokens(self, keys: Sequence[str]) -> Mapping[str, TokenVectors]:
        """See ``protocols.Writer.cached_tokens``."""
        found = self._connection.execute(
            "SELECT embedding_key, spans, codes, scales FROM vectors JOIN tokens USING (slot) "
            "WHERE embedding_key <> '' AND embedding_key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        )
        return {key: decode_stored(*stored) for key, *stored in found}
