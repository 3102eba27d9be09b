"""Columns of prose on a page, and the order in which their lines are read.

A gutter is a vertical strip that hardly any line crosses, with prose on both sides: long lines that
fill their column, one below the other. Lines that do cross it (a title, a wide figure's caption) end
what stands above them in all columns. The order in which a page is drawn is left alone where it
already goes down one column after the other. The idea of cutting along white space is that of
Nagy and Seth (Hierarchical representation of optically scanned documents, ICPR 1984).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.parsers.pdf_pieces import Piece

_FEWEST = 10
_FEWEST_IN_COLUMN = 5
_BIN = 2.0
_CROSSING = 0.04
_NARROW = 0.62
_GUTTER = 0.7
_MOST_GUTTERS = 3
_FILLED = 0.6
_PROSE_CHARS = 14
_DENSE = 0.55
_WIDEST_PAGE = 20_000
_SPANNING = -1


@dataclass(frozen=True, slots=True)
class Columns:
    """Pieces in reading order, each with its column: from 0, -1 for those that span gutters."""

    placed: Sequence[tuple[Piece, int]]


def columns_of(pieces: Sequence[Piece], codes: NDArray[np.int64]) -> Columns:
    """The reading order of ``pieces``, which come as drawn.

    Args:
        pieces: of one page; each is told which one was drawn before it.
        codes: of the page's characters; most of them Arabic or Hebrew mean columns from the right.
    """
    before = None
    for piece in pieces:
        piece.before, before = before, piece
    gutters = _gutters(pieces)
    if not gutters:
        return Columns([(piece, 0) for piece in pieces])
    columns = [_column(piece, gutters) for piece in pieces]
    order = _order(pieces, columns, from_right=_mostly_from_right(codes))
    if _switches(columns) <= _switches([columns[index] for index in order]) + 2:
        return Columns(list(zip(pieces, columns, strict=True)))
    return Columns([(pieces[index], columns[index]) for index in order])


def _gutters(pieces: Sequence[Piece]) -> list[float]:
    if len(pieces) < _FEWEST:
        return []
    left, right = min(p.x0 for p in pieces), max(p.x1 for p in pieces)
    narrow = [p for p in pieces if p.x1 - p.x0 < _NARROW * (right - left)]
    if len(narrow) < max(_FEWEST, 0.4 * len(pieces)) or not 0 < right - left < _WIDEST_PAGE:
        return []
    size = median(p.y1 - p.y0 for p in narrow)
    strips = _free_strips(narrow, left, right, max(_GUTTER * size, 1.5 * _BIN))
    strips.sort(key=lambda strip: strip[0] - strip[1])
    for count in range(min(_MOST_GUTTERS, len(strips)), 0, -1):
        gutters = sorted((low + high) / 2 for low, high in strips[:count])
        if _all_prose(pieces, gutters):
            return gutters
    return []


def _free_strips(
    narrow: Sequence[Piece], left: float, right: float, least: float
) -> list[tuple[float, float]]:
    """Vertical strips between the edges that next to none of the pieces cover."""
    bins = int((right - left) / _BIN) + 2
    starts = ((np.array([p.x0 for p in narrow]) - left) / _BIN).astype(int)
    ends = np.ceil((np.array([p.x1 for p in narrow]) - left) / _BIN).astype(int)
    steps = np.zeros(bins + 1)
    np.add.at(steps, starts, 1)
    np.add.at(steps, np.minimum(ends, bins), -1)
    free = np.cumsum(steps)[:bins] <= _CROSSING * len(narrow)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]]).astype(int)))
    strips = [
        (left + low * _BIN, left + high * _BIN)
        for low, high in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    ]
    return [
        (low, high) for low, high in strips if high - low >= least and low > left and high < right
    ]


def _all_prose(pieces: Sequence[Piece], gutters: Sequence[float]) -> bool:
    columns: list[list[Piece]] = [[] for _ in range(len(gutters) + 1)]
    for piece in pieces:
        column = _column(piece, gutters)
        if column != _SPANNING:
            columns[column].append(piece)
    return all(map(_is_prose, columns))


def _is_prose(column: Sequence[Piece]) -> bool:
    """Whether most pieces are long, fill the column, and stand line below line."""
    if len(column) < _FEWEST_IN_COLUMN:
        return False
    width = max(p.x1 for p in column) - min(p.x0 for p in column)
    if median(p.stop - p.start for p in column) < _PROSE_CHARS:
        return False
    if median(p.x1 - p.x0 for p in column) < _FILLED * width:
        return False
    tops = sorted(p.y0 for p in column)
    height = median(p.y1 - p.y0 for p in column)
    steps = [below - above for above, below in pairwise(tops)]
    return sum(step < 1.8 * height for step in steps) >= _DENSE * len(steps)


def _column(piece: Piece, gutters: Sequence[float]) -> int:
    first, last = bisect_right(gutters, piece.x0), bisect_right(gutters, piece.x1)
    return first if first == last else _SPANNING


def _order(pieces: Sequence[Piece], columns: Sequence[int], *, from_right: bool) -> list[int]:
    """Band by band between the spanning pieces, in each column by column, in each as drawn."""
    spanning = sorted(
        (p.y0 + p.y1) / 2 for p, column in zip(pieces, columns, strict=True) if column == _SPANNING
    )

    def place(index: int) -> tuple[int, int, int]:
        piece, column = pieces[index], columns[index]
        band = bisect_right(spanning, (piece.y0 + piece.y1) / 2)
        if column != _SPANNING and from_right:
            column = max(columns) - column
        return band, column, index

    return sorted(range(len(pieces)), key=place)


def _switches(columns: Sequence[int]) -> int:
    """How often the order goes from one column to another."""
    kept = [column for column in columns if column != _SPANNING]
    return sum(a != b for a, b in pairwise(kept))


def _mostly_from_right(codes: NDArray[np.int64]) -> bool:
    letters = codes[codes > 0x40]
    return bool(2 * ((letters >= 0x590) & (letters < 0x900)).sum() > len(letters))
