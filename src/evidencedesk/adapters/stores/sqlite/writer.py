"""The operator's side: every method that changes something is one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from evidencedesk.adapters.stores.shared import steps
from evidencedesk.adapters.stores.shared.codecs import encode_embedding, encode_entry
from evidencedesk.adapters.stores.sqlite import generations, rows
from evidencedesk.adapters.stores.sqlite.compaction import compact, tail_of
from evidencedesk.adapters.stores.sqlite.connections import Files, begin, transaction
from evidencedesk.adapters.stores.sqlite.receipt_rows import blank_document
from evidencedesk.adapters.stores.sqlite.stored import StoredDocuments
from evidencedesk.model import (
    ChunkingSettings,
    Document,
    EmbeddingSpec,
    Generation,
    IndexedChunk,
    LogEntry,
)
from evidencedesk.protocols import Clock


class SQLiteWriter(StoredDocuments):
    """Changes documents, cannot search; see ``protocols.Writer``."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        files: Files,
        clock: Clock,
        runtime: Mapping[str, str],
        compact_after: int,
    ) -> None:
        super().__init__(connection)
        self._files = files
        self._clock = clock
        self._runtime = runtime
        self._compact_after = compact_after
        self._shared = False
        self._durable = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """See ``protocols.Writer.together``."""
        self._shared = True
        try:
            yield
            self._end()
        finally:
            self._shared = False
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        self._compact_if_long()

    @contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[None]:
        """A transaction of its own, or inside :meth:`together` a part of the one that is open."""
        if not self._shared:
            with transaction(self._connection, durable=durable):
                yield
            return
        if durable and not self._durable:
            self._end()
        if not self._connection.in_transaction:
            begin(self._connection, durable=durable)
            self._durable = durable
        whole = False
        try:
            yield
            whole = True
        finally:
            if not whole and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _end(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

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
        durable = replaces is not None or rows.rights_change(self._connection, document)
        with self._transaction(durable=durable):
            live = steps.matching(self.generations(), chunks)
            sequence = rows.next_sequence(self._connection)
            former = replaces and rows.find_document(self._connection, document.tenant, replaces)
            if former:
                rows.erase_document(self._connection, sequence, former)
            if replaces == document.id:
                blank_document(self._connection, document.tenant, document.id)
            doc = rows.put_document(self._connection, document, self._clock.now())
            self._place(sequence, doc, chunks, live)
        self._compact_if_long()

    def update_document(self, document: Document) -> None:
        """See ``protocols.Writer.update_document``.

        Raises:
            IndexingError: ``document_missing``, or ``text_differs`` when the text is another one.
        """
        with self._transaction():
            doc = self._doc(document.tenant, document.id)
            steps.refuse_other_text(self.record(document.tenant, document.id), document)
            sequence = rows.next_sequence(self._connection)
            moved = rows.anchors_differ(self._connection, doc, document)
            rows.put_document(self._connection, document, self._clock.now())
            rows.change_class(self._connection, sequence, doc)
            if moved:
                rows.move_chunks(self._connection, doc, document)

    def fill_vectors(
        self, tenant: str, document_id: str, chunks: Mapping[int, Sequence[IndexedChunk]]
    ) -> None:
        """See ``protocols.Writer.fill_vectors``. The chunks get new keys, at the end.

        Raises:
            IndexingError: ``document_missing`` or ``generation_missing``.
        """
        with self._transaction(durable=False):
            doc = self._doc(tenant, document_id)
            live = {number: self._generation(number) for number in chunks}
            record = self.record(tenant, document_id)
            if all(steps.cut_from(record, cut) for cut in chunks.values()):
                self._place(rows.next_sequence(self._connection), doc, chunks, live)
        self._compact_if_long()

    def remove_document(self, tenant: str, document_id: str) -> bool:
        """See ``protocols.Writer.remove_document``."""
        with self._transaction():
            doc = rows.find_document(self._connection, tenant, document_id)
            if doc is None:
                return False
            rows.erase_document(self._connection, rows.next_sequence(self._connection), doc)
            blank_document(self._connection, tenant, document_id)
        return True

    def append_log(self, entries: Sequence[LogEntry]) -> None:
        """See ``protocols.Writer.append_log``; who may see the document may see the entry."""
        with self._transaction(durable=False):
            self._connection.executemany(
                "INSERT INTO log (tenant, document_id, entry, class) VALUES (?1, ?2, ?3, coalesce("
                "(SELECT class FROM documents WHERE tenant = ?1 AND id = ?2), "
                "(SELECT class FROM log WHERE tenant = ?1 AND document_id = ?2 AND ?2 <> '' "
                "ORDER BY number DESC LIMIT 1)))",
                [(entry.tenant, entry.document_id, encode_entry(entry)) for entry in entries],
            )

    def begin_generation(
        self, embedding: EmbeddingSpec | None, chunking: ChunkingSettings, normalisation: str
    ) -> Generation:
        """See ``protocols.Writer.begin_generation``."""
        with self._transaction():
            steps.refuse_second_building(self.generations())
            rows.next_sequence(self._connection)
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
        with self._transaction(durable=False):
            doc = rows.find_document(self._connection, tenant, document_id)
            live = {generation: self._generation(generation)}
            placed = doc is not None and rows.is_placed(self._connection, generation, doc)
            if doc is None or (placed and not chunks):
                return
            if steps.cut_from(self.record(tenant, document_id), chunks):
                sequence = rows.next_sequence(self._connection)
                self._place(sequence, doc, {generation: chunks}, live)
        self._compact_if_long()

    def switch_generation(self, generation: int) -> None:
        """See ``protocols.Writer.switch_generation``.

        Raises:
            IndexingError: ``generation_missing`` or ``generation_incomplete``.
        """
        with self._transaction():
            rows.next_sequence(self._connection)
            generations.activate(self._connection, generation)

    def discard_generation(self, generation: int) -> None:
        """See ``protocols.Writer.discard_generation``.

        Raises:
            IndexingError: ``generation_missing`` or ``generation_active``.
        """
        with self._transaction():
            steps.refuse_active(self._generation(generation))
            rows.next_sequence(self._connection)
            generations.drop_generation(self._connection, generation)
        self._end()
        compact(self._connection, self._files)

    def set_embedding(self, generation: int, embedding: EmbeddingSpec) -> None:
        """See ``protocols.Writer.set_embedding``.

        Raises:
            IndexingError: ``generation_missing``.
        """
        with self._transaction():
            self._generation(generation)
            rows.next_sequence(self._connection)
            self._connection.execute(
                "UPDATE generations SET embedding = ?, runtime = ? WHERE id = ?",
                (encode_embedding(embedding), json.dumps(dict(self._runtime)), generation),
            )

    def _place(
        self,
        sequence: int,
        doc: int,
        chunks: Mapping[int, Sequence[IndexedChunk]],
        live: Mapping[int, Generation],
    ) -> None:
        for number, indexed in sorted(chunks.items()):
            embedding = live[number].embedding
            rows.place_chunks(self._connection, sequence, number, doc, indexed, embedding=embedding)

    def _generation(self, number: int) -> Generation:
        return generations.read_generation(self._connection, number)

    def _doc(self, tenant: str, document_id: str) -> int:
        doc = rows.find_document(self._connection, tenant, document_id)
        if doc is None:
            raise steps.no_document(tenant, document_id)
        return doc

    def _compact_if_long(self) -> None:
        if not self._shared and tail_of(self._connection) >= self._compact_after:
            compact(self._connection, self._files, tail=self._compact_after)
