"""Which stored answers no longer hold: their sources changed, went, or were closed to who asked.

A quote is looked for again in the text of now, by the same code that verified it, under the heading
where it stood (anywhere once that heading has gone); and a claim is checked again beside the
sentences that its quotes stand in now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from evidencedesk.access import AccessFilter, AccessRule, Status
from evidencedesk.model import Chunk, Document, DocumentRecord, Location, Span
from evidencedesk.model.receipt import Receipt
from evidencedesk.verification import (
    Band,
    Passage,
    Quotable,
    QuoteMatch,
    check_claim,
    find_quote,
    passage_of,
)


class Lapse(StrEnum):
    """Why an answer no longer holds."""

    CHANGED = "source_changed"
    RETIRED = "source_retired"
    CLOSED = "source_closed"
    GONE = "source_gone"


@dataclass(frozen=True, slots=True)
class Lapsed:
    """A citation of a stored answer that no longer holds.

    Attributes:
        answer_id: the answer.
        citation: index of the citation.
        document_id: the cited document; empty for a person who may not see it.
        lapse: why.
        detail: what was compared, for a person who may see the document.
    """

    answer_id: str
    citation: int
    document_id: str
    lapse: Lapse
    detail: str


class Sources:
    """The documents of one tenant as they are now, each read and folded at most once.

    Args:
        record: the record of a document, None when there is none.
        document: the document with its text.
        earlier: an earlier text of a document by its content hash.
    """

    def __init__(
        self,
        record: Callable[[str], DocumentRecord | None],
        document: Callable[[str], Document | None],
        earlier: Callable[[str, str], str | None],
    ) -> None:
        self.record = record
        self._document = document
        self._earlier = earlier
        self._parts: dict[str, _Parts | None] = {}
        self._texts: dict[tuple[str, str], str | None] = {}

    def parts(self, document_id: str) -> _Parts | None:
        """The text of now by heading."""
        if document_id not in self._parts:
            document = self._document(document_id)
            self._parts[document_id] = None if document is None else _Parts(document)
        return self._parts[document_id]

    def earlier(self, document_id: str, content_hash: str) -> str | None:
        """The text that had ``content_hash``, if it is kept."""
        key = document_id, content_hash
        if key not in self._texts:
            self._texts[key] = self._earlier(*key)
        return self._texts[key]


class _Parts:
    """A document's text by heading path."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._whole = Quotable(document.text)
        self._by_heading: dict[tuple[str, ...], list[Quotable]] = {}
        for heading, span in _sections(document):
            part = Quotable(document.text[span.start : span.end])
            self._by_heading.setdefault(heading, []).append(part)

    def find(self, quote: str, heading: tuple[str, ...] | None) -> tuple[Quotable, Span] | None:
        """Where the quote stands now, and in which text."""
        within = self._by_heading.get(heading or (), []) if heading is not None else []
        for part in within or [self._whole]:
            found = find_quote(quote, part)
            if isinstance(found, QuoteMatch):
                return part, found.span
        return None


def _sections(document: Document) -> Iterator[tuple[tuple[str, ...], Span]]:
    """Runs of blocks under one heading."""
    run: tuple[tuple[str, ...], Span] | None = None
    for block in document.blocks:
        if run is not None and run[0] == block.heading:
            run = run[0], Span(run[1].start, block.end)
            continue
        if run is not None:
            yield run
        run = block.heading, Span(block.start, block.end)
    if run is not None:
        yield run


def rule_of(record: DocumentRecord) -> AccessRule:
    """Who may see the document."""
    return AccessRule(record.tenant, record.roles, record.deny, Status(record.status))


def recheck(
    receipts: Iterable[Receipt], sources: Sources, *, rights: AccessFilter | None = None
) -> Iterator[Lapsed]:
    """The citations that no longer hold, by answer in the order given.

    Args:
        receipts: the stored answers.
        sources: the documents of now.
        rights: whose rights decide whether a source was closed; the statuses are those that were
            asked of. None: the rights that each asker had when he asked.
    """
    for receipt in receipts:
        access = _access(receipt, rights)
        lapsed = [
            each
            for number in range(len(receipt.record["citations"]))
            if (each := _citation(receipt, number, sources, access)) is not None
        ]
        yield from lapsed or _claims(receipt, sources)


