"""Rows of an HTML table that holds data; tables used for layout are read as ordinary blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from evidencedesk.adapters.parsers.html_visible import is_left_out, visible_text

_NOT_IN_DATA = "table, h1, h2, h3, h4, h5, h6, pre, form"
_PARTS = frozenset({"thead", "tbody", "tfoot"})
_MOST_SPAN = 1000


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: cells joined by `` | ``; number 0 is the caption.

    ``context`` is the header row, and on a line of its own the cells that reach down into this row
    from rows above (``rowspan``), which are part of its meaning and not of its text.
    """

    number: int
    text: str
    path: str
    is_header: bool = False
    context: str = ""


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    rows: int
    is_header: bool


def is_data_table(table: LexborNode) -> bool:
    """Whether rows are what matters: no tables or headings in cells, and more than one column."""
    if table.attributes.get("role") in {"presentation", "none"}:
        return False
    if any(node != table for node in table.css(_NOT_IN_DATA)):
        return False
    return any(
        sum(cell.tag in {"td", "th"} for cell in _children(row)) > 1 for row, _ in _rows(table)
    )


def table_rows(table: LexborNode, furniture: frozenset[str]) -> Iterator[TableRow]:
    """The caption, then the rows with text in order."""
    for caption in _children(table):
        if caption.tag == "caption" and not is_left_out(caption, furniture):
            text = visible_text(caption, furniture)
            if text:
                yield TableRow(0, text, "caption:nth-of-type(1)")
    header: list[str] = []
    reaching: list[tuple[str, int]] = []
    body = False
    for number, (row, path) in enumerate(_rows(table), start=1):
        cells = list(_cells(row, furniture))
        text = " | ".join(cell.text for cell in cells)
        is_header = not body and _is_header(row, cells, first=number == 1)
        body = body or not is_header
        from_above = " | ".join(word for word, _ in reaching)
        context = "\n".join(filter(None, [*header, from_above]))
        reaching = [(word, left - 1) for word, left in reaching if left > 1]
        reaching += [(cell.text, cell.rows - 1) for cell in cells if cell.rows > 1 and cell.text]
        if any(cell.text for cell in cells) and not is_left_out(row, furniture):
            yield TableRow(number, text, path, is_header, "" if is_header else context)
        if is_header and text:
            header.append(text)


def _is_header(row: LexborNode, cells: list[_Cell], *, first: bool) -> bool:
    if row.parent is not None and row.parent.tag == "thead":
        return True
    return first and bool(cells) and all(cell.is_header for cell in cells)


def _cells(row: LexborNode, furniture: frozenset[str]) -> Iterator[_Cell]:
    for cell in _children(row):
        if cell.tag in {"td", "th"} and not is_left_out(cell, furniture):
            span = cell.attributes.get("rowspan") or ""
            rows = min(int(span), _MOST_SPAN) if span.isdecimal() and span.isascii() else 1
            yield _Cell(visible_text(cell, furniture), rows, cell.tag == "th")


def _rows(table: LexborNode) -> Iterator[tuple[LexborNode, str]]:
    """Every ``tr`` with its CSS path below the table."""
    parts: Counter[str] = Counter()
    for part in _children(table):
        tag = part.tag or ""
        parts[tag] += 1
        if tag in _PARTS:
            rows = (row for row in _children(part) if row.tag == "tr")
            for number, row in enumerate(rows, start=1):
                yield row, f"{tag}:nth-of-type({parts[tag]}) > tr:nth-of-type({number})"
        elif tag == "tr":
            yield part, f"tr:nth-of-type({parts[tag]})"


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next
