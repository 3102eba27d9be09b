"""Rows of a Word table: merged cells once, nested tables inside their cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from evidencedesk.adapters.parsers.docx_text import (
    ParagraphText,
    alternative,
    is_alternative,
    read_paragraph,
)

_NUMBER = re.compile(r"[\W\d]*\d[\W\d]*")
_OFF = frozenset({"0", "false", "off"})


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: cells joined by `` | ``.

    ``context`` is the header row, and on a line of its own the merged cells that reach down into
    this row from rows above, which are part of its meaning and not of its text.
    """

    number: int
    text: str
    is_header: bool
    context: str
    paragraphs: tuple[ParagraphText, ...]


@dataclass(frozen=True, slots=True)
class _Cell:
    column: int
    text: str
    continues: bool
    paragraphs: tuple[ParagraphText, ...]


def read_rows(table: etree._Element, word: str) -> Iterator[TableRow]:
    """The rows with text, numbered as they stand. Rows deleted under change tracking are gone."""
    rows = [row for row in _elements(table, word, "tr") if not _has(row, word, "trPr", "del")]
    cells_of = [list(_cells(row, word)) for row in rows]
    headers = _header_rows(table, rows, cells_of, word)
    header_lines: list[str] = []
    merged: dict[int, str] = {}
    for number, cells in enumerate(cells_of, start=1):
        for cell in cells:
            if not cell.continues:
                merged[cell.column] = cell.text
        text = " | ".join(cell.text for cell in cells if not cell.continues)
        from_above = " | ".join(
            merged[cell.column] for cell in cells if cell.continues and merged.get(cell.column)
        )
        is_header = number <= headers
        context = "" if is_header else "\n".join(filter(None, [*header_lines, from_above]))
        paragraphs = tuple(content for cell in cells for content in cell.paragraphs)
        if any(cell.text for cell in cells):
            yield TableRow(number, text, is_header, context, paragraphs)
        if is_header:
            header_lines.append(text)


def _header_rows(
    table: etree._Element, rows: list[etree._Element], cells_of: list[list[_Cell]], word: str
) -> int:
    """How many rows at the top are headers: those marked so, else a first row that looks the part.

    Word marks the first row as special in most tables, so a first row with an empty cell or a
    number in it is not believed.
    """
    marked = 0
    while marked < len(rows) and _has(rows[marked], word, "trPr", "tblHeader"):
        marked += 1
    if marked or len(rows) < 2:
        return marked if marked < len(rows) else 0
    first = cells_of[0]
    words = all(cell.text and not _NUMBER.fullmatch(cell.text) for cell in first)
    return int(len(first) > 1 and words and _first_row_is_special(table, word))


def _first_row_is_special(table: etree._Element, word: str) -> bool:
    look = table.find(f"{word}tblPr/{word}tblLook")
    if look is None:
        return False
    first_row = look.get(f"{word}firstRow")
    if first_row is not None:
        return first_row not in _OFF
    bits = look.get(f"{word}val", "0")
    return bool(re.fullmatch(r"[0-9A-Fa-f]{1,8}", bits)) and bool(int(bits, 16) & 0x20)


def _has(row: etree._Element, word: str, properties: str, name: str) -> bool:
    found = row.find(f"{word}{properties}/{word}{name}")
    return found is not None and found.get(f"{word}val") not in _OFF


def _cells(row: etree._Element, word: str) -> Iterator[_Cell]:
    column = 0
    for cell in _elements(row, word, "tc"):
        properties = cell.find(f"{word}tcPr")
        merge = None if properties is None else properties.find(f"{word}vMerge")
        span = None if properties is None else properties.find(f"{word}gridSpan")
        continues = merge is not None and merge.get(f"{word}val", "continue") == "continue"
        paragraphs: list[ParagraphText] = []
        text = " ".join(filter(None, _cell_texts(cell, word, paragraphs)))
        yield _Cell(column, " ".join(text.split()), continues, tuple(paragraphs))
        width = "1" if span is None else span.get(f"{word}val", "1")
        column += int(width) if width.isascii() and width.isdigit() else 1


def _cell_texts(cell: etree._Element, word: str, paragraphs: list[ParagraphText]) -> Iterator[str]:
    for element in _elements(cell, word, "p", "tbl"):
        if element.tag == f"{word}tbl":
            inner = (
                text
                for row in _elements(element, word, "tr")
                for nested in _elements(row, word, "tc")
                for text in _cell_texts(nested, word, paragraphs)
            )
            yield " / ".join(filter(None, inner))
            continue
        content = read_paragraph(element, word)
        paragraphs.append(content)
        yield content.text
        for box in content.boxes:
            yield from _cell_texts(box, word, paragraphs)


def _elements(parent: etree._Element, word: str, *names: str) -> Iterator[etree._Element]:
    """Children with these names, looking through content controls and the like."""
    for element in parent.iterchildren(etree.Element):
        tag = str(element.tag)
        if tag.removeprefix(word) in names:
            yield element
        elif is_alternative(element):
            for child in alternative(element):
                yield from _elements_of(child, word, names)
        elif tag in {f"{word}sdt", f"{word}sdtContent", f"{word}customXml", f"{word}ins"}:
            yield from _elements(element, word, *names)


def _elements_of(
    element: etree._Element, word: str, names: tuple[str, ...]
) -> Iterator[etree._Element]:
    if str(element.tag).removeprefix(word) in names:
        yield element
    else:
        yield from _elements(element, word, *names)
