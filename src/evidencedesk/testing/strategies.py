"""Hypothesis strategies and small makers of values for tests of stores."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from evidencedesk.access import AccessFilter, AccessRule, Status
from evidencedesk.model import Chunk, Document, EmbeddingSpec, IndexedChunk, Span, TokenVectors
from evidencedesk.model.locate import Locator

DIMENSIONS = 8
TOKEN_DIMENSIONS = 4
SPEC = EmbeddingSpec(
    name="toy", revision="sha256:00", dimensions=DIMENSIONS, token_dimensions=TOKEN_DIMENSIONS
)
OTHER_SPEC = EmbeddingSpec(name="toy2", revision="sha256:01", dimensions=2 * DIMENSIONS)
WORDS = ("bike", "return", "fee", "days", "lock", "gear", "noise", "rain")
TENANTS = ("default", "other")
ROLES = ("staff", "sales", "guest")
PARAGRAPH = "\n\n"
INGESTED_AT = datetime(2026, 1, 2, tzinfo=UTC)


def vector_of(text: str, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """A unit vector that depends on ``text`` only."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    vector = np.random.default_rng(seed).standard_normal(dimensions)
    return np.asarray(vector / np.sqrt(np.square(vector).sum()), np.float32)


def make_document(
    document_id: str, paragraphs: Sequence[str], rule: AccessRule, title: str = "Title"
) -> Document:
    """A document of ``paragraphs`` under ``rule``."""
    return Document(
        id=document_id,
        text=PARAGRAPH.join(paragraphs),
        title=title,
        source=f"{document_id}.md",
        tenant=rule.tenant,
        roles=rule.roles,
        deny=rule.deny,
        status=rule.status.value,
        ingested_at=INGESTED_AT,
    )


def make_chunks(
    document: Document, spec: EmbeddingSpec | None = SPEC, *, every: int = 1
) -> list[IndexedChunk]:
    """One chunk per paragraph; with ``spec``, every ``every``-th has vectors."""
    locator = Locator(document)
    made: list[IndexedChunk] = []
    start = 0
    for ordinal, text in enumerate(document.text.split(PARAGRAPH) if document.text else ()):
        chunk = Chunk(
            id=f"{document.id}:c{ordinal}",
            document_id=document.id,
            ordinal=ordinal,
            text=text,
            location=locator.locate(Span(start, start + len(text))),
        )
        made.append(_indexed(chunk, spec if ordinal % every == 0 else None))
        start += len(text) + len(PARAGRAPH)
    return made


def _indexed(chunk: Chunk, spec: EmbeddingSpec | None) -> IndexedChunk:
    terms = Counter(chunk.text.split())
    if spec is None:
        return IndexedChunk(chunk=chunk, terms=terms)
    sentences = [vector_of(word, spec.dimensions) for word in chunk.text.split()[:3]]
    return IndexedChunk(
        chunk=chunk,
        terms=terms,
        vector=vector_of(chunk.text, spec.dimensions),
        sentence_vectors=np.array(sentences, np.float32).reshape(-1, spec.dimensions),
        embedding_key=f"{spec.name}:{chunk.text}",
        tokens=tokens_of(chunk.text, spec.token_dimensions) if spec.token_dimensions else None,
    )


def tokens_of(text: str, dimensions: int = TOKEN_DIMENSIONS) -> TokenVectors:
    """A vector for each word of ``text``, which depends on the word and its place only."""
    spans = tuple(Span(*found.span()) for found in re.finditer(r"\S+", text))
    vectors = [vector_of(f"{span} {text[span.start : span.end]}", dimensions) for span in spans]
    return TokenVectors(np.array(vectors, np.float32).reshape(len(spans), dimensions), spans)


def rules() -> st.SearchStrategy[AccessRule]:
    """Any rule over two tenants, three roles and all statuses; most are current and default."""
    return st.builds(
        AccessRule,
        tenant=st.sampled_from((*TENANTS, TENANTS[0])),
        roles=st.frozensets(st.sampled_from(ROLES)),
        deny=st.frozensets(st.sampled_from(ROLES), max_size=1),
        status=st.sampled_from((*Status, Status.CURRENT, Status.CURRENT)),
    )


def filters() -> st.SearchStrategy[AccessFilter]:
    """Any filter over the same names."""
    return st.builds(
        AccessFilter,
        tenant=st.sampled_from((*TENANTS, TENANTS[0])),
        roles=st.frozensets(st.sampled_from(ROLES)),
        administrator=st.booleans(),
        statuses=st.frozensets(st.sampled_from(Status), min_size=1),
    )


def paragraphs() -> st.SearchStrategy[tuple[str, ...]]:
    """A few paragraphs of a few words."""
    words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
    return st.lists(words.map(" ".join), max_size=4).map(tuple)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing done to a store.

    Attributes:
        kind: ``replace``, ``rights``, ``remove``, ``fill`` or ``tidy`` (whatever upkeep it has).
        document_id: of which document.
        rule: its rights after ``replace`` and ``rights``; its tenant is that of the document.
        paragraphs: its text after ``replace``.
        every: after ``replace`` and ``fill`` every ``every``-th chunk has vectors.
    """

    kind: str
    document_id: str
    rule: AccessRule = field(default_factory=AccessRule)
    paragraphs: tuple[str, ...] = ()
    every: int = 1


def steps(*, max_size: int = 14) -> st.SearchStrategy[list[Step]]:
    """Interleaved histories of a few documents in both tenants."""
    step = st.builds(
        Step,
        kind=st.sampled_from(("replace", "replace", "replace", "rights", "remove", "fill", "tidy")),
        document_id=st.sampled_from(("a", "b", "c", "d")),
        rule=rules(),
        paragraphs=paragraphs(),
        every=st.integers(1, 3),
    )
    return st.lists(step, min_size=1, max_size=max_size)


def term_groups() -> st.SearchStrategy[tuple[tuple[str, ...], ...]]:
    """The words of a question, some with alternatives."""
    group = st.lists(st.sampled_from((*WORDS, "absent")), min_size=1, max_size=3).map(tuple)
    return st.lists(group, max_size=4).map(tuple)
