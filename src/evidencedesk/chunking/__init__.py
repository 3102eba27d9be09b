"""Documents to chunks: fixed windows, paragraphs, packed sentences, or the document's structure."""

from evidencedesk.chunking.compare import (
    ChunkingComparison,
    Indexer,
    LabelledQuestion,
    RetrievalScores,
    Search,
    StrategyReport,
    compare_strategies,
)
from evidencedesk.chunking.documents import (
    DEFAULT_STRATEGY,
    STRATEGIES,
    Strategy,
    chunk_corpus,
    chunk_document,
    chunking_settings,
    default_options,
)
from evidencedesk.chunking.intervals import Interval
from evidencedesk.chunking.pieces import Piece
from evidencedesk.chunking.plain import chunk_fixed, chunk_paragraphs, chunk_sentences
from evidencedesk.model import Span

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "ChunkingComparison",
    "Indexer",
    "Interval",
    "LabelledQuestion",
    "Piece",
    "RetrievalScores",
    "Search",
    "Span",
    "Strategy",
    "StrategyReport",
    "chunk_corpus",
    "chunk_document",
    "chunk_fixed",
    "chunk_paragraphs",
    "chunk_sentences",
    "chunking_settings",
    "compare_strategies",
    "default_options",
]
