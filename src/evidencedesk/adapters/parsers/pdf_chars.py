"""The characters of a PDF page with a rectangle for each, as fast as pdfium gives them.

pdfium writes U+0002 for a hyphen that ends a line inside a word, and its string leaves characters
out, so that string and character indices may differ: only where both have the same length is the
string taken, else each character is asked for by itself.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from ctypes import (
    PYFUNCTYPE,
    byref,
    c_char,
    c_double,
    c_float,
    c_int,
    c_uint,
    c_ushort,
    c_void_p,
    cast,
    sizeof,
)
from itertools import repeat

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from evidencedesk.model.boxes import Boxes

Codes = NDArray[np.int64]

REPLACEMENT = 0xFFFD
HYPHEN_AT_LINE_END = 0x02
_HYPHEN_IN_STRING = 0xFFFE
_RECT = 4 * sizeof(c_float)

# Asked for nearly every character of every page: without declared argument types, with arguments made
# once, and keeping the interpreter's lock, a call costs a fifth of what pypdfium2's own binding costs.
_code_of = PYFUNCTYPE(c_uint, c_void_p, c_int)(
    cast(pdfium.FPDFText_GetUnicode, c_void_p).value or 0
)
_loose_box = PYFUNCTYPE(None)(cast(pdfium.FPDFText_GetLooseCharBox, c_void_p).value or 0)
_font_size = PYFUNCTYPE(c_double)(cast(pdfium.FPDFText_GetFontSize, c_void_p).value or 0)
_matrix = PYFUNCTYPE(c_int)(cast(pdfium.FPDFText_GetMatrix, c_void_p).value or 0)
for _undeclared in (_loose_box, _font_size, _matrix):
    _undeclared.argtypes = None  # type: ignore[assignment]  # what ctypes documents as "any"


class CharacterReader:
    """Reads pages one after another into memory that it uses again."""

    def __init__(self) -> None:
        self._rects: Boxes = np.empty((0, 4), dtype=np.float32)
        self._slots: list[object] = []
        self._units: NDArray[np.uint16] = np.empty(1, dtype=np.uint16)
        self._turn = pdfium.FS_MATRIX()
        self._turn_slot = byref(self._turn)

    def read(self, text_page: pdfium.FPDF_TEXTPAGE) -> tuple[Codes, Boxes]:
        """Code and rectangle (left, top, right, bottom) of every character; NaN without a rectangle.

        Blanks have no rectangle.
        """
        count = max(pdfium.FPDFText_CountChars(text_page), 0)
        self._make_room(count)
        codes = self._codes(text_page, count)
        inked = np.flatnonzero(codes > 0x20)
        page = byref(c_char.from_address(cast(text_page, c_void_p).value or 0))
        given = self._rects[: len(inked)]
        given[:] = np.nan
        deque(map(_loose_box, repeat(page), inked.tolist(), self._slots), maxlen=0)
        rects = np.full((count, 4), np.nan, dtype=np.float32)
        rects[inked] = given
        with np.errstate(invalid="ignore"):
            drawn = (given[:, 2] > given[:, 0]) & (given[:, 1] > given[:, 3])
        for index in inked[~drawn].tolist():
            rects[index] = _tight_rect(text_page, index)
        return codes, rects

    def type_sizes(self, page: c_void_p, indices: Sequence[int]) -> list[float]:
        """Sizes of the type as drawn: a font's size may be 1 and the matrix do the rest."""
        handle = byref(c_char.from_address(page.value or 0))
        turn, slot = self._turn, self._turn_slot
        sizes = []
        for index in indices:
            scale = math.hypot(turn.c, turn.d) if _matrix(handle, index, slot) else 1.0
            sizes.append(round(_font_size(handle, index) * scale, 1))
        return sizes

    def _make_room(self, count: int) -> None:
        if count <= len(self._slots) and len(self._units) > count:
            return
        self._rects = np.empty((count, 4), dtype=np.float32)
        memory = (c_float * (4 * count)).from_address(self._rects.ctypes.data)
        self._slots = [byref(memory, _RECT * index) for index in range(count)]
        self._units = np.empty(count + 1, dtype=np.uint16)

    def _codes(self, text_page: pdfium.FPDF_TEXTPAGE, count: int) -> Codes:
        room = (c_ushort * (count + 1)).from_address(self._units.ctypes.data)
        written = int(pdfium.FPDFText_GetText(text_page, 0, count, room)) - 1
        units = self._units[: max(written, 0)]
        page = cast(text_page, c_void_p).value
        if written != count or ((units >= 0xD800) & (units < 0xE000)).any():
            each = map(_code_of, repeat(page), range(count))
            return np.fromiter(each, dtype=np.int64, count=count)
        codes: Codes = units.astype(np.int64)
        for index in np.flatnonzero(codes == _HYPHEN_IN_STRING).tolist():
            codes[index] = _code_of(page, index)
        return codes


def whole_characters(codes: Codes, sources: Codes) -> tuple[Codes, Codes]:
    """Halves of characters beyond U+FFFF put together; halves without their other replaced."""
    high = (codes >= 0xD800) & (codes < 0xDC00)
    low = (codes >= 0xDC00) & (codes < 0xE000)
    if not high.any() and not low.any():
        return codes, sources
    pairs = np.flatnonzero(high[:-1] & low[1:])
    whole = 0x10000 + ((codes[pairs] - 0xD800) << 10) + (codes[pairs + 1] - 0xDC00)
    codes[high | low] = REPLACEMENT
    codes[pairs] = whole
    return np.delete(codes, pairs + 1), np.delete(sources, pairs + 1)


def _tight_rect(text_page: pdfium.FPDF_TEXTPAGE, index: int) -> tuple[float, ...]:
    left, right, bottom, top = (c_double() for _ in range(4))
    given = pdfium.FPDFText_GetCharBox(
        text_page, index, byref(left), byref(right), byref(bottom), byref(top)
    )
    if not given or right.value <= left.value or top.value <= bottom.value:
        return (math.nan,) * 4
    return left.value, top.value, right.value, bottom.value
