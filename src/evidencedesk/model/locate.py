"""From a span of canonical text back to the place in the file: pure, and fast for many spans."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model.boxes import unpack_boxes
from evidencedesk.model.document import Block, Document, PageBoxes, PageSpan
from evidencedesk.model.location import Box, Location, Span

_LINE_END = re.compile(r"\r\n|\n|\r")


def line_starts(text: str) -> list[int]:
    r"""Offsets at which the lines of ``text`` begin; lines end at ``\n``, ``\r\n`` or ``\r`` only.

    Form feeds, U+0085, U+2028 and the other characters at which ``str.splitlines`` cuts are no line
    ends to an editor, so they are none here.
    """
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def locate(document: Document, span: Span) -> Location:
    """The place of ``span`` in the file that ``document`` was read from.

    For many spans of one document make one :class:`Locator` and ask it.
    """
    return Locator(document).locate(span)


class Locator:
    """Locates spans of one document.

    White space at the ends of a span says nothing about where its text stands, so lines, pages and
    the block are those of its first and last non-blank characters. Heading path, paragraph, row,
    element, sheet and slide are those of the block in which the span's text begins; a span that runs on into further
    blocks is read on from there. In a paged format each line of text is one line of canonical text,
    and gets one box.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._lines = line_starts(document.text) if document.first_line is not None else []
        self._block_starts = [block.start for block in document.blocks]
        self._page_ends = [page.end for page in document.pages]
        self._box_starts = [page.start for page in document.page_boxes]
        self._boxes: dict[int, NDArray[np.float32]] = {}

    def locate(self, span: Span) -> Location:
        """The place of ``span``; of a blank span only the offsets are known."""
        text = self._document.text[span.start : span.end]
        first = span.start + len(text) - len(text.lstrip())
        end = span.start + len(text.rstrip())
        if first >= end:
            return Location(start=span.start, end=span.end)
        block = self._block_at(first)
        pages = self._pages(first, end)
        return Location(
            heading=block.heading if block else (),
            first_line=self._line(first),
            last_line=self._line(end - 1),
            page=pages[0].number if pages else None,
            last_page=pages[-1].number if pages else None,
            paragraph=block.paragraph if block else None,
            row=block.row if block else None,
            element=block.element if block else None,
            sheet=block.sheet if block else None,
            slide=block.slide if block else None,
            boxes=self._line_boxes(first, end),
            start=span.start,
            end=span.end,
        )

    def _line(self, offset: int) -> int | None:
        first_line = self._document.first_line
        if first_line is None:
            return None
        return first_line + bisect_right(self._lines, offset) - 1

    def _block_at(self, offset: int) -> Block | None:
        index = bisect_right(self._block_starts, offset) - 1
        if index < 0:
            return None
        block = self._document.blocks[index]
        return block if offset < block.end else None

    def _pages(self, first: int, end: int) -> tuple[PageSpan, ...]:
        pages = self._document.pages
        start = bisect_right(self._page_ends, first)
        return tuple(page for page in pages[start:] if page.start < end and page.end > first)

    def _line_boxes(self, first: int, end: int) -> tuple[Box, ...]:
        found: list[Box] = []
        starts = self._box_starts
        for index in range(max(bisect_right(starts, first) - 1, 0), bisect_left(starts, end)):
            page = self._document.page_boxes[index]
            boxes = self._page_array(index, page)
            lower, upper = max(first, page.start), min(end, page.start + len(boxes))
            if lower < upper:
                rows = boxes[lower - page.start : upper - page.start]
                found += _boxes_by_line(page.page, self._document.text[lower:upper], rows)
        return tuple(found)

    def _page_array(self, index: int, page: PageBoxes) -> NDArray[np.float32]:
        if index not in self._boxes:
            self._boxes[index] = unpack_boxes(page.data)
        return self._boxes[index]


def _boxes_by_line(page: int, text: str, boxes: NDArray[np.float32]) -> list[Box]:
    starts = line_starts(text)
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        inked = [index for index in range(start, end) if not text[index].isspace()]
        rows = boxes[inked]
        rows = rows[~np.isnan(rows[:, 0])]
        if len(rows):
            x0, y0 = rows[:, :2].min(axis=0).tolist()
            x1, y1 = rows[:, 2:].max(axis=0).tolist()
            found.append(Box(page, round(x0, 2), round(y0, 2), round(x1, 2), round(y1, 2)))
    return found
