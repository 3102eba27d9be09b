"""From a question to hits, ranked sentences and the probability that they answer it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencedesk.errors import ModelError
from evidencedesk.model import (
    Candidates,
    Chunk,
    Hit,
    Query,
    Retrieval,
    StoreQuery,
    TokenVectors,
)
from evidencedesk.protocols import Embedder, Snapshot
from evidencedesk.retrieval.calibration import SHIPPED, Calibration, Calibrations
from evidencedesk.retrieval.fusion import fuse, keyword_only, ranking, without_sentences
from evidencedesk.retrieval.late_interaction import WeighedTokens, best_rows, reordered
from evidencedesk.retrieval.sentences import (
    COSINE,
    KEYWORDS,
    TOKENS,
    Likeness,
    ScoredChunk,
    Weights,
    rank_sentences,
    scored_chunks,
)
from evidencedesk.retrieval.similarity import (
    sentence_cosines,
    stored_similarity,
    token_similarity,
)
from evidencedesk.retrieval.words import QuestionWords
from evidencedesk.text.analysis import query_groups
from evidencedesk.text.scripts import question_languages, unknown_script_share

READ_CHUNKS = 3
"""Sentences are looked for in this many of the best chunks."""

READ_CANDIDATES = 100
"""Sentence vectors are read of this many of the best candidates; more changed no ranking measured."""

MAX_UNKNOWN_SCRIPT = 0.3
"""Share of a question's letters outside the model's scripts above which the model is not asked."""

_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Floors:
    """Scores below which a chunk is no hit; None for no floor.

    Attributes:
        vector: on the cosine; a chunk without a vector has none to be below.
        keyword: on BM25.
    """

    vector: float | None = None
    keyword: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """A question with the model that is used on it; ``embedder`` and ``vector`` go together.

    ``tokens`` are there where the index keeps token vectors.
    """

    text: str
    groups: tuple[tuple[str, ...], ...]
    languages: tuple[str, ...] = ()
    embedder: Embedder | None = None
    vector: NDArray[np.float32] | None = None
    tokens: TokenVectors | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """The best chunks, read: how like the question each sentence is, and what to make of it."""

    likeness: Likeness
    weights: Weights
    calibration: Calibration
    degraded: tuple[str, ...] = ()


class _KeptTokens:
    """Stored token vectors of chunks: both steps that need them read each chunk's once."""

    def __init__(self, question: _Question, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._wanted = question.tokens is not None
        self._read: dict[int, TokenVectors | None] = {}

    def of(self, keys: Sequence[int]) -> list[TokenVectors] | None:
        """Those of all the chunks; None where the index has none of some."""
        if not self._wanted:
            return None
        unread = [key for key in keys if key not in self._read]
        self._read.update(zip(unread, self.snapshot.token_vectors(unread), strict=True))
        held = [each for key in keys if (each := self._read[key]) is not None]
        return held if len(held) == len(keys) else None


def retrieve(
    query: Query,
    snapshot: Snapshot,
    embedder: Embedder | None,
    *,
    k: int = 8,
    candidates: int = 100,
    min_vector_score: float | None = None,
    min_keyword_score: float | None = None,
    calibrations: Calibrations = SHIPPED,
) -> Retrieval:
    """The best chunks for a question among what the snapshot's reader may see.

    Everything in the outcome, confidence included, is a function of the question, the settings and
    the visible chunks. A question more than 30 % of whose letters are in scripts that the model
    does not know is searched by keywords only, and so is every question when the model fails; the
    latter is said in ``degraded``. A chunk that shares no word with the question and has no cosine
    above 0 is never a hit.

    Args:
        query: the question.
        snapshot: one reader's view of the index.
        embedder: model of the index's vectors; None when there is none.
        k: hits at most.
        candidates: how many of the best by keyword, and by vector, are fused.
        min_vector_score: floor on a hit's cosine; a chunk without a vector has none to be below.
        min_keyword_score: floor on a hit's BM25.
        calibrations: how confidence is computed.

    Raises:
        IndexingError: the index cannot be read.
    """
    question = _understand(query, snapshot, embedder)
    found = snapshot.search(StoreQuery(question.groups, question.vector, candidates))
    words = QuestionWords.of(question.groups, found)
    kept = _KeptTokens(question, snapshot)
    scores = _scores(question, words, kept, found)
    rows = _admitted(found, scores, Floors(min_vector_score, min_keyword_score))[:k]
    chunks = snapshot.chunks([int(found.keys[row]) for row in rows])
    hits = tuple(_hit(found, scores, row, chunk) for row, chunk in zip(rows, chunks, strict=True))
    top = scored_chunks(chunks[:READ_CHUNKS], [hit.score for hit in hits[:READ_CHUNKS]])
    keys = [int(found.keys[row]) for row in rows[:READ_CHUNKS]]
    reading = _read(question, kept, keys, top, calibrations)
    ranked, signals = rank_sentences(top, reading.likeness, words, reading.weights)
    return Retrieval(
        hits=hits,
        sentences=ranked,
        confidence=reading.calibration.confidence(signals) if ranked else 0.0,
        calibration=reading.calibration.name,
        degraded=question.degraded + reading.degraded,
    )


def _understand(query: Query, snapshot: Snapshot, embedder: Embedder | None) -> _Question:
    languages = question_languages(query.text, query.languages)
    groups = query_groups(query.text, languages)
    if embedder is None or snapshot.generation.embedding is None:
        return _Question(
            query.text, groups, degraded=("embedding: no semantic model; keywords only",)
        )
    if unknown_script_share(query.text, embedder.spec.languages) > MAX_UNKNOWN_SCRIPT:
        return _Question(query.text, groups)
    try:
        vector = embedder.embed_query(query.text)
        tokens = _question_tokens(query.text, snapshot, embedder)
        return _Question(query.text, groups, languages, embedder, vector, tokens)
    except ModelError as error:
        return _Question(query.text, groups, degraded=(f"embedding: {error.code}; keywords only",))


def _question_tokens(text: str, snapshot: Snapshot, embedder: Embedder) -> TokenVectors | None:
    keeps = embedder.spec.token_dimensions and embedder.spec == snapshot.generation.embedding
    return embedder.stored_tokens([text], query=True)[0] if keeps else None


def _scores(
    question: _Question, words: QuestionWords, kept: _KeptTokens, found: Candidates
) -> NDArray[np.float64]:
    if question.vector is None:
        return keyword_only(found)
    vectors = [np.zeros((0, len(question.vector)), np.float32)] * len(found.keys)
    rows = ranking(without_sentences(found, question.vector))[:READ_CANDIDATES]
    read = kept.snapshot.sentence_vectors([int(found.keys[row]) for row in rows])
    for row, sentences in zip(rows, read, strict=True):
        vectors[row] = sentences
    fused = fuse(found, vectors, question.vector)
    best = best_rows(fused)
    held = kept.of([int(found.keys[row]) for row in best])
    if held is None or question.tokens is None:
        return fused
    tokens = WeighedTokens.of(question.text, question.tokens, words, question.languages)
    return reordered(fused, best, held, tokens, deviation=found.statistics.vector_deviation)


def _admitted(found: Candidates, scores: NDArray[np.float64], floors: Floors) -> list[int]:
    """Rows that may be hits, best first. Floors are compared with scores as they are shown."""
    cosine, keyword = np.round((found.vector_scores, found.keyword_scores), _DECIMALS)
    admitted = (found.keyword_scores > 0) | (np.nan_to_num(cosine, nan=0.0) > 0)
    if floors.vector is not None:
        admitted &= np.isnan(cosine) | (cosine >= floors.vector)
    if floors.keyword is not None:
        admitted &= keyword >= floors.keyword
    return [int(row) for row in ranking(scores) if admitted[row]]


def _hit(found: Candidates, scores: NDArray[np.float64], row: int, chunk: Chunk) -> Hit:
    cosine = float(found.vector_scores[row])
    return Hit(
        chunk=chunk,
        score=float(scores[row]),
        vector_score=None if math.isnan(cosine) else round(cosine, _DECIMALS),
        keyword_score=round(float(found.keyword_scores[row]), _DECIMALS),
    )


def _read(
    question: _Question,
    kept: _KeptTokens,
    keys: Sequence[int],
    top: Sequence[ScoredChunk],
    calibrations: Calibrations,
) -> _Reading:
    if question.embedder is None or question.vector is None:
        nothing = np.zeros(sum(len(scored.spans) for scored in top))
        return _Reading(Likeness(nothing[:, None], nothing), KEYWORDS, calibrations.keywords)
    cosines = sentence_cosines(question.vector, top, kept.snapshot.sentence_vectors(keys))
    try:
        held = kept.of(keys)
        tokens = (
            token_similarity(question.text, top, question.embedder)
            if held is None or question.tokens is None
            else stored_similarity(question.tokens, top, held)
        )
    except ModelError as error:
        likeness = Likeness(cosines[:, None], cosines)
        degraded = (f"embedding: {error.code}; no token vectors",)
        return _Reading(likeness, COSINE, calibrations.cosine, degraded)
    calibration = calibrations.tokens if held is None else calibrations.stored
    return _Reading(Likeness(tokens, cosines, by_token=True), TOKENS, calibration)
