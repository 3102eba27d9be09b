"""A document's text as structure for a page: headings, paragraphs, lists, tables, code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from evidencedesk.model import Block, BlockKind, Document, Span
from evidencedesk.model.locate import line_starts
from evidencedesk.server.ui.marking import HIT, Mark, Piece, cells, markdown_marks, pieces

_DELIMITERS = re.compile(r"[\s|:+-]*-[\s|:+-]*")
_MARKDOWN = "text/markdown"


@dataclass(frozen=True, slots=True)
class Row:
    """A table row; ``header`` names columns."""

    cells: tuple[tuple[Piece, ...], ...]
    header: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A list item and its depth, counting from 1 and no deeper than 6."""

    pieces: tuple[Piece, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Part:
    """One element of the page.

    Attributes:
        kind: ``heading paragraph list table code quote markup running``.
        level: of a heading, 1 to 6.
        line: file line on which it begins, None where lines mean nothing.
        sheet: the sheet that begins here, else empty.
        slide: the slide that begins here, else None.
        pieces: its text, unless it is a list or a table.
        items: of a list.
        rows: of a table.
    """

    kind: str
    level: int = 0
    line: int | None = None
    sheet: str = ""
    slide: int | None = None
    pieces: tuple[Piece, ...] = ()
    items: tuple[Item, ...] = ()
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class TextView:
    """A part of a document's text.

    Attributes:
        parts: its elements in order.
        earlier: where the part before begins, None when this is the first.
        later: where the part after begins, None when this is the last.
    """

    parts: tuple[Part, ...]
    earlier: int | None
    later: int | None


def text_view(document: Document, hits: Sequence[Span], *, start: int, size: int) -> TextView:
    """The blocks of ``document`` from about ``start`` on, ``size`` characters or one block at least.

    Args:
        document: the document.
        hits: quoted spans of its canonical text.
        start: first code point wanted; the block that holds it is shown as a whole.
        size: how many characters to show.
    """
    blocks = document.blocks or _whole(document)
    first = max(0, bisect_right([block.start for block in blocks], start) - 1)
    last = first + 1
    while last < len(blocks) and blocks[last].end - blocks[first].start <= size:
        last += 1
    shown = blocks[first:last]
    parts = tuple(_parts(document, shown, _Marked(document, hits)))
    earlier = None if first == 0 else _start_before(blocks, first, size)
    later = blocks[last].start if last < len(blocks) else None
    return TextView(parts, earlier, later)


def around(hits: Sequence[Span], size: int) -> int:
    """Where to begin so that the first quoted words are in sight, with what leads up to them."""
    return max(0, hits[0].start - size // 3) if hits else 0


def _whole(document: Document) -> tuple[Block, ...]:
    return (Block(BlockKind.PARAGRAPH, 0, len(document.text)),)


def _start_before(blocks: Sequence[Block], first: int, size: int) -> int:
    index = first - 1
    while index > 0 and blocks[first].start - blocks[index - 1].start <= size:
        index -= 1
    return blocks[index].start


class _Marked:
    """Cuts spans of one document into pieces."""

    def __init__(self, document: Document, hits: Sequence[Span]) -> None:
        self._text = document.text
        self._markdown = document.media_type == _MARKDOWN
        self._hits = [Mark(hit.start, hit.end, HIT) for hit in hits]

    def block(self, block: Block) -> tuple[Piece, ...]:
        return self.span(Span(block.start, block.end), block.kind)

    def span(self, span: Span, kind: BlockKind) -> tuple[Piece, ...]:
        marks = list(self._hits)
        if self._markdown:
            marks += markdown_marks(self._text, span, kind)
        return pieces(self._text, span, marks)


def _parts(document: Document, blocks: Sequence[Block], marked: _Marked) -> Iterator[Part]:
    lines = line_starts(document.text) if document.first_line is not None else []
    sheet: str = ""
    slide: int | None = None
    for (kind, _), grouped in groupby(blocks, key=_joined_with):
        members = list(grouped)
        head = members[0]
        place = Part(
            kind,
            line=_line(document, lines, head.start),
            sheet=head.sheet if head.sheet and head.sheet != sheet else "",
            slide=head.slide if head.slide and head.slide != slide else None,
        )
        sheet, slide = head.sheet or sheet, head.slide or slide
        yield _filled(place, members, document.text, marked)


def _line(document: Document, lines: Sequence[int], offset: int) -> int | None:
    if document.first_line is None:
        return None
    return document.first_line + bisect_right(lines, offset) - 1


def _joined_with(block: Block) -> tuple[str, int]:
    """Neighbours with the same key make one element."""
    if block.kind is BlockKind.LIST_ITEM:
        return "list", block.group
    if block.kind in {BlockKind.TABLE_HEADER, BlockKind.TABLE_ROW}:
        return "table", block.group
    return block.kind.value, block.start


def _filled(part: Part, members: Sequence[Block], text: str, marked: _Marked) -> Part:
    if part.kind == "list":
        items = (Item(marked.block(each), min(max(each.level, 1), 6)) for each in members)
        return replace(part, items=tuple(items))
    if part.kind == "table":
        return replace(
            part, rows=tuple(row for each in members for row in _rows(each, text, marked))
        )
    level = min(max(members[0].level, 1), 6) if part.kind == "heading" else 0
    return replace(part, level=level, pieces=marked.block(members[0]))


def _rows(block: Block, text: str, marked: _Marked) -> Iterator[Row]:
    header = block.kind is BlockKind.TABLE_HEADER
    for span in _row_lines(text, block):
        if header and _DELIMITERS.fullmatch(text[span.start : span.end]):
            continue
        yield Row(tuple(marked.span(cell, block.kind) for cell in cells(text, span)), header)


def _row_lines(text: str, block: Block) -> Iterator[Span]:
    """A header block of Markdown holds the line of names and the line of dashes below it."""
    if block.kind is BlockKind.TABLE_ROW:
        yield Span(block.start, block.end)
        return
    start = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        yield Span(start, start + len(line.rstrip("\r\n")))
        start += len(line)
