"""Characters of a PDF page to lines of text with a box for every character.

pdfium gives characters in the order in which the page draws them, which is the order of reading in
nearly every file, and adds spaces and line ends of its own. What it gives on one line is cut into
pieces at wide gaps; the pieces become lines again once it is known which gaps lie between columns
(:mod:`.pdf_columns`) and which between the cells of a table (:mod:`.pdf_tables`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import byref, c_void_p, cast
from dataclasses import dataclass, field

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from evidencedesk.adapters.parsers.pdf_chars import (
    HYPHEN_AT_LINE_END,
    REPLACEMENT,
    CharacterReader,
    Codes,
    whole_characters,
)
from evidencedesk.adapters.parsers.pdf_columns import Columns, columns_of
from evidencedesk.adapters.parsers.pdf_pieces import Frame, Line, PageLines, Piece
from evidencedesk.adapters.parsers.pdf_tables import mark_tables
from evidencedesk.model.boxes import Boxes

_HYPHENS = ("\N{HYPHEN}", "\N{SOFT HYPHEN}")
_MEANT = frozenset({0x02, 0x09, 0x0A, 0x0D})
_UNMAPPED = [*(code for code in range(0x20) if code not in _MEANT), 0xFFFE, 0xFFFF, REPLACEMENT]
_BLANKS = [9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F]
_BLANKS += [*range(0x2000, 0x200B), 0x205F, 0x3000]
_UNKNOWN, _BLANK = 1, 2
_KINDS_OF_CODE = np.zeros(0x10001, dtype=np.uint8)
_KINDS_OF_CODE[_BLANKS] = _BLANK
_KINDS_OF_CODE[_UNMAPPED] = _UNKNOWN
_LAM = 0x644
_IS_ALEF = np.zeros(0x650, dtype=np.bool_)
_IS_ALEF[[0x622, 0x623, 0x625, 0x627]] = True
_SPACE = 0.15
_WIDEST_GAP = 1.5
_TALLEST = 2.0
_WIDE = 0.75  # of the height of a line's boxes, which is a fifth more than the size of its type


@dataclass(slots=True, eq=False)
class _Page:
    """What a page draws: its text, and box and place in pdfium's count of each character."""

    number: int
    text: str
    codes: Codes
    boxes: Boxes
    sources: Codes
    pieces: list[Piece] = field(default_factory=list)


def read_page(page: pdfium.FPDF_PAGE, number: int, reader: CharacterReader) -> PageLines:
    """The lines of a loaded page in reading order; none when it has no text.

    Args:
        page: pdfium's page handle.
        number: 1-based page number.
        reader: memory for characters.
    """
    found = PageLines(_frame(page))
    text_page = pdfium.FPDFText_LoadPage(page)
    if not text_page:
        return found
    try:
        drawn = _drawn(text_page, found, number, reader)
        _add_pieces(drawn, reader, c_void_p(cast(text_page, c_void_p).value))
    finally:
        pdfium.FPDFText_ClosePage(text_page)
    found.lines = list(_lines(drawn))
    return found


def _frame(page: pdfium.FPDF_PAGE) -> Frame:
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, byref(box))
    across, up = box.right - box.left, box.top - box.bottom
    return Frame(box.left, box.bottom, across, up, pdfium.FPDFPage_GetRotation(page) % 4)


def _drawn(
    text_page: pdfium.FPDF_TEXTPAGE, found: PageLines, number: int, reader: CharacterReader
) -> _Page:
    codes, rects = reader.read(text_page)
    codes, sources = whole_characters(codes, np.arange(len(codes)))
    codes, sources = _drawn_once(text_page, codes, sources, rects)
    codes[codes > 0x10FFFF] = REPLACEMENT
    unmapped = _KINDS_OF_CODE[np.minimum(codes, len(_KINDS_OF_CODE) - 1)] == _UNKNOWN
    found.characters, found.unmapped = len(codes), int(unmapped.sum())
    codes[unmapped] = REPLACEMENT
    shown = np.where(codes == HYPHEN_AT_LINE_END, ord("-"), codes)
    text = shown.astype("<u4").tobytes().decode("utf-32-le")
    found.boxes = found.frame.boxes(rects[sources] if len(sources) < len(rects) else rects)
    return _Page(number, text, codes, found.boxes, sources)


