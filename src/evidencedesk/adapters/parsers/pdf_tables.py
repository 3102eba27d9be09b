"""Rows of tables on a page, told by white space: rows below each other whose gaps line up.

A table here is a run of lines, most of them cut by wide gaps, that leave at least one vertical strip
free from the first to the last. A line without a gap between them that keeps the strips free goes on
with the row above it (a cell of several lines).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from evidencedesk.adapters.parsers.pdf_pieces import Piece

_MARK = re.compile(r"(?:[•‣◦▪■●○–—*·\uf0b7]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]*|\[\d+\])")
_FIGURE = re.compile(r"[^\w\t]{0,3}\d[\d.,:/\s]*\W{0,3}")
_FEWEST_ROWS = 3
_FEWEST_ROWS_OF_MANY = 2
_MANY_CELLS = 3
_FARTHEST = 3.5
_WRAPPED = 1.6
_STRIP = 0.5
_WORD_GAP = 2.5

Row = tuple[int, frozenset[int]]
_NO_ROW: Row = (0, frozenset())


@dataclass(slots=True)
class _Table:
    """Rows gathered so far and the strips that all of them leave free."""

    rows: list[int] = field(default_factory=list)
    cut_rows: int = 0
    most_cells: int = 0
    strips: list[tuple[float, float]] = field(default_factory=list)


def mark_tables(runs: Sequence[Sequence[Piece]], text: str) -> list[Row]:
    """For each line its table and which of its pieces begin a cell.

    The number counts tables from 1; it is 0 for a line of no table and negative for one that goes on
    with the row above it.

    Args:
        runs: the pieces of each line, in reading order.
        text: the characters of the page.
    """
    marked = [_NO_ROW] * len(runs)
    if sum(len(run) > 1 for run in runs) < _FEWEST_ROWS_OF_MANY:
        return marked
    for number, table in enumerate(_tables(runs, text), start=1):
        for index in table.rows:
            cuts = _cuts(runs[index], table.strips)
            wrapped = index != table.rows[0] and _is_wrapped(runs[index], runs[index - 1], table)
            marked[index] = (-number if wrapped else number, cuts)
    return marked


def _tables(runs: Sequence[Sequence[Piece]], text: str) -> Iterator[_Table]:
    table = _Table()
    for index, run in enumerate(runs):
        strips = _narrowed(table, run, runs[index - 1] if index else run, text)
        if not strips:
            yield from _closed(table, runs, text)
            table, strips = _Table(), _gaps(run, text)
        if table.rows or strips:
            table.rows.append(index)
            table.strips = strips
            table.cut_rows += len(run) > 1
            table.most_cells = max(table.most_cells, len(strips) + 1)
    yield from _closed(table, runs, text)


def _narrowed(
    table: _Table, run: Sequence[Piece], above: Sequence[Piece], text: str
) -> list[tuple[float, float]]:
    """The strips that stay free when ``run`` is a row too; none when it cannot be."""
    if not table.rows or _starts_item(run, text):
        return []
    height = max(piece.y1 - piece.y0 for piece in above)
    step = min(piece.y0 for piece in run) - min(piece.y0 for piece in above)
    if not 0.3 * height < step < _FARTHEST * height:
        return []
    strips = _free(table.strips, run)
    if len(run) == 1 and step > _WRAPPED * height and table.rows:
        return []
    return strips


def _free(strips: Sequence[tuple[float, float]], run: Sequence[Piece]) -> list[tuple[float, float]]:
    least = _STRIP * max(piece.y1 - piece.y0 for piece in run)
    for piece in run:
        cut: list[tuple[float, float]] = []
        for low, high in strips:
            cut += [(low, min(high, piece.x0)), (max(low, piece.x1), high)]
        strips = [(low, high) for low, high in cut if high - low >= least]
        strips = sorted(set(strips))
    return list(strips)


def _gaps(run: Sequence[Piece], text: str) -> list[tuple[float, float]]:
    """The gaps of a line that may begin a table."""
    if len(run) < 2 or _starts_item(run, text):
        return []
    ordered = sorted(run, key=lambda piece: piece.x0)
    return [
        (one.x1, other.x0)
        for one, other in pairwise(ordered)
        if other.x0 - one.x1 > _STRIP * (one.y1 - one.y0)
    ]


def _starts_item(run: Sequence[Piece], text: str) -> bool:
    """Whether the line is a mark and what it marks: an item of a list, a numbered heading."""
    first = text[run[0].start : run[0].stop]
    return len(run) == 2 and bool(_MARK.fullmatch(first)) and not run[1].stop - run[1].start < 4


def _closed(table: _Table, runs: Sequence[Sequence[Piece]], text: str) -> Iterator[_Table]:
    """The table, if enough rows came together; without lines at its end that are no rows."""
    while table.rows and len(runs[table.rows[-1]]) < 2:
        table.rows.pop()
    cut = [runs[index] for index in table.rows if _cuts(runs[index], table.strips)]
    figures = sum(_has_figures(run, text) for run in cut)
    many = len(table.strips) + 1 >= _MANY_CELLS and figures > 0
    least = _FEWEST_ROWS_OF_MANY if many else _FEWEST_ROWS
    enough = len(cut) >= least and 2 * len(cut) >= len(table.rows)
    if enough and (2 * figures > len(cut) or not _is_justified(cut)):
        yield table


def _has_figures(run: Sequence[Piece], text: str) -> bool:
    """Whether a cell is a number."""
    return any(_FIGURE.fullmatch(text, piece.start, piece.stop) for piece in run)


def _is_justified(rows: Sequence[Sequence[Piece]]) -> bool:
    """Whether these are lines of prose with wide word spaces: flush on both sides, small gaps."""
    height = max(piece.y1 - piece.y0 for run in rows for piece in run)
    for run in rows:
        ordered = sorted(run, key=lambda piece: piece.x0)
        if any(b.x0 - a.x1 > _WORD_GAP * height for a, b in pairwise(ordered)):
            return False
    lefts = [min(piece.x0 for piece in run) for run in rows]
    rights = [max(piece.x1 for piece in run) for run in rows]
    return max(lefts) - min(lefts) < height and max(rights) - min(rights) < 0.5 * height


def _cuts(run: Sequence[Piece], strips: Sequence[tuple[float, float]]) -> frozenset[int]:
    """Indices of the pieces before which a strip lies."""
    return frozenset(
        index
        for index in range(1, len(run))
        if any(
            min(run[index].x0, run[index - 1].x0)
            < (low + high) / 2
            < max(run[index].x0, run[index - 1].x0)
            for low, high in strips
        )
    )


def _is_wrapped(run: Sequence[Piece], above: Sequence[Piece], table: _Table) -> bool:
    """Whether the line goes on with the row above: its first column is empty."""
    first = min(table.strips)[0]
    return min(piece.x0 for piece in run) >= first and min(p.x0 for p in above) < first
