"""The ports. Their docstrings are the contract; ``evidencedesk.testing`` has a suite for each.

A store is read through a :class:`Snapshot`, which is bound to one reader's access filter and one
committed state, and written through a :class:`Writer`, which cannot search.
"""

from __future__ import annotations

from collections.abc import Generator as Iteration
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evidencedesk.access import AccessFilter
from evidencedesk.model import (
    CallBounds,
    Candidates,
    Chunk,
    ChunkingSettings,
    Document,
    DocumentRecord,
    EmbeddingSpec,
    Generation,
    Hit,
    IndexedChunk,
    LogEntry,
    ParsedDocument,
    Reply,
    Request,
    StoreQuery,
    StreamItem,
    TokenVectors,
)
from evidencedesk.model.contents import Contents
from evidencedesk.model.feedback import Feedback
from evidencedesk.model.moving import MovedPiece
from evidencedesk.model.notice import Message, Notice, WaitingNotice
from evidencedesk.model.receipt import AuditEntry, AuditEvent, Receipt
from evidencedesk.model.source import SourceItem, Validators


class Clock(Protocol):
    """Where time comes from. Passed in, so that output can be reproduced byte for byte."""

    def now(self) -> datetime:
        """The time of day, UTC, aware."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""


class Parser(Protocol):
    """Turns the bytes of one format into canonical text with blocks and anchors.

    Run in a child process with limits when the bytes are untrusted. Never opens the network, a file
    or another program's output; everything it needs is in the bytes.
    """

    name: str
    version: str
    media_types: tuple[str, ...]

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse ``data``; ``file_name`` is a hint and is never opened.

        Raises:
            ParseError: with one of its codes when the content cannot be read.
            MetadataError: when front matter is wrong.
        """


class Container(Protocol):
    """The other half of a parser whose format holds files: archives, mailboxes, messages.

    Runs where the parser runs, under the same limits. Members are taken out in memory, become
    documents of their own, and are never trusted: what they say of rights can only narrow.
    """

    def members(self, data: bytes, file_name: str) -> Contents:
        """The files inside, their names cleaned and distinct, and those refused with the reason.

        Raises:
            ParseError: the file as a whole cannot be opened or may not be.
        """


class Detector(Protocol):
    """Finds one kind of personal data or secrets in a text.

    Attributes:
        kind: what it finds, in lower case; the placeholder is ``[KIND_1]``, ``[KIND_2]``, ...
    """

    kind: str

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans ``[start, end)`` in any order; they may overlap.

        ``text`` has digits of every script written as 0 to 9, compatibility forms (full width) as
        their plain ones, and no invisible characters.
        """


class Source(Protocol):
    """A place besides folders from which documents come: web pages, a site's map, a mailbox, a bucket.

    Folders are read by :func:`evidencedesk.ingestion.load.discover`. What any other source gives is
    not trusted: what a document says there of its own rights can only narrow.

    Attributes:
        root: recorded with every document of the source, so that a later run knows its own; a URL.
        complete: after ``items`` was read to its end, whether it named everything there is; only
            then may a document that did not come be taken for one that is gone.
    """

    root: str
    complete: bool

    def items(self, known: Mapping[str, Validators]) -> Iterator[SourceItem]:
        """What has become of each document, one after another, fetched when asked for.

        Nothing is raised for one document: a failure is an item, and the others go on.

        Args:
            known: what was said of documents the last time, by their address; only of those that
                need not come again when they are unchanged.
        """


class Embedder(Protocol):
    """A sentence embedding model. Deterministic: a text's vector does not depend on its batch."""

    @property
    def spec(self) -> EmbeddingSpec:
        """What the model is; recorded in the index."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of the texts (passage prefix added), shape (len(texts), dimensions)."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Unit vector of the question (query prefix added), shape (dimensions,)."""

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        """Token vectors of each text, as encoded inside that text."""


class Reranker(Protocol):
    """Scores question and passage together."""

    name: str

    def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The same hits, best first, with new ``score``."""


class Generator(Protocol):
    """Writes a reply to a request. What it says is not believed until it is verified."""

    name: str

    def generate(self, request: Request) -> Reply:
        """The reply; provider failures after bounded retries are a reply with that stop reason."""


@runtime_checkable
class StreamingGenerator(Generator, Protocol):
    """A generator that can hand over its reply while it is being written."""

    def stream(self, request: Request) -> Iterator[StreamItem]:
        """Pieces of the reply's text, then the whole :class:`Reply` as the last item.

        Closing the iterator stops the call. After a ``StreamBreak`` the reply begins anew; the last
        reply holds only what came since.

        Raises:
            CallCancelledError: ``request.cancelled`` says that whoever asked has gone.
        """


class Provider(Protocol):
    """A model behind a client library: one attempt at a reply.

    Retries, deadlines, fallbacks and cost are :mod:`evidencedesk.generation`'s, the same for all.

    Attributes:
        name: name of the adapter.
        model: name of the model as the provider knows it.
    """

    name: str
    model: str

    def call(
        self, request: Request, bounds: CallBounds, *, stream: bool
    ) -> Iteration[str | Reply, None, None]:
        """With ``stream``, pieces of the text as they come; then, always, the whole reply.

        ``bounds.remaining()`` is asked at least every tenth of a second while waiting, and what it
        raises goes on to the caller. Closing the iterator ends the call and its connection.

        Raises:
            ProviderError: the call failed; says whether trying again can help.
            CallCancelledError: whoever asked has gone.
        """

    def close(self) -> None:
        """Release connections, threads and memory. Using the provider again opens it again."""


class Judge(Protocol):
    """A second opinion on whether quotes bear a claim out."""

    name: str

    def supports(self, claim: str, quotes: Sequence[str]) -> bool:
        """True when the quotes bear the claim out.

        Raises:
            ModelError: when the judge cannot be asked; the claim then counts as unsupported.
        """


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

    def replace_document(
        self,
        document: Document,
        chunks: Mapping[int, Sequence[IndexedChunk]],
        *,
        replaces: str | None = None,
    ) -> None:
        """Store the document with its chunks for every live generation id, all old ones out.

        The text stored before, if it differs, becomes history. ``replaces`` names another document
        of the tenant, stored for the same source under the id it had before, that goes in the same
        transaction; its history goes with it.
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