def _drawn_once(
    text_page: pdfium.FPDF_TEXTPAGE, codes: Codes, sources: Codes, rects: Boxes
) -> tuple[Codes, Codes]:
    """Characters that are drawn twice on the same spot, to look bold, kept once.

    And Arabic ligatures of lam and alef put into the order of writing: pdfium turns the two letters of
    the one glyph around with the rest of the line.
    """
    if len(codes) < 2:
        return codes, sources
    places = rects[sources] if len(sources) != len(rects) else rects
    left = places[:, 0]
    near = np.flatnonzero(np.abs(left[1:] - left[:-1]) < 0.2 * (places[:-1, 2] - left[:-1]))
    if not len(near):
        return codes, sources
    moved = np.abs(places[near + 1] - places[near]).max(axis=1)
    near = near[moved < 0.2 * (places[near, 2] - left[near])]
    first, second = codes[near], codes[near + 1]
    swapped = near[_IS_ALEF[np.minimum(first, len(_IS_ALEF) - 1)] & (second == _LAM)]
    codes[swapped], codes[swapped + 1] = codes[swapped + 1], codes[swapped]
    again = [
        place + 1
        for place in near[(first == second) & (first > 0x20)].tolist()
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


def _add_pieces(drawn: _Page, reader: CharacterReader, text_page: c_void_p) -> None:
    codes, boxes = drawn.codes, drawn.boxes
    broken = codes == HYPHEN_AT_LINE_END
    ends = broken | (codes == 0x0A) | (codes == 0x0D)
    kinds = _KINDS_OF_CODE[np.minimum(codes, len(_KINDS_OF_CODE) - 1)]
    inked = np.flatnonzero((kinds != _BLANK) & (codes != 0x0A) & (codes != 0x0D))
    if not len(inked):
        return
    lines = (np.cumsum(ends) - ends)[inked]
    new_line = lines[1:] != lines[:-1]
    wide = _wide_gaps(boxes[inked]) & ~new_line
    cuts = np.flatnonzero(new_line | wide)
    starts = inked[np.concatenate([[0], cuts + 1])]
    last = inked[np.concatenate([cuts, [len(inked) - 1]])]
    soft = np.concatenate([[False], wide[cuts]])
    corners = _rectangles(boxes, starts, last + 1)
    sources = drawn.sources[starts].tolist()
    sizes = reader.type_sizes(text_page, sources)
    rows = zip(
        starts.tolist(),
        (last + 1).tolist(),
        corners,
        soft.tolist(),
        broken[last].tolist(),
        sizes,
        strict=True,
    )
    for start, stop, (x0, y0, x1, y1), is_soft, is_broken, size in rows:
        is_broken = is_broken or drawn.text[stop - 1] in _HYPHENS  # noqa: PLW2901 - completed here
        drawn.pieces.append(Piece(start, stop, x0, y0, x1, y1, size, is_broken, is_soft))


def _wide_gaps(boxes: Boxes) -> NDArray[np.bool_]:
    """Between which neighbours on a line there is room for more than a word space."""
    heights = boxes[:-1, 3] - boxes[:-1, 1]
    with np.errstate(invalid="ignore"):
        after = boxes[1:, 0] - boxes[:-1, 2]
        before = boxes[:-1, 0] - boxes[1:, 2]
        wide: NDArray[np.bool_] = np.maximum(after, before) > _WIDE * heights
    return wide


def _rectangles(boxes: Boxes, starts: Codes, stops: Codes) -> list[list[float]]:
    """Around each span of characters; zeros where none of them has a box."""
    bounds = np.stack([starts, stops], axis=1).ravel()
    padded = np.concatenate([boxes, np.full((1, 4), np.nan, dtype=np.float32)])
    low = np.fmin.reduceat(padded[:, :2], bounds, axis=0)[::2]
    high = np.fmax.reduceat(padded[:, 2:], bounds, axis=0)[::2]
    found: list[list[float]] = np.nan_to_num(np.concatenate([low, high], axis=1)).tolist()
    return found


def _lines(drawn: _Page) -> Iterator[Line]:
    """The page's lines in reading order, columns apart and rows of tables marked."""
    columns = columns_of(drawn.pieces, drawn.codes)
    runs = list(_runs(columns))
    tables = mark_tables(runs, drawn.text)
    for run, table in zip(runs, tables, strict=True):
        yield _line(drawn, run, table)


def _runs(columns: Columns) -> Iterator[list[Piece]]:
    """Pieces that stand on one line of one column."""
    run: list[Piece] = []
    before = 0
    for piece, column in columns.placed:
        if run and column == before and (_follows(run[-1], piece) or _goes_on(run[-1], piece)):
            run.append(piece)
        else:
            if run:
                yield run
            run = [piece]
        before = column
    if run:
        yield run


def _follows(above: Piece, piece: Piece) -> bool:
    """Whether the two are one line as drawn, cut at a wide gap."""
    return piece.soft and piece.before is above


def _goes_on(above: Piece, piece: Piece) -> bool:
    """Whether a piece stands right behind another on the same line, as exponents do."""
    size = max(piece.size, above.size)
    if above.broken or not -0.3 * size < piece.x0 - above.x1 < _WIDEST_GAP * size:
        return False
    height, other = above.y1 - above.y0, piece.y1 - piece.y0
    overlap = min(above.y1, piece.y1) - max(above.y0, piece.y0)
    return overlap > 0.5 * min(height, other) and max(height, other) <= _TALLEST * size


def _line(drawn: _Page, run: Sequence[Piece], table: tuple[int, frozenset[int]]) -> Line:
    number, cuts = table
    if len(run) == 1:
        (one,) = run
        text = drawn.text[one.start : one.stop]
        spans: tuple[tuple[int, int, int], ...] = ((0, one.start, one.stop),)
        corners = one.x0, one.y0, one.x1, one.y1
        return Line(drawn.number, text, spans, one.size, *corners, one.broken, number)
    text, spans = _joined(drawn, run, cuts)
    return Line(
        drawn.number,
        text,
        spans,
        max(piece.size for piece in run),
        min(piece.x0 for piece in run),
        min(piece.y0 for piece in run),
        max(piece.x1 for piece in run),
        max(piece.y1 for piece in run),
        run[-1].broken,
        number,
    )


def _joined(
    drawn: _Page, run: Sequence[Piece], cuts: frozenset[int]
) -> tuple[str, tuple[tuple[int, int, int], ...]]:
    """Text of pieces on one line: as drawn, a tab between the cells of a table."""
    text, spans = "", []
    for index, piece in enumerate(run):
        if index:
            above = run[index - 1]
            text += "\t" if index in cuts else _between(drawn, above, piece)
        spans.append((len(text), piece.start, piece.stop))
        text += drawn.text[piece.start : piece.stop]
    return text, tuple(spans)


def _between(drawn: _Page, above: Piece, piece: Piece) -> str:
    if piece.soft and piece.before is above:
        return drawn.text[above.stop : piece.start] or " "
    return " " if piece.x0 - above.x1 > _SPACE * max(above.size, piece.size) else ""
