"""What a whole index consists of, as it passes from one store to another or into a backup.

Texts are the JSON and the bytes that all our stores keep, so nothing is computed anew on the way:
same chunks, same postings, same vectors to the bit, in the order in which they were indexed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PLAIN_TABLES: Mapping[str, tuple[str, ...]] = {
    "subject_keys": ("tenant", "subject", "key"),
    "receipts": (
        "number",
        "tenant",
        "answer_id",
        "subject",
        "at",
        "reason",
        "record",
        "content",
        "position",
    ),
    "receipt_documents": ("tenant", "document_id", "receipt"),
    "audit": ("tenant", "number", "previous", "event", "hash"),
    "feedback": ("tenant", "receipt", "subject", "at", "verdict", "note"),
    "notices": ("number", "tenant", "channel", "notice", "attempts", "due", "failure"),
}
"""Tables that are the same in all our stores, and their columns."""


@dataclass(frozen=True, slots=True)
class MovedIndex:
    """The index as such; always the first piece.

    Attributes:
        revision: how often it was changed.
        facts: time and circumstances of its creation.
    """

    revision: int
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MovedGeneration:
    """A generation, everything but the number as it is stored (``model.index.Generation``)."""

    id: int
    state: str
    embedding: str | None
    chunking: str
    normalisation: str
    created_at: str
    runtime: str


@dataclass(frozen=True, slots=True)
class MovedDocument:
    """A document without its chunks.

    Attributes:
        record: JSON of its record.
        text: canonical text.
        anchors: blocks, pages and first line, compressed.
        boxes: character boxes, compressed.
        history: record and text of earlier versions, oldest first.
    """

    record: str
    text: str
    anchors: bytes = field(repr=False)
    boxes: bytes = field(repr=False)
    history: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MovedChunk:
    """A chunk with what makes it findable.

    Attributes:
        ordinal: its number within the document.
        location: JSON of its place.
        context: repeated table header.
        text: its text.
        terms: hashes of its terms, uint64, ascending.
        counts: frequencies of the terms, uint32.
        embedding_key: hash of the model and the text embedded.
        vector: float32; None without one.
        sentence_codes: int8 codes of sentence vectors; None without any.
        sentence_scales: their scales, float32.
        token_spans: where its tokens stand; None where no token vectors are kept.
        token_codes: int8 codes of their vectors.
        token_scales: their scales, float32.
    """

    ordinal: int
    location: str
    context: str
    text: str
    terms: bytes = field(repr=False)
    counts: bytes = field(repr=False)
    embedding_key: str = ""
    vector: bytes | None = field(default=None, repr=False)
    sentence_codes: bytes | None = field(default=None, repr=False)
    sentence_scales: bytes | None = field(default=None, repr=False)
    token_spans: bytes | None = field(default=None, repr=False)
    token_codes: bytes | None = field(default=None, repr=False)
    token_scales: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class MovedPlacement:
    """The chunks of one document in one generation; they come in the order in which they were put."""

    generation: int
    tenant: str
    document_id: str
    chunks: tuple[MovedChunk, ...]


@dataclass(frozen=True, slots=True)
class MovedEntry:
    """An entry of the ingestion log.

    Attributes:
        entry: its JSON.
        rule: status, roles and denials of whoever may see it; None for every keeper of the log.
    """

    tenant: str
    document_id: str
    entry: str
    rule: tuple[str, tuple[str, ...], tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class MovedRow:
    """A row of one of :data:`PLAIN_TABLES`."""

    table: str
    values: tuple[Any, ...]


MovedPiece = MovedIndex | MovedGeneration | MovedDocument | MovedPlacement | MovedEntry | MovedRow
"""In this order: the index, its generations, documents, placements, log, plain rows by table."""
