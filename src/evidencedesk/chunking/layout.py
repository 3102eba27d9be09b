"""The sections of a document: what lies between two headings, and so what no chunk may leave."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from evidencedesk.chunking.pieces import blank_line_blocks, stripped
from evidencedesk.model import Block, BlockKind, Document, Span

_HEADING = re.compile(r" {0,3}(#{1,6})(?![^ \t])")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")


def with_blocks(document: Document) -> Document:
    """``document`` with blocks, found by :func:`blocks_of` where its parser gave none."""
    if document.blocks or not document.text.strip():
        return document
    return dataclasses.replace(document, blocks=blocks_of(document.text))


def blocks_of(text: str) -> tuple[Block, ...]:
    """Blocks of text that no parser has seen, read as the plainest Markdown.

    Lines that begin with one to six ``#`` are headings, fenced code is code, and what stands
    between blank lines is a paragraph. A line that looks like a heading inside a fence is code.
    """
    return tuple(_blocks(text))


def text_sections(text: str) -> Iterator[Span]:
    """The stretches of bare text between heading lines, without surrounding whitespace."""
    return sections_of(text, blocks_of(text))


def sections_of(text: str, blocks: tuple[Block, ...]) -> Iterator[Span]:
    """The stretches between blocks that no chunk holds (headings, running lines), without blanks around."""
    start = 0
    for block in blocks:
        if not block.kind.in_chunks:
            section = stripped(text, start, block.start)
            start = block.end
            if section is not None:
                yield section
    section = stripped(text, start, len(text))
    if section is not None:
        yield section


def _blocks(text: str) -> Iterator[Block]:
    path: tuple[tuple[int, str], ...] = ()
    start = 0
    for kind, line in _special_lines(text):
        names = tuple(name for _, name in path)
        for span in blank_line_blocks(text, start, line.start):
            yield Block(BlockKind.PARAGRAPH, span.start, span.end, names)
        start = line.end
        if kind is BlockKind.CODE:
            yield Block(kind, line.start, line.end, names)
            continue
        level, name = _heading(text[line.start : line.end])
        path = (*(step for step in path if step[0] < level), (level, name))
        yield Block(kind, line.start, line.end, tuple(name for _, name in path), level)
    names = tuple(name for _, name in path)
    for span in blank_line_blocks(text, start, len(text)):
        yield Block(BlockKind.PARAGRAPH, span.start, span.end, names)


def _special_lines(text: str) -> Iterator[tuple[BlockKind, Span]]:
    """Heading lines and whole fenced code blocks, in order, without surrounding whitespace."""
    fence, opened = "", 0
    for line in _LINE.finditer(text):
        content = line[0].rstrip("\r\n")
        mark = _FENCE.match(content)
        if fence:
            if _closes(content, fence):
                yield from _marked(BlockKind.CODE, text, opened, line.end())
                fence = ""
        elif mark is not None:
            fence, opened = mark[1], line.start()
        elif _HEADING.match(content):
            yield from _marked(BlockKind.HEADING, text, line.start(), line.end())
    if fence:
        yield from _marked(BlockKind.CODE, text, opened, len(text))


def _marked(kind: BlockKind, text: str, start: int, end: int) -> Iterator[tuple[BlockKind, Span]]:
    span = stripped(text, start, end)
    if span is not None:
        yield kind, span


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and set(mark) == {fence[0]} and not line.startswith("    ")


def _heading(line: str) -> tuple[int, str]:
    """Level and name of a heading line; a closing run of ``#`` after a space is no part of the name."""
    opening = _HEADING.match(line)
    assert opening is not None
    name = line[opening.end() :].strip()
    open_name = name.rstrip("#")
    closed = not open_name or open_name[-1] in " \t"
    return len(opening[1]), open_name.rstrip() if closed else name
