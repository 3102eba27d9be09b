"""What a strategy returns, and the cuts of plain text that need nothing but the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evidencedesk.errors import ChunkingError
from evidencedesk.model import Span
from evidencedesk.text.sentences import sentences

_BLANK_LINES = re.compile(r"(?>\r\n|\r|\n)(?:[^\S\r\n]*(?>\r\n|\r|\n))+")


class Piece(NamedTuple):
    """A chunk to be: its span of the canonical text and the context that travels with it."""

    start: int
    end: int
    context: str = ""


def stripped(text: str, start: int, end: int) -> Span | None:
    """``[start, end)`` without surrounding whitespace, or None when there is nothing else in it."""
    part = text[start:end]
    ink = part.strip()
    if not ink:
        return None
    first = start + len(part) - len(part.lstrip())
    return Span(first, first + len(ink))


def windows(text: str, start: int, end: int, *, size: int, overlap: int) -> Iterator[Span]:
    """Windows of ``size`` code points over ``[start, end)``; those without any ink are left out.

    The last window is the first that reaches ``end``, so none repeats what others hold already.
    """
    for first in range(start, max(end - overlap, start + 1), size - overlap):
        last = min(first + size, end)
        if text[first:last].strip():
            yield Span(first, last)


def blank_line_blocks(text: str, start: int, end: int) -> Iterator[Span]:
    """The stretches of ``[start, end)`` between blank lines, without surrounding whitespace."""
    opened = start
    for gap in _BLANK_LINES.finditer(text, start, end):
        block = stripped(text, opened, gap.start())
        opened = gap.end()
        if block is not None:
            yield block
    block = stripped(text, opened, end)
    if block is not None:
        yield block


def packed_sentences(
    text: str, start: int, end: int, *, max_chars: int, overlap_sentences: int
) -> Iterator[Span]:
    """Whole sentences of ``[start, end)`` packed while they fit; see ``chunk_sentences``."""
    parts = [Span(start + part.start, start + part.end) for part in sentences(text[start:end])]
    first = 0
    while first < len(parts):
        after = first + 1
        while after < len(parts) and parts[after].end - parts[first].start <= max_chars:
            after += 1
        yield Span(parts[first].start, parts[after - 1].end)
        if after == len(parts):
            return
        first = _first_repeated(parts, first, after, max_chars, overlap_sentences)


def _first_repeated(
    parts: Sequence[Span], first: int, after: int, max_chars: int, overlap: int
) -> int:
    """Where the next chunk begins: ``overlap`` sentences back, as far as the next one still fits."""
    begin = max(first + 1, after - overlap)
    while begin < after and parts[after].end - parts[begin].start > max_chars:
        begin += 1
    return begin


def at_least(name: str, value: int, least: int) -> None:
    """Refuse an option below its least value.

    Raises:
        ChunkingError: ``bad_option``; it is a ``ValueError`` too.
    """
    if value < least:
        raise ChunkingError(
            f"Chunking option {name} is {value!r}.", hint=f"Use a whole number of {least} or more."
        )


def check_window(size: int, overlap: int) -> None:
    """Refuse a window that does not move forward.

    Raises:
        ChunkingError: ``bad_option`` unless ``size >= 1`` and ``0 <= overlap < size``.
    """
    at_least("size", size, 1)
    at_least("overlap", overlap, 0)
    if overlap >= size:
        raise ChunkingError(
            f"Chunking option overlap is {overlap!r} and size is {size!r}.",
            hint="Use an overlap smaller than the size.",
        )
