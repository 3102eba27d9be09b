"""What the index holds and who may see it, as its operator knows it: the measure of what is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from evidencedesk.access import AccessFilter, AccessRule, Principal, Status
from evidencedesk.errors import GoldenSetError, UsageError
from evidencedesk.evaluation.golden import GoldenQuestion, GoldenSet, Label, Reader
from evidencedesk.model import Document, DocumentRecord, Hit
from evidencedesk.pipeline import Explanation
from evidencedesk.text.folding import fold_text


class Asker(Protocol):
    """What is measured: a desk, or anything that answers as one does."""

    def explain(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status],
        threshold: float | None = None,
    ) -> Explanation:
        """The answer with everything that led to it."""

    def search(
        self, query: str, *, principal: Principal, statuses: Iterable[Status], k: int | None = None
    ) -> tuple[Hit, ...]:
        """The best chunks, best first."""


class Library(Protocol):
    """Where documents and rights are read from; a desk is one."""

    def documents(
        self, *, principal: Principal, statuses: Iterable[Status]
    ) -> tuple[DocumentRecord, ...]:
        """All documents that the principal may see."""

    def document(
        self, document_id: str, *, principal: Principal, statuses: Iterable[Status]
    ) -> Document:
        """One document with its text."""


@dataclass(frozen=True, slots=True)
class StaleRow:
    """A row that no longer fits the index.

    Attributes:
        question_id: the row.
        message: what does not fit, for a person.
    """

    question_id: str
    message: str


class Corpus:
    """The documents of the tenants that a golden set asks about.

    Rights are judged here from each document's rule and the pure function of ``access``, never by
    asking the store what it admits: a store that admits too much is found out.
    """

    def __init__(self, library: Library, tenants: Iterable[str]) -> None:
        self._library = library
        self._records = {
            (tenant, record.id): record
            for tenant in sorted(set(tenants))
            for record in library.documents(principal=_operator(tenant), statuses=tuple(Status))
        }
        self._texts: dict[tuple[str, str], Document | None] = {}

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of every document's id, content and rights."""
        lines = [
            repr((key, r.content_hash, sorted(r.roles), sorted(r.deny), r.status, r.title))
            for key, r in sorted(self._records.items())
        ]
        return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def knows(self, tenant: str, document_id: str) -> bool:
        """Whether there is such a document."""
        return (tenant, document_id) in self._records

    def admits(self, reader: Reader, document_id: str) -> bool:
        """Whether the reader may see the document; False when there is none."""
        record = self._records.get((reader.tenant, document_id))
        if record is None:
            return False
        access = AccessFilter.for_principal(reader.principal, reader.statuses)
        rule = AccessRule(record.tenant, record.roles, record.deny, Status(record.status))
        return access.admits(rule)

    def document(self, tenant: str, document_id: str) -> Document | None:
        """The document with its text, or None when it has gone."""
        key = (tenant, document_id)
        if key not in self._texts:
            self._texts[key] = self._read(tenant, document_id)
        return self._texts[key]

    def stale_rows(self, golden: GoldenSet) -> tuple[StaleRow, ...]:
        """Rows whose documents, rights or quotes are not what the row says, with the reason."""
        found = []
        for question in golden.questions:
            message = self._stale(question)
            if message:
                found.append(StaleRow(question.id, message))
        return tuple(found)

    def _stale(self, question: GoldenQuestion) -> str:
        reader = question.reader
        for name in (*sorted(question.relevant), *question.hidden):
            if not self.knows(reader.tenant, name):
                return f"there is no document {name!r} in tenant {reader.tenant!r}"
        for name in sorted(question.relevant):
            if question.label is Label.ANSWERABLE and not self.admits(reader, name):
                return f"this reader may not see {name!r}"
        for name in question.hidden:
            if self.admits(reader, name):
                return f"this reader may see {name!r}"
        missing = [quote for quote in question.quotes if not self._stands(quote, question)]
        return f"no expected document holds {missing[0]!r}" if missing else ""

    def _stands(self, quote: str, question: GoldenQuestion) -> bool:
        texts = [self.document(question.reader.tenant, name) for name in question.documents]
        return any(text is not None and holds(text.text, quote) for text in texts)

    def _read(self, tenant: str, document_id: str) -> Document | None:
        try:
            return self._library.document(
                document_id, principal=_operator(tenant), statuses=tuple(Status)
            )
        except UsageError:
            return None


def holds(text: str, words: str) -> bool:
    """Whether ``words`` stand in ``text``, both folded as quotes are."""
    return fold_text(words).strip() in fold_text(text)


def usable(golden: GoldenSet, stale: Iterable[StaleRow]) -> GoldenSet:
    """The set without its stale rows.

    Raises:
        GoldenSetError: ``golden_stale`` when nothing is left.
    """
    gone = {row.question_id: row.message for row in stale}
    kept = tuple(one for one in golden.questions if one.id not in gone)
    if not kept:
        first = next(iter(gone.items()))
        raise GoldenSetError(
            f"No row of {golden.name!r} fits this index. {first[0]!r}: {first[1]}.",
            code="golden_stale",
            hint="Is this the index that the questions were written for?",
        )
    return GoldenSet(golden.name, kept, golden.notes)


def _operator(tenant: str) -> Principal:
    return Principal(tenant=tenant, administrator=True)
