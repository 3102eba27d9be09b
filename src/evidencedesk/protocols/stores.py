"""Stores: one reader's view, the operator's side, and both together.

A store is read through a :class:`Snapshot`, which is bound to one reader's access filter and one
committed state, and written through a :class:`Writer`, which cannot search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evidencedesk.access import AccessFilter
from evidencedesk.model import (
    Candidates,
    Chunk,
    ChunkingSettings,
    Document,
    DocumentRecord,
    EmbeddingSpec,
    Generation,
    IndexedChunk,
    LogEntry,
    StoreQuery,
    TokenVectors,
)
from evidencedesk.model.moving import MovedPiece
from evidencedesk.protocols.ledgers import Ledger, Outbox


class Snapshot(Protocol):
    """One reader's view of one committed state. Holds nothing that its access filter does not admit.

    Everything it returns, scores and statistics included, is a function of the admitted documents
    and of the order in which they were indexed, and of nothing else.
    """

    @property
    def access(self) -> AccessFilter:
        """The filter it was opened with."""

    @property
    def generation(self) -> Generation:
        """The generation that answers."""

    def search(self, query: StoreQuery) -> Candidates:
        """The best by keyword and the best by vector, with statistics over everything visible.

        BM25 with k1 = 1.2, b = 0.75 and idf = ln(1 + (N - df + 0.5) / (df + 0.5)), where N, df and
        the average length are over visible chunks of the active generation (Robertson and
        Zaragoza, The Probabilistic Relevance Framework, 2009). Ties are broken by key.
        """

    def sentence_vectors(self, keys: Sequence[int]) -> list[NDArray[np.float32]]:
        """Sentence vectors of the chunks, each of shape (sentences, dimensions); none: (0, d)."""

    def token_vectors(self, keys: Sequence[int]) -> list[TokenVectors | None]:
        """Token vectors of the chunks, spans in their texts; None for one that has none stored.

        Raises:
            KeyError: a key that this snapshot does not hold.
        """

    def chunks(self, keys: Sequence[int]) -> tuple[Chunk, ...]:
        """The chunks with these keys, in the order of the keys.

        Raises:
            KeyError: a key that this snapshot does not hold.
        """

    def chunk(self, chunk_id: str) -> Chunk | None:
        """The chunk, or None when there is none that this reader may see."""

    def document(self, document_id: str) -> Document | None:
        """The document with its text, blocks and boxes, or None when there is none to be seen."""

    def document_chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """The chunks of a visible document in order; empty when there is none to be seen."""

    def documents(self) -> Iterator[DocumentRecord]:
        """Records of all visible documents, by id."""

    def history(self, document_id: str) -> tuple[DocumentRecord, ...]:
        """Earlier versions of a visible document, newest first."""

    def historic_text(self, document_id: str, content_hash: str) -> str | None:
        """Canonical text of an earlier version of a visible document, or None."""

    def log(self, limit: int = 100) -> tuple[LogEntry, ...]:
        """Newest entries of the tenant's ingestion log; for administrators and auditors, else empty."""


