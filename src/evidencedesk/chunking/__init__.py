"""Documents to chunks: fixed windows, paragraphs, packed sentences, or the document's structure."""

from evidencedesk.chunking.documents import (
    DEFAULT_STRATEGY,
    STRATEGIES,
    Strategy,
    chunk_corpus,
    chunk_document,
    default_options,
)
from evidencedesk.chunking.pieces import Piece
from evidencedesk.chunking.plain import chunk_fixed, chunk_paragraphs, chunk_sentences
from evidencedesk.model import Span

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "Piece",
    "Span",
    "Strategy",
    "chunk_corpus",
    "chunk_document",
    "chunk_fixed",
    "chunk_paragraphs",
    "chunk_sentences",
    "default_options",
]
