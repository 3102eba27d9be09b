"""What passes between the stages and a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model.document import MASKED
from evidencedesk.model.location import Span
from evidencedesk.model.retrieval import Chunk


@dataclass(frozen=True, slots=True)
class EmbeddingSpec:
    """What an embedding model is; two indexes are compatible when their specs are equal.

    Attributes:
        name: ``minilm``, or the name of the model directory.
        revision: hash of the weights actually run, ``sha256:<hex>``.
        dimensions: length of a vector.
        max_tokens: texts are cut at this many word pieces.
        query_prefix: put before a question.
        passage_prefix: put before a passage.
        languages: primary BCP 47 subtags that the model knows.
        normalised: vectors have unit length.
        token_dimensions: length of the token vectors stored with each chunk; 0 where none are.
        token_projection: hash of the matrix that makes them of the model's own, ``sha256:<hex>``;
            empty where they are the model's own.
    """

    name: str
    revision: str
    dimensions: int
    max_tokens: int = 256
    query_prefix: str = ""
    passage_prefix: str = ""
    languages: tuple[str, ...] = ("en",)
    normalised: bool = True
    token_dimensions: int = 0
    token_projection: str = ""


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """Strategy and its options, as recorded in an index (options as sorted name-value pairs)."""

    strategy: str = "structure"
    options: tuple[tuple[str, int], ...] = (("max_tokens", 150), ("overlap_sentences", 0))


@dataclass(frozen=True, slots=True)
class Generation:
    """One set of chunks, vectors and postings over the documents of an index.

    Attributes:
        id: counts from 1.
        state: ``active`` answers; ``building`` and ``previous`` take every write and do not answer.
        embedding: the model of its vectors, None for keywords only.
        chunking: how its chunks were cut.
        normalisation: version of the keyword analysis.
        created_at: when it was begun.
    """

    id: int
    state: str
    embedding: EmbeddingSpec | None
    chunking: ChunkingSettings
    normalisation: str
    created_at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class IndexedChunk:
    """A chunk with what makes it findable.

    Attributes:
        chunk: the chunk.
        terms: keyword term to its weighted frequency in title (three times), heading, context and
            text. The document length of BM25 is the sum of the values.
        vector: unit vector of "title. text", shape (dimensions,), float32; None without a model or
            in a language the model does not know.
        sentence_vectors: unit vectors of its sentences, shape (sentences, dimensions), float32;
            None like ``vector``.
        embedding_key: hash of the model and the exact text embedded, hex; empty without a vector.
        tokens: projected vectors of its tokens, spans in its text; None where the index keeps none,
            and like ``vector``.
    """

    chunk: Chunk
    terms: Mapping[str, int]
    vector: NDArray[np.float32] | None = None
    sentence_vectors: NDArray[np.float32] | None = None
    embedding_key: str = ""
    tokens: TokenVectors | None = None


@dataclass(frozen=True, slots=True, eq=False)
class StoreQuery:
    """A question as a store understands it.

    Attributes:
        term_groups: one group per question word, each the alternative terms that stand for the
            word (its stem in each language). A chunk's frequency for a group is the sum over the
            alternatives; the group's document frequency counts visible chunks with any of them.
        vector: the question's unit vector, shape (dimensions,), float32, or None for keywords only.
        candidates: how many of the best by keyword and how many of the best by vector to return.
    """

    term_groups: tuple[tuple[str, ...], ...]
    vector: NDArray[np.float32] | None
    candidates: int = 100


@dataclass(frozen=True, slots=True)
class ScoreStatistics:
    """Mean and population deviation over all visible chunks, independent of their order.

    Keyword scores count zeros in. Vector statistics are over visible chunks that have a vector.
    """

    chunks: int = 0
    keyword_mean: float = 0.0
    keyword_deviation: float = 0.0
    vectors: int = 0
    vector_mean: float = 0.0
    vector_deviation: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The union of the best by keyword and the best by vector, each with both scores.

    Rows are ordered by key. All arrays have one entry per candidate.

    Attributes:
        keys: opaque keys of the chunks, valid in the snapshot that gave them; a smaller key was
            indexed earlier. int64.
        keyword_scores: BM25 over visible rows, float64, 0 where nothing matches.
        vector_scores: cosine from float32 vectors, float64, NaN where the chunk has no vector or
            the query has none.
        vectors: unit vectors, shape (candidates, dimensions), float32, rows of zeros where there is
            none; shape (candidates, 0) when the query has no vector.
        statistics: over everything visible.
        group_frequencies: for each term group, how many visible chunks hold it. int64.
    """

    keys: NDArray[np.int64]
    keyword_scores: NDArray[np.float64]
    vector_scores: NDArray[np.float64]
    vectors: NDArray[np.float32]
    statistics: ScoreStatistics
    group_frequencies: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What reconciling needs to know of a stored document, without its text."""

    id: str
    tenant: str
    title: str
    source: str
    root: str
    version: str
    status: str
    lang: str
    owner: str
    roles: frozenset[str]
    deny: frozenset[str]
    media_type: str
    parser: str
    parser_version: str
    file_hash: str
    content_hash: str
    location_hash: str
    supersedes: str
    ingested_at: datetime
    chunks: int
    vectors: int
    warnings: tuple[str, ...] = ()
    partial: bool = False
    inputs_hash: str = ""
    masks: frozenset[str] = frozenset()

    @property
    def masked(self) -> bool:
        """Whether values were masked in it."""
        return any(warning.startswith(MASKED) for warning in self.warnings)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the ingestion log."""

    at: datetime
    tenant: str
    source: str
    document_id: str
    outcome: str
    code: str = ""
    message: str = ""
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """Token vectors of one text, as encoded inside it.

    Attributes:
        vectors: shape (tokens, dimensions), float32, special tokens left out; unit vectors, or
            projections of them whose products come near to the cosines of what was projected.
        spans: span of each token in the text that was encoded, prefix not counted.
    """

    vectors: NDArray[np.float32]
    spans: tuple[Span, ...]
