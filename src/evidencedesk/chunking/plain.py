"""Chunking of bare text: the three strategies that look at characters, blank lines and sentences.

``chunk_paragraphs`` and ``chunk_sentences`` read lines that begin with ``#`` as headings, which
belong to no chunk and which no chunk crosses; ``chunk_fixed`` counts characters and nothing else.
For whole documents with their metadata use ``chunk_document``.
"""

from __future__ import annotations

from evidencedesk.chunking.layout import text_sections
from evidencedesk.chunking.pieces import (
    at_least,
    blank_line_blocks,
    check_window,
    packed_sentences,
    windows,
)
from evidencedesk.model import Span


def chunk_fixed(text: str, size: int, overlap: int) -> list[Span]:
    """Windows of ``size`` characters, each starting ``size - overlap`` after the last.

    Stops once a window reaches the end. Windows of nothing but whitespace are left out.

    Args:
        text: any text.
        size: length of a window in code points, at least 1.
        overlap: how many code points two neighbours share, at least 0 and below ``size``.

    Raises:
        ChunkingError: ``bad_option`` (a ``ValueError``) when size or overlap is out of range.
    """
    check_window(size, overlap)
    return list(windows(text, 0, len(text), size=size, overlap=overlap))


def chunk_paragraphs(text: str) -> list[Span]:
    """The blocks between blank lines; a heading line ends a block as a blank line does."""
    return [
        block
        for section in text_sections(text)
        for block in blank_line_blocks(text, section.start, section.end)
    ]


def chunk_sentences(text: str, max_chars: int, overlap_sentences: int = 0) -> list[Span]:
    """Whole sentences packed while they fit ``max_chars``; a longer sentence stays whole.

    Args:
        text: running text or Markdown.
        max_chars: the most code points that more than one sentence may take, at least 1.
        overlap_sentences: how many sentences a chunk repeats from the one before it; fewer where
            the next sentence would not fit behind them.

    Raises:
        ChunkingError: ``bad_option`` (a ``ValueError``) when a number is out of range.
    """
    at_least("max_chars", max_chars, 1)
    at_least("overlap_sentences", overlap_sentences, 0)
    return [
        part
        for section in text_sections(text)
        for part in packed_sentences(
            text,
            section.start,
            section.end,
            max_chars=max_chars,
            overlap_sentences=overlap_sentences,
        )
    ]
