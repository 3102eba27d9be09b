"""What is stored, as its operator reads it to bring it up to date."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.postgres import failures, generations
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.shared.codecs import decode_document, decode_record
from evidencedesk.adapters.stores.shared.quantization import decode_vectors
from evidencedesk.adapters.stores.shared.token_codes import decode_stored
from evidencedesk.model import Document, DocumentRecord, Generation, TokenVectors

_RECORDS = """
SELECT record, coalesce(chunks, 0), coalesce(vectors, 0) FROM documents
LEFT JOIN placements ON placements.doc = documents.doc
    AND generation = (SELECT id FROM generations WHERE state = 'active')
WHERE tenant = %s
"""


class StoredDocuments:
    """The half of ``protocols.Writer`` that changes nothing."""

    def __init__(self, connection: Connection, address: Address) -> None:
        self._connection = connection
        self._address = address

    def record(self, tenant: str, document_id: str) -> DocumentRecord | None:
        """See ``protocols.Writer.record``; counts are those of the active generation."""
        with failures.translated(self._address):
            row = self._connection.execute(
                _RECORDS + "AND id = %s", (tenant, document_id)
            ).fetchone()
        return None if row is None else decode_record(*row)

    def records(self, tenant: str) -> Iterator[DocumentRecord]:
        """See ``protocols.Writer.records``."""
        with failures.translated(self._address):
            rows = self._connection.execute(_RECORDS + "ORDER BY id", (tenant,)).fetchall()
        return (decode_record(*row) for row in rows)

    def document(self, tenant: str, document_id: str) -> Document | None:
        """See ``protocols.Writer.document``."""
        with failures.translated(self._address):
            row = self._connection.execute(
                "SELECT record, text, anchors, boxes FROM documents WHERE tenant = %s AND id = %s",
                (tenant, document_id),
            ).fetchone()
        if row is None:
            return None
        record, text, *rest = row
        return decode_document(decode_record(record), text.decode(), *rest)

    def tenants(self) -> tuple[str, ...]:
        """See ``protocols.Writer.tenants``."""
        with failures.translated(self._address):
            found = self._connection.execute(
                'SELECT DISTINCT tenant COLLATE "C" AS tenant FROM documents ORDER BY tenant'
            ).fetchall()
        return tuple(tenant for (tenant,) in found)

    def generations(self) -> tuple[Generation, ...]:
        """See ``protocols.Writer.generations``."""
        with failures.translated(self._address):
            return generations.read_generations(self._connection)

    def cached_vectors(
        self, keys: Sequence[str]
    ) -> Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """See ``protocols.Writer.cached_vectors``.

        Sentence vectors come from their int8 codes; storing them again gives the same codes.
        """
        with failures.translated(self._address):
            found = self._connection.execute(
                "SELECT DISTINCT ON (embedding_key) embedding_key, vector, sentence_codes, "
                "sentence_scales FROM chunks WHERE embedding_key <> '' "
                "AND embedding_key = ANY (%s)",
                (list(keys),),
            ).fetchall()
        return {key: decode_vectors(*stored) for key, *stored in found}

    def cached_tokens(self, keys: Sequence[str]) -> Mapping[str, TokenVectors]:
        """See ``protocols.Writer.cached_tokens``."""
        with failures.translated(self._address):
            found = self._connection.execute(
                "SELECT DISTINCT ON (embedding_key) embedding_key, token_spans, token_codes, "
                "token_scales FROM chunks WHERE embedding_key <> '' "
                "AND token_codes IS NOT NULL AND embedding_key = ANY (%s)",
                (list(keys),),
            ).fetchall()
        return {key: decode_stored(*stored) for key, *stored in found}
