"""Where a piece of text stands: spans, boxes and the location a person can open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Span(NamedTuple):
    """``[start, end)`` in code points. A named tuple, so that a span equals the pair it is."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in PDF points from the top left after rotation; ``x0 <= x1``, ``y0 <= y1``."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a document, as far as its format knows one. 0, None or empty means unknown.

    Attributes:
        heading: path of headings from the top of the document to the one in force.
        first_line: first file line, counting from 1 and including any front matter.
        last_line: last file line.
        page: first PDF page.
        last_page: last PDF page.
        paragraph: DOCX paragraph number.
        row: table row (the header row is row 1).
        element: CSS path of the HTML block, starting at the nearest ancestor that has an id
            (``#fees > p:nth-of-type(2)``).
        sheet: spreadsheet's sheet.
        slide: presentation's slide.
        boxes: one box per line of text, in reading order.
        start: first code point in the canonical text.
        end: one past the last code point.
    """

    heading: tuple[str, ...] = ()
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None
    last_page: int | None = None
    paragraph: int | None = None
    row: int | None = None
    element: str | None = None
    sheet: str | None = None
    slide: int | None = None
    boxes: tuple[Box, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def label(self) -> str:
        """The place as a person says it: ``Returning a bike, lines 11-12``, ``page 4``, ``Fees, row 3``.

        A sheet or slide whose name is its only heading is named once: ``sheet Fees, row 12``.
        """
        named = {self.sheet, f"Slide {self.slide}"}
        parts = [heading for heading in self.heading[-1:] if heading not in named]
        if self.sheet:
            parts.append(f"sheet {self.sheet}")
        if self.slide:
            parts.append(f"slide {self.slide}")
        if self.page:
            parts.append(_range("page", self.page, self.last_page))
        if self.first_line:
            parts.append(_range("line", self.first_line, self.last_line))
        elif self.row:
            parts.append(f"row {self.row}")
        elif self.paragraph:
            parts.append(f"paragraph {self.paragraph}")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape of interfaces 1.1; unknown is null."""
        return {
            "heading": list(self.heading),
            "first_line": self.first_line or None,
            "last_line": self.last_line or None,
            "page": self.page or None,
            "last_page": self.last_page or None,
            "paragraph": self.paragraph or None,
            "row": self.row or None,
            "element": self.element or None,
            "sheet": self.sheet or None,
            "slide": self.slide or None,
            "boxes": [
                {"page": box.page, "x0": box.x0, "y0": box.y0, "x1": box.x1, "y1": box.y1}
                for box in self.boxes
            ],
            "start": self.start,
            "end": self.end,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Location:
        """The location that :meth:`to_json` wrote."""
        plain = {key: value.get(key) for key in _PLAIN_FIELDS}
        return cls(
            heading=tuple(value.get("heading") or ()),
            boxes=tuple(Box(**box) for box in value.get("boxes") or ()),
            start=int(value.get("start") or 0),
            end=int(value.get("end") or 0),
            **plain,
        )


_PLAIN_FIELDS = (
    "first_line",
    "last_line",
    "page",
    "last_page",
    "paragraph",
    "row",
    "element",
    "sheet",
    "slide",
)


def _range(word: str, first: int, last: int | None) -> str:
    if last is None or last <= first:
        return f"{word} {first}"
    return f"{word}s {first}-{last}"
