"""Characters of a PDF page to lines of text with a box for every character.

pdfium gives characters in the order in which the page draws them, which is the order of reading in
nearly every file, two columns included. It adds spaces and line ends of its own, and writes U+0002
for a hyphen that ends a line inside a word; its string and its character indices differ, so each
character is asked for by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from ctypes import PYFUNCTYPE, byref, c_double, c_int, c_uint, c_void_p, cast
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

_HYPHEN_AT_LINE_END = 0x02
_HYPHENS = ("\N{HYPHEN}", "\N{SOFT HYPHEN}")
_REPLACEMENT = 0xFFFD
_MEANT = frozenset({0x02, 0x09, 0x0A, 0x0D})
_UNMAPPED = [*(code for code in range(0x20) if code not in _MEANT), 0xFFFE, 0xFFFF, _REPLACEMENT]
_SPACE = 0.15
_KNOWN, _UNKNOWN, _LINE_END = range(3)
_KINDS_OF_CODE = np.zeros(0x10001, dtype=np.uint8)
_KINDS_OF_CODE[_UNMAPPED] = _UNKNOWN
_KINDS_OF_CODE[[_HYPHEN_AT_LINE_END, 0x0A, 0x0D]] = _LINE_END
_LAM = 0x644
_IS_ALEF = np.zeros(0x650, dtype=np.bool_)
_IS_ALEF[[0x622, 0x623, 0x625, 0x627]] = True
_WIDEST_GAP = 1.5
_TALLEST = 2.0

Boxes = NDArray[np.float32]

# Asked for every character of every page: taking plain addresses and keeping the interpreter's lock
# makes a call three times as fast as pypdfium2's own binding of the same function.
_code_of = PYFUNCTYPE(c_uint, c_void_p, c_int)(
    cast(pdfium.FPDFText_GetUnicode, c_void_p).value or 0
)
_loose_box = PYFUNCTYPE(c_int, c_void_p, c_int, c_void_p)(
    cast(pdfium.FPDFText_GetLooseCharBox, c_void_p).value or 0
)


@dataclass(frozen=True, slots=True)
class Frame:
    """How a page's own coordinates become points from the top left after rotation.

    Attributes:
        left: left edge of the visible page in the page's own coordinates.
        bottom: its bottom edge.
        across: its width before rotation.
        up: its height before rotation.
        turns: clockwise quarter turns, 0 to 3.
    """

    left: float
    bottom: float
    across: float
    up: float
    turns: int

    @property
    def width(self) -> float:
        """Width after rotation."""
        return self.up if self.turns % 2 else self.across

    @property
    def height(self) -> float:
        """Height after rotation."""
        return self.across if self.turns % 2 else self.up

    def boxes(self, rects: Boxes) -> Boxes:
        """``x0, y0, x1, y1`` of rectangles given as left, top, right, bottom in its coordinates."""
        x0, x1 = rects[:, 0] - self.left, rects[:, 2] - self.left
        y0, y1 = rects[:, 3] - self.bottom, rects[:, 1] - self.bottom
        turned = {
            0: (x0, self.up - y1, x1, self.up - y0),
            1: (y0, x0, y1, x1),
            2: (self.across - x1, y0, self.across - x0, y1),
            3: (self.up - y1, self.across - x1, self.up - y0, self.across - x0),
        }
        return np.stack(turned[self.turns], axis=1).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of text.

    Attributes:
        page: 1-based page number.
        text: its characters.
        boxes: shape (characters, 4); NaN for characters that the page does not draw.
        size: size of its type in points.
        x0, y0, x1, y1: the rectangle around it.
        broken: True when it ends in a hyphen inside a word.
    """

    page: int
    text: str
    boxes: Boxes
    size: float
    x0: float
    y0: float
    x1: float
    y1: float
    broken: bool = False

    @property
    def middle(self) -> float:
        """Height of its middle, from the top of the page."""
        return (self.y0 + self.y1) / 2


@dataclass(slots=True)
class PageLines:
    """The lines of one page in reading order, and how many characters stand for nothing known."""

    frame: Frame
    lines: list[Line] = field(default_factory=list)
    characters: int = 0
    unmapped: int = 0


