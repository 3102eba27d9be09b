"""The operator's side: every method that changes something is one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from evidencedesk.adapters.stores.postgres import failures, generations, rows
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import Connection, take_time, transaction
from evidencedesk.adapters.stores.postgres.placing import place_chunks
from evidencedesk.adapters.stores.postgres.receipt_rows import blank_document
from evidencedesk.adapters.stores.postgres.stored import StoredDocuments
from evidencedesk.adapters.stores.shared import steps
from evidencedesk.adapters.stores.shared.codecs import encode_embedding, encode_entry
from evidencedesk.model import (
    ChunkingSettings,
    Document,
    EmbeddingSpec,
    Generation,
    IndexedChunk,
    LogEntry,
)
from evidencedesk.protocols import Clock


class PostgresWriter(StoredDocuments):
    """Changes documents, cannot search; see ``protocols.Writer``.

    Writers of different documents do not wait for one another; two writers of one document do.
    Beginning, switching and dropping a generation waits for all of them.
    """

    def __init__(
        self,
        connection: Connection,
        address: Address,
        clock: Clock,
        runtime: Mapping[str, str],
    ) -> None:
        super().__init__(connection, address)
        self._clock = clock
        self._runtime = runtime

    @contextmanager
    def together(self) -> Iterator[None]:
        """See ``protocols.Writer.together``. One transaction; its documents are held to the end."""
        with failures.translated(self._address), transaction(self._connection):
            yield

    def replace_document(
        self,
        document: Document,
        chunks: Mapping[int, Sequence[IndexedChunk]],
        *,
        replaces: str | None = None,
    ) -> None:
        """See ``protocols.Writer.replace_document``.

        Raises:
            IndexingError: ``generations_differ`` when ``chunks`` are not for exactly the live ones.
        """
        with self._changing(document.tenant, document.id, replaces):
            live = steps.matching(self.generations(), chunks)
            former = replaces and rows.find_document(self._connection, document.tenant, replaces)
            if former:
                rows.erase_document(self._connection, former)
            if replaces == document.id:
                blank_document(self._connection, document.tenant, document.id)
            doc = rows.put_document(self._connection, document, self._clock.now())
            self._place(doc, chunks, live)

    def update_document(self, document: Document) -> None:
        """See ``protocols.Writer.update_document``.

        Raises:
            IndexingError: ``document_missing``, or ``text_differs`` when the text is another one.
        """
        with self._changing(document.tenant, document.id):
            doc = self._doc(document.tenant, document.id)
            steps.refuse_other_text(self.record(document.tenant, document.id), document)
            moved = rows.anchors_differ(self._connection, doc, document)
            rows.put_document(self._connection, document, self._clock.now())
            rows.change_class(self._connection, doc)
            if moved:
                rows.move_chunks(self._connection, doc, document)

    def fill_vectors(
        self, tenant: str, document_id: str, chunks: Mapping[int, Sequence[IndexedChunk]]
    ) -> None:
        """See ``protocols.Writer.fill_vectors``. The chunks get new keys, at the end.

        Raises:
            IndexingError: ``document_missing`` or ``generation_missing``.
        """
        with self._changing(tenant, document_id):
            doc = self._doc(tenant, document_id)
            live = {number: self._generation(number) for number in chunks}
            record = self.record(tenant, document_id)
            if all(steps.cut_from(record, cut) for cut in chunks.values()):
                self._place(doc, chunks, live)

    def remove_document(self, tenant: str, document_id: str) -> bool:
        """See ``protocols.Writer.remove_document``."""
        with self._changing(tenant, document_id):
            doc = rows.find_document(self._connection, tenant, document_id)
            if doc is not None:
                rows.erase_document(self._connection, doc)
            # Also of a document that is gone: another server may have removed it before this one died.
            blank_document(self._connection, tenant, document_id)
        return doc is not None

    def append_log(self, entries: Sequence[LogEntry]) -> None:
        """See ``protocols.Writer.append_log``; who may see the document may see the entry."""
        with failures.translated(self._address), transaction(self._connection):
            for entry in entries:
                values = {
                    "tenant": entry.tenant,
                    "id": entry.document_id,
                    "entry": encode_entry(entry),
                }
                self._connection.execute(
                    "INSERT INTO log (tenant, document_id, entry, class) "
                    "VALUES (%(tenant)s, %(id)s, %(entry)s, coalesce("
                    "(SELECT class FROM documents WHERE tenant = %(tenant)s AND id = %(id)s), "
                    "(SELECT class FROM log WHERE tenant = %(tenant)s AND document_id = %(id)s "
                    "AND document_id <> '' ORDER BY number DESC LIMIT 1)))",
                    values,
                )

    def begin_generation(
        self, embedding: EmbeddingSpec | None, chunking: ChunkingSettings, normalisation: str
    ) -> Generation:
        """See ``protocols.Writer.begin_generation``."""
        with self._changing_generations():
            steps.refuse_second_building(self.generations())
            values = steps.generation_values(
                "building",
                embedding,
                chunking,
                normalisation,
                made=(self._clock.now(), self._runtime),
            )
            return generations.add_generation(self._connection, values)

    def put_chunks(
        self, generation: int, tenant: str, document_id: str, chunks: Sequence[IndexedChunk]
    ) -> None:
        """See ``protocols.Writer.put_chunks``.

        Raises:
            IndexingError: ``generation_missing``.
        """
        with self._changing(tenant, document_id):
            doc = rows.find_document(self._connection, tenant, document_id)
            live = {generation: self._generation(generation)}
            placed = doc is not None and rows.is_placed(self._connection, generation, doc)
            if doc is None or (placed and not chunks):
                return
            if steps.cut_from(self.record(tenant, document_id), chunks):
                self._place(doc, {generation: chunks}, live)

    def switch_generation(self, generation: int) -> None:
        """See ``protocols.Writer.switch_generation``.

        Raises:
            IndexingError: ``generation_missing`` or ``generation_incomplete``.
        """
        with self._changing_generations():
            generations.activate(self._connection, generation)

    def discard_generation(self, generation: int) -> None:
        """See ``protocols.Writer.discard_generation``.

        Raises:
            IndexingError: ``generation_missing`` or ``generation_active``.
        """
        with self._changing_generations():
            steps.refuse_active(self._generation(generation))
            generations.drop_generation(self._connection, generation)

    def set_embedding(self, generation: int, embedding: EmbeddingSpec) -> None:
        """See ``protocols.Writer.set_embedding``.

        Raises:
            IndexingError: ``generation_missing``.
        """
        with self._changing_generations():
            self._generation(generation)
            self._connection.execute(
                "UPDATE generations SET embedding = %s, runtime = %s WHERE id = %s",
                (encode_embedding(embedding), json.dumps(dict(self._runtime)), generation),
            )

    @contextmanager
    def _changing(self, tenant: str, *documents: str | None) -> Iterator[None]:
        """A transaction that changes these documents, which nobody else changes meanwhile."""
        with failures.translated(self._address), transaction(self._connection):
            generations.share(self._connection)
            for document_id in sorted({name for name in documents if name is not None}):
                rows.hold_document(self._connection, tenant, document_id)
            yield
            rows.count_revision(self._connection)

    @contextmanager
    def _changing_generations(self) -> Iterator[None]:
        with failures.translated(self._address), transaction(self._connection):
            generations.hold(self._connection)
            take_time(self._connection)
            yield
            rows.count_revision(self._connection)

    def _place(
        self,
        doc: int,
        chunks: Mapping[int, Sequence[IndexedChunk]],
        live: Mapping[int, Generation],
    ) -> None:
        for number, indexed in sorted(chunks.items()):
            place_chunks(self._connection, number, doc, indexed, embedding=live[number].embedding)

    def _generation(self, number: int) -> Generation:
        return generations.read_generation(self._connection, number)

    def _doc(self, tenant: str, document_id: str) -> int:
        doc = rows.find_document(self._connection, tenant, document_id)
        if doc is None:
            raise steps.no_document(tenant, document_id)
        return doc
