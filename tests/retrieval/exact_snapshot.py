"""A snapshot in memory that does what the port says in the plainest way: what tests compare with."""

# ruff: noqa: ARG002 - the port names the arguments
from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from evidencedesk.access import AccessFilter, AccessRule, Status
from evidencedesk.errors import ModelError
from evidencedesk.model import (
    Candidates,
    Chunk,
    ChunkingSettings,
    Document,
    DocumentRecord,
    EmbeddingSpec,
    Generation,
    IndexedChunk,
    Location,
    LogEntry,
    ScoreStatistics,
    Span,
    StoreQuery,
    TokenVectors,
)
from evidencedesk.text.analysis import document_terms, words
from evidencedesk.text.sentences import sentences

SPEC = EmbeddingSpec("hashed", "sha256:0", 16)


class HashedEmbedder:
    """Bag-of-words vectors from a hash of each word: deterministic, and alike texts are alike."""

    spec = SPEC

    def __init__(self, failing: frozenset[str] = frozenset()) -> None:
        self.failing = failing

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([_unit(_bag(text)) for text in texts]).astype(np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if "query" in self.failing:
            raise ModelError("The model is away.", code="model_away")
        return _unit(_bag(text)).astype(np.float32)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list[TokenVectors]:
        if "tokens" in self.failing:
            raise ModelError("The model is away.", code="model_away")
        return [_tokens(text) for text in texts]


def _tokens(text: str) -> TokenVectors:
    spans, position = [], 0
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        spans.append(Span(start, position))
    rows = [_unit(_bag(text[span.start : span.end])) for span in spans]
    vectors = np.stack(rows) if rows else np.zeros((0, SPEC.dimensions))
    return TokenVectors(vectors.astype(np.float32), tuple(spans))


def _bag(text: str) -> NDArray[np.float64]:
    total = np.full(SPEC.dimensions, 0.05)
    for word in words(text):
        seed = zlib.crc32(word.encode())
        total += np.random.default_rng(seed).normal(size=SPEC.dimensions)
    return total


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return vector / np.linalg.norm(vector)


def indexed(chunk: Chunk, embedder: HashedEmbedder | None = None) -> IndexedChunk:
    terms = document_terms(
        chunk.title, chunk.location.heading, chunk.context, chunk.text, chunk.lang
    )
    if embedder is None:
        return IndexedChunk(chunk, terms)
    texts = [chunk.text[span.start : span.end] for span in sentences(chunk.text)]
    vector = embedder.embed_passages([f"{chunk.title}. {chunk.text}"])[0]
    rows = embedder.embed_passages(texts) if texts else np.zeros((0, SPEC.dimensions), np.float32)
    return IndexedChunk(chunk, terms, vector, rows, "key")


def chunk(
    text: str, document: str = "doc", ordinal: int = 0, heading: str = "", **fields: object
) -> Chunk:
    return Chunk(
        id=f"{document}:c{ordinal}",
        document_id=document,
        ordinal=ordinal,
        text=text,
        location=Location(heading=(heading,) if heading else (), start=0, end=len(text)),
        **{"lang": "en", "roles": frozenset({"all"}), **fields},
    )


class ExactSnapshot:
    """Everything visible is scored; nothing is approximated."""

    def __init__(
        self,
        chunks: Sequence[IndexedChunk],
        access: AccessFilter | None = None,
        embedding: EmbeddingSpec | None = SPEC,
    ) -> None:
        self.access = access or AccessFilter(roles=frozenset({"all"}))
        self.generation = Generation(
            1, "active", embedding, ChunkingSettings(), "1", datetime(2024, 1, 1, tzinfo=UTC)
        )
        self._rows = {key: one for key, one in enumerate(chunks) if self._admits(one.chunk)}

    def _admits(self, one: Chunk) -> bool:
        return self.access.admits(AccessRule(one.tenant, one.roles, one.deny, Status(one.status)))

    def search(self, query: StoreQuery) -> Candidates:
        rows = list(self._rows.values())
        keyword, frequencies = _bm25(rows, query.term_groups)
        cosine = np.full(len(rows), np.nan)
        if query.vector is not None:
            for index, one in enumerate(rows):
                if one.vector is not None:
                    cosine[index] = float(one.vector.astype(float) @ query.vector.astype(float))
        known = cosine[~np.isnan(cosine)]
        best = np.argsort(-keyword, kind="stable")[: query.candidates]
        near = [
            int(row)
            for row in np.argsort(-np.nan_to_num(cosine, nan=-9), kind="stable")
            if not np.isnan(cosine[row])
        ][: query.candidates]
        chosen = sorted({int(row) for row in best if keyword[row] > 0} | set(near))
        keys = np.array([list(self._rows)[row] for row in chosen], np.int64)
        width = 0 if query.vector is None else len(query.vector)
        vectors = np.zeros((len(chosen), width), np.float32)
        for place, row in enumerate(chosen):
            if width and rows[row].vector is not None:
                vectors[place] = rows[row].vector
        statistics = ScoreStatistics(
            len(rows),
            float(keyword.mean()) if rows else 0.0,
            float(keyword.std()) if rows else 0.0,
            len(known),
            float(known.mean()) if len(known) else 0.0,
            float(known.std()) if len(known) else 0.0,
        )
        return Candidates(keys, keyword[chosen], cosine[chosen], vectors, statistics, frequencies)

    def sentence_vectors(self, keys: Sequence[int]) -> list[NDArray[np.float32]]:
        empty = np.zeros((0, SPEC.dimensions), np.float32)
        found = [self._rows[key].sentence_vectors for key in keys]
        return [empty if vectors is None else vectors for vectors in found]

    def chunks(self, keys: Sequence[int]) -> tuple[Chunk, ...]:
        return tuple(self._rows[key].chunk for key in keys)

    def chunk(self, chunk_id: str) -> Chunk | None:
        return next((one.chunk for one in self._rows.values() if one.chunk.id == chunk_id), None)

    def document_chunks(self, document_id: str) -> tuple[Chunk, ...]:
        chunks = (one.chunk for one in self._rows.values())
        return tuple(one for one in chunks if one.document_id == document_id)

    def document(self, document_id: str) -> Document | None:
        return None

    def documents(self) -> Iterator[DocumentRecord]:
        return iter(())

    def history(self, document_id: str) -> tuple[DocumentRecord, ...]:
        return ()

    def historic_text(self, document_id: str, content_hash: str) -> str | None:
        return None

    def log(self, limit: int = 100) -> tuple[LogEntry, ...]:
        return ()


def _bm25(
    rows: Sequence[IndexedChunk], groups: Sequence[Sequence[str]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    lengths = [sum(one.terms.values()) for one in rows]
    average = sum(lengths) / len(rows) if rows else 1.0
    scores = np.zeros(len(rows))
    frequencies = np.zeros(len(groups), np.int64)
    for place, group in enumerate(groups):
        counts = [sum(one.terms.get(term, 0) for term in group) for one in rows]
        frequencies[place] = df = sum(count > 0 for count in counts)
        idf = math.log(1 + (len(rows) - df + 0.5) / (df + 0.5))
        for row, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            scores[row] += idf * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length / average))
    return scores, frequencies