def read_page(page: pdfium.FPDF_PAGE, number: int) -> PageLines:
    """The lines of a loaded page; none when it has no text.

    Args:
        page: pdfium's page handle.
        number: 1-based page number.
    """
    found = PageLines(_frame(page))
    text_page = pdfium.FPDFText_LoadPage(page)
    if not text_page:
        return found
    try:
        for line in _drawn_lines(text_page, found, number):
            if found.lines and _goes_on(found.lines[-1], line):
                found.lines[-1] = _joined(found.lines[-1], line)
            else:
                found.lines.append(line)
    finally:
        pdfium.FPDFText_ClosePage(text_page)
    return found


def _frame(page: pdfium.FPDF_PAGE) -> Frame:
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, byref(box))
    across, up = box.right - box.left, box.top - box.bottom
    return Frame(box.left, box.bottom, across, up, pdfium.FPDFPage_GetRotation(page) % 4)


def _drawn_lines(text_page: pdfium.FPDF_TEXTPAGE, found: PageLines, number: int) -> Iterator[Line]:
    codes, rects = _characters(text_page)
    sources = np.arange(len(codes))
    codes, sources = _whole_characters(codes, sources)
    codes, sources = _drawn_once(text_page, codes, sources, rects)
    codes[codes > 0x10FFFF] = _REPLACEMENT
    kinds = _KINDS_OF_CODE[np.minimum(codes, len(_KINDS_OF_CODE) - 1)]
    unmapped = kinds == _UNKNOWN
    found.characters, found.unmapped = len(codes), int(unmapped.sum())
    codes[unmapped] = _REPLACEMENT
    boxes = found.frame.boxes(rects[sources])
    page_text = codes.astype("<u4").tobytes().decode("utf-32-le")
    start = 0
    for end in [*np.flatnonzero(kinds == _LINE_END).tolist(), len(codes)]:
        broken = end < len(codes) and codes[end] == _HYPHEN_AT_LINE_END
        text = page_text[start:end] + ("-" if broken else "")
        if text.strip():
            lead, stop = len(text) - len(text.lstrip()), len(text.rstrip())
            first = int(sources[start + lead])
            size = _type_size(text_page, first)
            inked = boxes[start + lead : start + stop]
            yield _line(number, text[lead:stop], inked, size, broken=bool(broken))
        start = end + 1