def _access(receipt: Receipt, rights: AccessFilter | None) -> AccessFilter:
    asked = receipt.record
    statuses = frozenset(map(Status, asked["statuses"]))
    if rights is not None:
        return replace(rights, statuses=statuses)
    return AccessFilter(
        tenant=receipt.tenant,
        roles=frozenset(asked["roles"]),
        administrator=asked["administrator"],
        statuses=statuses,
    )


def _citation(
    receipt: Receipt, number: int, sources: Sources, access: AccessFilter
) -> Lapsed | None:
    cited = receipt.record["citations"][number]
    document_id = cited["document_id"]
    record = sources.record(document_id)
    if record is None:
        found: tuple[Lapse, str] | None = Lapse.GONE, "it is no longer in the index"
    else:
        found = _closed(record, access) or _changed(receipt, number, record, sources)
    return None if found is None else Lapsed(receipt.answer_id, number, document_id, *found)


def _closed(record: DocumentRecord, access: AccessFilter) -> tuple[Lapse, str] | None:
    rule = rule_of(record)
    if not replace(access, statuses=frozenset(Status)).admits(rule):
        return Lapse.CLOSED, "it is closed to who asked"
    if not access.admits(rule):
        return Lapse.RETIRED, f"it is {record.status} now"
    return None


def _changed(
    receipt: Receipt, number: int, record: DocumentRecord, sources: Sources
) -> tuple[Lapse, str] | None:
    cited = receipt.record["citations"][number]
    if cited["content_hash"] == record.content_hash:
        return None
    quote = _quote(receipt, number, sources)
    if quote is None:
        return Lapse.CHANGED, "its text changed, and the quote is not kept to compare"
    if _standing(receipt, number, quote, sources) is None:
        return Lapse.CHANGED, "its text changed, and the quote no longer stands in it"
    return None


def _quote(receipt: Receipt, number: int, sources: Sources) -> str | None:
    kept = receipt.content.get(f"quote:{number}")
    if kept is not None:
        return str(kept)
    cited = receipt.record["citations"][number]
    text = sources.earlier(cited["document_id"], cited["content_hash"])
    start, end = cited["quote"]
    return None if text is None else text[start:end]


def _standing(
    receipt: Receipt, number: int, quote: str, sources: Sources
) -> tuple[Document, Quotable, Span] | None:
    parts = sources.parts(receipt.record["citations"][number]["document_id"])
    described = receipt.content.get(f"citation:{number}")
    found = parts.find(quote, _heading(described)) if parts else None
    return None if parts is None or found is None else (parts.document, *found)


def _heading(described: dict[str, Any] | None) -> tuple[str, ...] | None:
    return None if described is None else tuple(described["location"]["heading"])


def _claims(receipt: Receipt, sources: Sources) -> Iterator[Lapsed]:
    """Claims whose quotes all stand, in sentences that say something else now."""
    citations = receipt.record["citations"]
    changed = {number for number, cited in enumerate(citations) if _differs(cited, sources)}
    for index, claim in enumerate(receipt.record["claims"]):
        text, touched = receipt.content.get(f"claim:{index}"), changed & set(claim["citations"])
        if text is None or not touched:
            continue
        passages = [_passage(receipt, number, sources) for number in claim["citations"]]
        known = [passage for passage in passages if passage is not None]
        finding = check_claim(text, known) if len(known) == len(passages) else None
        if (
            finding is not None
            and finding.failure is not None
            and finding.band is Band.CONTRADICTED
        ):
            number = min(touched)
            detail = f"the sentence around the quote changed: {finding.failure.detail}"
            document_id = citations[number]["document_id"]
            yield Lapsed(receipt.answer_id, number, document_id, Lapse.CHANGED, detail)


def _differs(cited: dict[str, Any], sources: Sources) -> bool:
    record = sources.record(cited["document_id"])
    return record is None or record.content_hash != cited["content_hash"]


def _passage(receipt: Receipt, number: int, sources: Sources) -> Passage | None:
    quote = _quote(receipt, number, sources)
    standing = None if quote is None else _standing(receipt, number, quote, sources)
    if standing is None:
        return None
    document, part, span = standing
    heading = _heading(receipt.content.get(f"citation:{number}")) or ()
    chunk = Chunk(
        id=receipt.record["citations"][number]["chunk_id"],
        document_id=document.id,
        ordinal=0,
        text=part.text,
        location=Location(heading=heading, start=0, end=len(part.text)),
        title=document.title,
        lang=document.lang,
    )
    return passage_of(chunk, span, part.sentences)
