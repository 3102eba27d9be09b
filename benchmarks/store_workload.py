"""The workload of ``benchmarks.store``: synthetic chunks, queries, rights and exact answers.

Texts are 100 words drawn from a vocabulary of 50,000 by Zipf's law (probability proportional to
1 / rank); questions are four words drawn by the same law. Vectors are uniform on the unit sphere,
which has no clusters to exploit and leaves the least room between neighbours. Ten chunks make a
document. Every document has the role ``all``, one in ten also ``tenth``, one in two hundred ``few``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import Chunk, Document, IndexedChunk, Location, StoreQuery

VOCABULARY = 50_000
WORDS = 100
QUERY_WORDS = 4
PER_DOCUMENT = 10
DIMENSIONS = 384
SENTENCES = 4
SHARES = {"all": 1, "tenth": 10, "few": 200}

_CUMULATIVE = np.cumsum(1.0 / np.arange(1, VOCABULARY + 1))
_NAMES = [f"w{number}" for number in range(VOCABULARY)]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Documents in a row, and the vectors of their chunks."""

    documents: list[tuple[Document, list[IndexedChunk]]]
    vectors: NDArray[np.float32]


def roles_of(document: int) -> frozenset[str]:
    """Roles of the document with this number."""
    return frozenset(role for role, share in SHARES.items() if document % share == 0)


def batches(chunks: int, size: int = 1000) -> Iterator[Batch]:
    """``chunks`` chunks in batches of ``size``."""
    for start in range(0, chunks, size):
        rng = np.random.default_rng([1, start])
        words = _words(rng, size * WORDS).reshape(size, WORDS)
        vectors = _unit(rng, size)
        first = start // PER_DOCUMENT
        yield Batch(
            [
                document(first + n, words[at : at + PER_DOCUMENT], vectors[at : at + PER_DOCUMENT])
                for n, at in enumerate(range(0, size, PER_DOCUMENT))
            ],
            vectors,
        )


def replacements(documents: int, count: int) -> Iterator[tuple[Document, list[IndexedChunk]]]:
    """New versions of ``count`` documents drawn at random, with sentence vectors."""
    rng = np.random.default_rng(2)
    for number in rng.integers(0, documents, count):
        words = _words(rng, PER_DOCUMENT * WORDS).reshape(PER_DOCUMENT, WORDS)
        sentences = _unit(rng, PER_DOCUMENT * SENTENCES).reshape(PER_DOCUMENT, SENTENCES, -1)
        yield document(int(number), words, _unit(rng, PER_DOCUMENT), sentences)


def queries(count: int) -> list[StoreQuery]:
    """``count`` questions with words and vector."""
    rng = np.random.default_rng(3)
    words = _words(rng, count * QUERY_WORDS).reshape(count, QUERY_WORDS)
    vectors = _unit(rng, count)
    return [
        StoreQuery(tuple((_NAMES[word],) for word in row), vector)
        for row, vector in zip(words.tolist(), vectors, strict=True)
    ]


def document(
    number: int,
    words: NDArray[np.int64],
    vectors: NDArray[np.float32],
    sentences: NDArray[np.float32] | None = None,
) -> tuple[Document, list[IndexedChunk]]:
    """A document whose chunks have these words and vectors."""
    texts = [" ".join(_NAMES[word] for word in row) for row in words.tolist()]
    made = Document(id=f"d{number}", text="\n\n".join(texts), roles=roles_of(number))
    chunks: list[IndexedChunk] = []
    start = 0
    for ordinal, text in enumerate(texts):
        place = Location(start=start, end=start + len(text))
        chunks.append(
            IndexedChunk(
                chunk=Chunk(f"{made.id}:c{ordinal}", made.id, ordinal, text, place),
                terms=Counter(text.split()),
                vector=vectors[ordinal],
                sentence_vectors=None if sentences is None else sentences[ordinal],
                embedding_key=f"{made.id}:{ordinal}",
            )
        )
        start = place.end + 2
    return made, chunks


class ExactNeighbours:
    """The ten nearest by float32 cosine for each question and role, gathered batch by batch."""

    def __init__(self, questions: list[StoreQuery]) -> None:
        self._matrix = np.array([question.vector for question in questions]).T
        count = len(questions)
        self._best = {
            role: (np.full((count, 10), -2.0, np.float32), np.zeros((count, 10), np.int64))
            for role in SHARES
        }
        self._seen = 0

    def add(self, vectors: NDArray[np.float32]) -> None:
        """Take the next chunks in."""
        cosines = (vectors @ self._matrix).T
        numbers = np.arange(self._seen, self._seen + len(vectors))
        for role, share in SHARES.items():
            mask = numbers // PER_DOCUMENT % share == 0
            if mask.any():
                self._best[role] = _merged(self._best[role], cosines[:, mask], numbers[mask])
        self._seen += len(vectors)

    def answers(self) -> dict[str, list[list[int]]]:
        """Numbers of the ten nearest chunks, for each role and question."""
        return {role: numbers.tolist() for role, (_, numbers) in self._best.items()}


def _merged(
    best: tuple[NDArray[np.float32], NDArray[np.int64]],
    cosines: NDArray[np.float32],
    numbers: NDArray[np.int64],
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    scores = np.concatenate([best[0], cosines], axis=1)
    known = np.concatenate([best[1], np.broadcast_to(numbers, cosines.shape)], axis=1)
    order = np.argsort(-scores, axis=1)[:, :10]
    return np.take_along_axis(scores, order, 1), np.take_along_axis(known, order, 1)


def _words(rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    return np.searchsorted(_CUMULATIVE, rng.random(count) * _CUMULATIVE[-1])


def _unit(rng: np.random.Generator, count: int) -> NDArray[np.float32]:
    vectors = rng.standard_normal((count, DIMENSIONS), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
