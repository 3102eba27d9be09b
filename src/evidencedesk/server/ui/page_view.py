"""A PDF's pages as pictures with boxes over the quoted words, and the text of each for every reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evidencedesk.model import Box, Document, PageSpan, Span
from evidencedesk.model.locate import Locator
from evidencedesk.server.ui.marking import HIT, Mark, Piece, pieces


@dataclass(frozen=True, slots=True)
class PageView:
    """One page.

    Attributes:
        number: counting from 1.
        width: in points, after rotation.
        height: in points, after rotation.
        boxes: over the quoted words, one per line.
        pieces: the page's text, the quoted words marked.
    """

    number: int
    width: float
    height: float
    boxes: tuple[Box, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class PagesView:
    """Some pages of a document in order, and the numbers of the ones before and after, if any."""

    pages: tuple[PageView, ...]
    total: int
    earlier: int | None
    later: int | None


def pages_view(
    document: Document, hits: Sequence[Span], *, page: int | None, most: int
) -> PagesView:
    """Up to ``most`` pages of ``document``.

    Args:
        document: a paged document.
        hits: quoted spans of its canonical text.
        page: the first page wanted; the one with the first quoted words when None.
        most: how many pages.
    """
    boxes = _boxes(document, hits)
    wanted = page or min((box.page for box in boxes), default=1)
    numbers = [each.number for each in document.pages]
    first = numbers.index(wanted) if wanted in numbers else 0
    shown = document.pages[first : first + most]
    marks = [Mark(hit.start, hit.end, HIT) for hit in hits]
    return PagesView(
        pages=tuple(_view(document, each, boxes, marks) for each in shown),
        total=len(numbers),
        earlier=numbers[max(0, first - most)] if first else None,
        later=numbers[first + most] if first + most < len(numbers) else None,
    )


def _boxes(document: Document, hits: Sequence[Span]) -> list[Box]:
    locator = Locator(document)
    return [box for hit in hits for box in locator.locate(hit).boxes]


def _view(
    document: Document, page: PageSpan, boxes: Sequence[Box], marks: Sequence[Mark]
) -> PageView:
    return PageView(
        number=page.number,
        width=page.width,
        height=page.height,
        boxes=tuple(box for box in boxes if box.page == page.number),
        pieces=pieces(document.text, Span(page.start, page.end), marks),
    )