def _drawn_once(
    text_page: pdfium.FPDF_TEXTPAGE,
    codes: NDArray[np.int64],
    sources: NDArray[np.int64],
    rects: Boxes,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Characters that are drawn twice on the same spot, to look bold, kept once.

    And Arabic ligatures of lam and alef put into the order of writing: pdfium turns the two letters of
    the one glyph around with the rest of the line.
    """
    if len(codes) < 2:
        return codes, sources
    places = rects[sources]
    moved = np.abs(places[1:] - places[:-1])
    width = places[:-1, 2] - places[:-1, 0]
    near = np.all(moved < 0.2 * width[:, None], axis=1)
    alefs = near & _IS_ALEF[np.minimum(codes[:-1], len(_IS_ALEF) - 1)] & (codes[1:] == _LAM)
    swapped = np.flatnonzero(alefs)
    codes[swapped], codes[swapped + 1] = codes[swapped + 1], codes[swapped]
    alike = near & (codes[1:] == codes[:-1]) & (codes[1:] > 0x20)
    again = [
        place + 1
        for place in np.flatnonzero(alike).tolist()
        if not _same_glyph(text_page, int(sources[place]), int(sources[place + 1]))
    ]
    return np.delete(codes, again), np.delete(sources, again)


def _same_glyph(text_page: pdfium.FPDF_TEXTPAGE, first: int, second: int) -> bool:
    """Whether two letters on one spot are a ligature (``ff``): those come from one piece of text."""
    objects = [
        cast(pdfium.FPDFText_GetTextObject(text_page, index), c_void_p).value
        for index in (first, second)
    ]
    return objects[0] == objects[1]


def _characters(text_page: pdfium.FPDF_TEXTPAGE) -> tuple[NDArray[np.int64], Boxes]:
    """Code and rectangle (left, top, right, bottom) of every character; NaN without a rectangle."""
    count = max(pdfium.FPDFText_CountChars(text_page), 0)
    page = cast(text_page, c_void_p).value
    indices = range(count)
    codes = np.fromiter(map(_code_of, repeat(page), indices), dtype=np.int64, count=count)
    rects = np.full((count, 4), np.nan, dtype=np.float32)
    places = range(rects.ctypes.data, rects.ctypes.data + 16 * count, 16) if count else ()
    given = np.fromiter(map(_loose_box, repeat(page), indices, places), dtype=np.bool_, count=count)
    rects[~given] = np.nan
    empty = ~((rects[:, 2] > rects[:, 0]) & (rects[:, 1] > rects[:, 3]))
    rects[empty] = np.nan
    for index in np.flatnonzero(empty).tolist():
        if codes[index] > 0x20:
            rects[index] = _tight_rect(text_page, index)
    return codes, rects


def _tight_rect(text_page: pdfium.FPDF_TEXTPAGE, index: int) -> tuple[float, ...]:
    left, right, bottom, top = (c_double() for _ in range(4))
    given = pdfium.FPDFText_GetCharBox(
        text_page, index, byref(left), byref(right), byref(bottom), byref(top)
    )
    if not given or right.value <= left.value or top.value <= bottom.value:
        return (math.nan,) * 4
    return left.value, top.value, right.value, bottom.value


def _whole_characters(
    codes: NDArray[np.int64], sources: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Halves of characters beyond U+FFFF put together; halves without their other replaced."""
    high = (codes >= 0xD800) & (codes < 0xDC00)
    low = (codes >= 0xDC00) & (codes < 0xE000)
    if not high.any() and not low.any():
        return codes, sources
    pairs = np.flatnonzero(high[:-1] & low[1:])
    whole = 0x10000 + ((codes[pairs] - 0xD800) << 10) + (codes[pairs + 1] - 0xDC00)
    codes[high | low] = _REPLACEMENT
    codes[pairs] = whole
    return np.delete(codes, pairs + 1), np.delete(sources, pairs + 1)


def _line(number: int, text: str, boxes: Boxes, size: float, *, broken: bool) -> Line:
    inked = boxes[~np.isnan(boxes[:, 0])]
    if len(inked):
        x0, y0 = inked[:, :2].min(axis=0).tolist()
        x1, y1 = inked[:, 2:].max(axis=0).tolist()
    else:
        x0 = y0 = x1 = y1 = 0.0
    return Line(number, text, boxes, size, x0, y0, x1, y1, broken or text.endswith(_HYPHENS))


def _goes_on(above: Line, line: Line) -> bool:
    """Whether a piece stands right behind another on the same line, as exponents do."""
    if max(above.y1 - above.y0, line.y1 - line.y0) > _TALLEST * max(above.size, line.size):
        return False
    overlap = min(above.y1, line.y1) - max(above.y0, line.y0)
    shorter = min(above.y1 - above.y0, line.y1 - line.y0)
    size = max(above.size, line.size)
    gap = line.x0 - above.x1
    return not above.broken and overlap > 0.5 * shorter and -0.3 * size < gap < _WIDEST_GAP * size


def _joined(above: Line, line: Line) -> Line:
    space = " " if line.x0 - above.x1 > _SPACE * max(above.size, line.size) else ""
    between = np.full((len(space), 4), np.nan, dtype=np.float32)
    text = above.text + space + line.text
    boxes = np.concatenate([above.boxes, between, line.boxes])
    size = max(above.size, line.size)
    return _line(above.page, text, boxes, size, broken=line.broken)


def _type_size(text_page: pdfium.FPDF_TEXTPAGE, index: int) -> float:
    """Size of the type as drawn: the font's size may be 1 and the matrix do the rest."""
    matrix = pdfium.FS_MATRIX()
    scale = 1.0
    if pdfium.FPDFText_GetMatrix(text_page, index, byref(matrix)):
        scale = math.hypot(matrix.c, matrix.d)
    return round(float(pdfium.FPDFText_GetFontSize(text_page, index)) * scale, 1)