class Ledger(Protocol):
    """Receipts, the keys of subjects, and one append-only audit chain per tenant.

    It trusts its caller: who may read a receipt is decided in :mod:`evidencedesk.records`. Every
    method that changes something is one transaction that holds its entry in the chain.
    """

    @property
    def writable(self) -> bool:
        """Whether receipts can be written here."""

    def revision(self) -> int:
        """Grows with every change to documents, rights or generations, and with nothing else."""

    def subject_key(self, tenant: str, subject: str, fresh: bytes) -> bytes:
        """The subject's key of 32 bytes; ``fresh`` becomes it when there is none."""

    def known_key(self, tenant: str, subject: str) -> bytes | None:
        """The subject's key, None when there is none (any more)."""

    def subjects(self, tenant: str) -> Mapping[str, bytes]:
        """Subjects that have keys, with their keys."""

    def append(
        self, event: AuditEvent, receipt: Receipt | None = None, *, key: bytes = b""
    ) -> AuditEntry:
        """Append to the chain of the event's tenant, and keep the receipt at that position.

        What was erased while the answer was written is not kept: pieces that may repeat a document
        that has gone, and all content once ``key``, its subject's, is nobody's any more.

        Raises:
            IndexUnavailableError: ``index_busy``, ``index_read_only`` or ``disk_full``.
        """

    def receipt(self, tenant: str, answer_id: str) -> Receipt | None:
        """The receipt of an answer, or None."""

    def receipts(
        self, tenant: str, *, subject: str | None = None, limit: int | None = None
    ) -> tuple[Receipt, ...]:
        """Receipts, newest first; of one subject (his keyed hash) when one is given."""

    def receipts_citing(self, tenant: str, documents: Sequence[str]) -> tuple[Receipt, ...]:
        """Receipts that cite any of the documents, newest first."""

    def erase_subject(self, event: AuditEvent, subject: str, subject_hash: str) -> int:
        """Delete the subject's key and the content of his receipts; how many receipts there were."""

    def erase_document(self, event: AuditEvent, document_id: str) -> int:
        """Delete what receipts quote of a document; how many did. ``remove_document`` does it too."""

    def expire(self, event: AuditEvent, before: datetime) -> int:
        """Delete receipts older than ``before``; nothing is appended when there are none."""

    def add_feedback(self, event: AuditEvent, feedback: Feedback) -> bool:
        """Keep what a reader says of an answer instead of what he said before.

        False, and nothing is appended, when there is no such receipt. Notes go with the content of
        the receipt, and with their writer's key.
        """

    def feedback(self, tenant: str, answer_id: str | None = None) -> tuple[Feedback, ...]:
        """What readers said of one answer, or of all; the newest first."""

    def entry(self, tenant: str, number: int) -> AuditEntry | None:
        """One entry of the chain."""

    def chain(self, tenant: str, *, newest: int | None = None) -> Iterator[AuditEntry]:
        """The chain of a tenant in order: all of it, or the last ``newest`` entries."""

    def tenants(self) -> tuple[str, ...]:
        """Tenants that have a chain, sorted."""


class Outbox(Protocol):
    """Notices that wait to be sent. Safe for threads and processes, and for several that send."""

    @property
    def writable(self) -> bool:
        """Whether notices can be put here."""

    def put(self, notice: Notice, channels: Iterable[str], due: datetime) -> None:
        """Keep the notice for each channel.

        Raises:
            IndexUnavailableError: ``index_busy``, ``index_read_only`` or ``disk_full``.
        """

    def waiting(self) -> tuple[WaitingNotice, ...]:
        """The thousand that are due first, those given up last."""

    def lease(self, waiting: WaitingNotice, until: datetime) -> bool:
        """Take it to be sent, so that nobody else does before ``until``; False when somebody did."""

    def sent(self, number: int) -> None:
        """Forget it."""

    def failed(self, number: int, due: datetime, failure: str) -> None:
        """Keep it for another attempt at ``due``."""


class Notifier(Protocol):
    """A way out to a person."""

    name: str

    def deliver(self, message: Message) -> None:
        """Hand the message over, once, in bounded time.

        Raises:
            NotificationError: it was not taken.
        """


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


__all__ = [
    "Clock",
    "Detector",
    "Embedder",
    "Generator",
    "Judge",
    "Ledger",
    "MovableStore",
    "Notifier",
    "Outbox",
    "Parser",
    "Provider",
    "Reranker",
    "Snapshot",
    "Source",
    "Store",
    "StreamingGenerator",
    "Writer",
]
