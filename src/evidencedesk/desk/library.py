"""The documents and chunks of an index, as one reader sees them."""

from __future__ import annotations

from collections.abc import Iterable

from evidencedesk.access import DEFAULT_STATUSES, Principal, Status
from evidencedesk.desk.index import OpenIndex
from evidencedesk.desk.versions import Version, diff_versions, found_or_raise, versions_of
from evidencedesk.model import Chunk, Document, DocumentRecord, LogEntry
from evidencedesk.text.near_duplicates import NearDuplicates, near_duplicates


class Library:
    """Looking things up. Every method takes the reader, and shows what he may see."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def chunk(
        self,
        chunk_id: str,
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> Chunk:
        """The chunk called ``chunk_id``.

        Raises:
            UsageError: ``not_found``, the same whether it is not there or not permitted.
        """
        with self._index.reading(principal, statuses) as snapshot:
            return found_or_raise(snapshot.chunk(chunk_id), "chunk", chunk_id)

    def document(
        self,
        document_id: str,
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> Document:
        """The document called ``document_id`` with its text.

        Raises:
            UsageError: ``not_found``, the same whether it is not there or not permitted.
        """
        with self._index.reading(principal, statuses) as snapshot:
            return found_or_raise(snapshot.document(document_id), "document", document_id)

    def documents(
        self, *, principal: Principal, statuses: Iterable[Status] = DEFAULT_STATUSES
    ) -> tuple[DocumentRecord, ...]:
        """All documents that ``principal`` may see, by id."""
        with self._index.reading(principal, statuses) as snapshot:
            return tuple(snapshot.documents())

    def history(
        self,
        document_id: str,
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> tuple[DocumentRecord, ...]:
        """Earlier versions of a document, newest first.

        Raises:
            UsageError: ``not_found``, the same whether it is not there or not permitted.
        """
        with self._index.reading(principal, statuses) as snapshot:
            found_or_raise(snapshot.document(document_id), "document", document_id)
            return snapshot.history(document_id)

    def diff(
        self,
        document_id: str,
        *,
        principal: Principal,
        old: str | None = None,
        new: str | None = None,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> str:
        """Unified diff between two texts of a document; empty when there is no earlier one.

        Args:
            document_id: the document.
            principal: who reads.
            old: content hash of the earlier text, or the beginning of it; the last one when None.
            new: of the later text; the one of now when None.
            statuses: statuses looked at.

        Raises:
            UsageError: ``not_found``.
        """
        with self._index.reading(principal, statuses) as snapshot:
            return diff_versions(snapshot, document_id, old, new)

    def versions(
        self,
        document_id: str,
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> tuple[Version, ...]:
        """All versions of a document with their sizes, the one of now first.

        Raises:
            UsageError: ``not_found``, the same whether it is not there or not permitted.
        """
        with self._index.reading(principal, statuses) as snapshot:
            return versions_of(snapshot, document_id)

    def duplicates(
        self,
        *,
        principal: Principal,
        threshold: float = 0.8,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> tuple[NearDuplicates, ...]:
        """Pairs of documents that ``principal`` may see and that are nearly or wholly the same."""
        with self._index.reading(principal, statuses) as snapshot:
            documents = (snapshot.document(record.id) for record in snapshot.documents())
            texts = ((each.id, each.text) for each in documents if each is not None)
            return tuple(near_duplicates(texts, threshold=threshold))

    def log(self, *, principal: Principal, limit: int = 100) -> tuple[LogEntry, ...]:
        """Newest entries of the ingestion log; empty unless he is an administrator or an auditor."""
        with self._index.reading(principal, DEFAULT_STATUSES) as snapshot:
            return snapshot.log(limit)
