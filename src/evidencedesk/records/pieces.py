"""The content of an answer, cut into pieces that can each be shown, withheld or erased."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evidencedesk.model import Answer, Chunk, Evidence, Retrieval

INDEX = "index"
"""Label of the piece that only administrators are shown: it tells of documents of others."""

UNSTORED = "slice:"
"""Labels that begin so are committed to and not stored: the index has that text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of content.

    Attributes:
        label: its name in the receipt.
        value: text, or JSON.
        documents: ids of the documents whose content may be in it; shown to who may see them all.
    """

    label: str
    value: Any
    documents: tuple[str, ...] = ()


def pieces_of(answer: Answer, retrieval: Retrieval, evidence: Evidence | None) -> Iterator[Piece]:
    """The pieces of an answer.

    What a model wrote that is tied to no citation (dropped claims, details of checks, the note) may
    repeat any source that it was shown.
    """
    shown = _ids(source.chunk for source in evidence.sources) if evidence else ()
    yield Piece("question", answer.question)
    if answer.abstained:
        yield Piece("text", answer.text)
    for number, claim in enumerate(answer.claims):
        cited = (answer.citations[index].document_id for index in claim.citations)
        yield Piece(f"claim:{number}", claim.text, tuple(dict.fromkeys(cited)))
    yield from _citation_pieces(answer, retrieval)
    details = [check.detail for check in answer.checks]
    if any(details):
        yield Piece("checks", details, shown)
    if answer.dropped_claims:
        yield Piece("dropped", [claim.text for claim in answer.dropped_claims], shown)
    if answer.note:
        yield Piece("note", answer.note, shown)


def _citation_pieces(answer: Answer, retrieval: Retrieval) -> Iterator[Piece]:
    texts = {hit.chunk.id: hit.chunk.text for hit in retrieval.hits}
    for number, citation in enumerate(answer.citations):
        document = (citation.document_id,)
        described = citation.to_json()
        yield Piece(f"quote:{number}", described.pop("quote"), document)
        yield Piece(f"citation:{number}", described, document)
        if citation.chunk_id in texts:
            yield Piece(f"{UNSTORED}{number}", texts[citation.chunk_id], document)


def _ids(chunks: Iterable[Chunk]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chunk.document_id for chunk in chunks))