class Writer(Protocol):
    """The operator's side of a store: changes documents, cannot search.

    Each method that changes something is one transaction: readers see all of it or nothing, and a
    process killed at any instant leaves all of it or nothing.
    """

    def together(self) -> AbstractContextManager[None]:
        """Let the changes made inside share transactions, which is faster for many small ones.

        Each is still seen whole or not at all, and all are seen when it ends. When something is
        raised inside, changes not seen yet are undone.
        """

    def record(self, tenant: str, document_id: str) -> DocumentRecord | None:
        """What is stored under this key, or None."""

    def records(self, tenant: str) -> Iterator[DocumentRecord]:
        """Records of all documents of the tenant, by id."""

    def document(self, tenant: str, document_id: str) -> Document | None:
        """The stored document with its text, for re-chunking; or None."""

    def tenants(self) -> tuple[str, ...]:
        """Tenants that have documents, sorted."""

    def generations(self) -> tuple[Generation, ...]:
        """Generations that take writes, by id; exactly one is active."""

    def cached_vectors(
        self, keys: Sequence[str]
    ) -> Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """For each embedding key already stored: (vector, sentence vectors)."""

    def cached_tokens(self, keys: Sequence[str]) -> Mapping[str, TokenVectors]:
        """For each embedding key stored with token vectors: these. Storing them changes no bit."""

    def replace_document(
        self,
        document: Document,
        chunks: Mapping[int, Sequence[IndexedChunk]],
        *,
        replaces: str | None = None,
    ) -> None:
        """Store the document with its chunks for every live generation id, all old ones out.

        The text stored before, if it differs, becomes history. ``replaces`` names a document of the
        tenant that goes in the same transaction, its history with it: another one, stored for the
        same source under the id it had before; or this one, when nothing earlier of it may stay.
        Then what receipts quote of it goes, too.
        """

    def update_document(self, document: Document) -> None:
        """Change rights, status, owner, version, source, file hash and locations; text unchanged.

        Chunk locations are moved by re-locating each stored chunk's span in ``document``.
        Takes effect at once, without embedding.
        """

    def fill_vectors(
        self, tenant: str, document_id: str, chunks: Mapping[int, Sequence[IndexedChunk]]
    ) -> None:
        """Give vectors to the chunks of an unchanged document, without any instant without them."""

    def remove_document(self, tenant: str, document_id: str) -> bool:
        """Remove chunks, vectors, postings, text and history; False when there was none."""

    def append_log(self, entries: Sequence[LogEntry]) -> None:
        """Append to the ingestion log."""

    def begin_generation(
        self, embedding: EmbeddingSpec | None, chunking: ChunkingSettings, normalisation: str
    ) -> Generation:
        """A new generation in state ``building``; documents must then be replaced into it.

        Raises:
            IndexingError: ``generation_exists`` when one is being built already.
        """

    def put_chunks(
        self, generation: int, tenant: str, document_id: str, chunks: Sequence[IndexedChunk]
    ) -> None:
        """Store the chunks of one document in one generation.

        Nothing is stored when the document has gone or its text is no longer the one that the
        chunks were cut from: whoever changed it wrote its new chunks to every generation.
        """

    def switch_generation(self, generation: int) -> None:
        """Make it active in one step; the one active before becomes ``previous``."""

    def discard_generation(self, generation: int) -> None:
        """Drop a generation that is not active."""

    def set_embedding(self, generation: int, embedding: EmbeddingSpec) -> None:
        """Record the model of a keyword-only generation that is now given vectors."""


class Store(Protocol):
    """Where documents, chunks, vectors and postings live. Safe for threads and processes."""

    def read(
        self, *, access: AccessFilter, generation: int | None = None
    ) -> AbstractContextManager[Snapshot]:
        """A snapshot of the latest committed state, seen through ``access``. Never blocks.

        Of the active generation, or of the one named: so a generation can be judged before it
        answers.

        Raises:
            IndexingError: ``generation_missing``.
        """

    def write(self) -> AbstractContextManager[Writer]:
        """A writer.

        Raises:
            IndexUnavailableError: ``index_busy``, ``index_read_only`` or ``disk_full``.
        """

    def ledger(self) -> Ledger:
        """Receipts of answers and the audit chain, kept with the documents."""

    def outbox(self) -> Outbox:
        """Notices that wait to be sent, kept with the documents."""

    def check(self) -> tuple[str, ...]:
        """Everything that does not agree (hashes, counts, vectors, postings); empty when all does."""

    def close(self) -> None:
        """Release files; the store must not be used afterwards."""


@runtime_checkable
class MovableStore(Store, Protocol):
    """A store whose whole content can go into another, or into a backup, and come back."""

    def pieces(self) -> AbstractContextManager[Iterator[MovedPiece]]:
        """Everything of one committed state, while others go on writing.

        In the order of ``model.moving.MovedPiece``. For operators: no filter is applied.
        """

    def fill(self, pieces: Iterable[MovedPiece]) -> None:
        """Take in what another store's pieces gave, all or nothing; generations keep their numbers.

        Raises:
            IndexingError: ``index_not_empty``: this store holds something already.
        """
