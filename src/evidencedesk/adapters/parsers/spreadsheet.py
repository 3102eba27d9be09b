"""XLSX: the sheets of a workbook, row by row, with the values that its cells show.

Canonical text has a heading for each sheet, its name, and a line for each row: cells joined by
`` | ``, empty ones kept between others so that columns stay in line. What formulas gave when the
workbook was last saved is read; formulas are never computed. The header row of a table, and merged
cells that reach down into a row, are the row's context.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from evidencedesk.adapters.parsers.blocks import BlockWriter
from evidencedesk.adapters.parsers.package import Package, local_name
from evidencedesk.adapters.parsers.spreadsheet_numbers import NumberFormats
from evidencedesk.adapters.parsers.tables import HeaderRows, as_context
from evidencedesk.errors import ParseError
from evidencedesk.model import BlockKind, ParsedDocument

_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]+[0-9]+):([A-Z]+[0-9]+)"')
_MOST_MERGED = 20_000
_MOST_COLUMNS = 16_384
_MOST_SHARED = 5_000_000
_LONGEST_TEXT = 32_767
_MOST_CHARACTERS = 50_000_000
_NUMERIC = frozenset({"n", "d", ""})


class XlsxParser:
    """Parser for Excel workbooks, Transitional and Strict, with or without macros."""

    name = "xlsx"
    version = "1"
    media_types = ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse XLSX; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``encrypted``, ``damaged``, ``refused`` or ``unsupported``.
        """
        reader = _Reader(Package(data, file_name, "XLSX"))
        reader.read()
        return ParsedDocument(
            text=reader.writer.text,
            blocks=reader.writer.blocks,
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            title=reader.package.title(),
            warnings=tuple(reader.warnings()),
            partial=bool(reader.uncomputed or reader.unread),
        )


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    is_number: bool


@dataclass(slots=True)
class _Merged:
    """Merged cells that reach below their first row: column, last row, and text once known."""

    column: int
    last: int
    text: str = ""


@dataclass(slots=True)
class _Sheet:
    name: str
    part: str
    merged: dict[int, list[_Merged]] = field(default_factory=lambda: defaultdict(list))
    reaching: list[_Merged] = field(default_factory=list)


class _Reader:
    def __init__(self, package: Package) -> None:
        self.package = package
        self.writer = BlockWriter()
        self.uncomputed = 0
        self.unread: list[str] = []
        self._hidden: list[str] = []
        self._characters = 0
        self._main = package.main_part("xl/workbook.xml")
        workbook = package.xml(self._main)
        if workbook is None or local_name(workbook) != "workbook":
            raise package.damaged(f"{self._main} is no workbook")
        self._workbook = workbook
        self._relations = package.relations(self._main)
        parts = {kind.rsplit("/", 1)[-1]: name for kind, name in self._relations.values()}
        properties = workbook.find("{*}workbookPr")
        from_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        styles = package.xml(parts.get("styles", ""))
        self._formats = NumberFormats(styles, from_1904=from_1904)
        self._shared = list(self._shared_strings(parts.get("sharedStrings", "")))

    def _shared_strings(self, part: str) -> Iterator[str]:
        for number, item in enumerate(self.package.iterate(part, "si") if part else ()):
            if number >= _MOST_SHARED:
                raise self.package.refused(f"more than {_MOST_SHARED} different texts")
            text = _rich_text(item)
            if len(text) > _LONGEST_TEXT:
                raise self.package.refused(f"a cell of {len(text)} characters")
            yield text

    def read(self) -> None:
        for sheet in self._sheets():
            try:
                self._read_sheet(sheet)
            except ParseError as error:
                if error.code == "refused":
                    raise
                self.unread.append(sheet.name)
        if self.unread and not self.writer.blocks:
            raise self.package.damaged(f"no sheet can be read ({', '.join(self.unread[:5])})")

    def _sheets(self) -> Iterator[_Sheet]:
        for sheet in self._workbook.iterfind("{*}sheets/{*}sheet"):
            name = sheet.get("name", "").strip() or "Sheet"
            identity = next((v for k, v in sheet.attrib.items() if str(k).endswith("}id")), "")
            kind, part = self._relations.get(str(identity), ("", ""))
            if sheet.get("state", "visible") != "visible":
                self._hidden.append(name)
            elif kind.endswith("/worksheet"):
                yield _Sheet(name, part)
            else:
                self.unread.append(name)

    def warnings(self) -> Iterator[str]:
        """In words for a person."""
        if not self.writer.blocks:
            yield "no visible cell holds anything"
        if self._hidden:
            yield f"{len(self._hidden)} hidden sheets were left out ({', '.join(self._hidden[:5])})"
        if self.unread:
            yield f"{len(self.unread)} sheets could not be read ({', '.join(self.unread[:5])})"
        if self.uncomputed:
            yield (
                f"{self.uncomputed} formulas have no stored result and are shown as formulas;"
                " open the workbook and save it again"
            )

    def _read_sheet(self, sheet: _Sheet) -> None:
        data = self.package.bytes_of(sheet.part)
        if data is None:
            raise self.package.damaged(f"{sheet.part} is missing")
        _find_merged(sheet, data)
        del data
        headers = HeaderRows()
        before = 0
        group = self.writer.next_group()
        for number, cells in self._rows(sheet):
            if before == 0:
                self.writer.heading(sheet.name, 1, sheet=sheet.name)
            if number > before + 1 and headers.begin_table():
                group = self.writer.next_group()
            before = number
            self._write_row(sheet, headers, group, number, cells)

    def _write_row(
        self, sheet: _Sheet, headers: HeaderRows, group: int, number: int, cells: dict[int, _Cell]
    ) -> None:
        above = _reaching_into(sheet, number, cells)
        first = headers.align(min(cells))
        texts = [
            cells[column].text if column in cells else "" for column in range(first, max(cells) + 1)
        ]
        is_header = headers.is_header(
            {column: cell.text for column, cell in cells.items()},
            has_numbers=any(cell.is_number for cell in cells.values()),
        )
        text = " | ".join(texts)
        context = "" if is_header else "\n".join(filter(None, [headers.context, above]))
        kind = BlockKind.TABLE_HEADER if is_header else BlockKind.TABLE_ROW
        self.writer.add(kind, text, context=context, group=group, row=number, sheet=sheet.name)
        self._characters += len(text)
        if self._characters > _MOST_CHARACTERS:
            raise self.package.refused(f"more than {_MOST_CHARACTERS} characters in its cells")
        if is_header:
            headers.context = as_context(text)

    def _rows(self, sheet: _Sheet) -> Iterator[tuple[int, dict[int, _Cell]]]:
        """Number and cells of every row that holds anything."""
        number = 0
        for row in self.package.iterate(sheet.part, "row"):
            given = row.get("r", "")
            number = int(given) if given.isascii() and given.isdigit() else number + 1
            cells: dict[int, _Cell] = {}
            column = 0
            for element in row.iterchildren("{*}c"):
                place = _REFERENCE.fullmatch(element.get("r", ""))
                column = _column(place.group(1)) if place else column + 1
                cell = self._cell(element) if len(element) else None
                if cell is not None and column <= _MOST_COLUMNS:
                    cells[column] = cell
            if cells:
                yield number, cells

    def _cell(self, element: etree._Element) -> _Cell | None:
        kind = element.get("t", "n")
        if kind == "inlineStr":
            text = "".join(_rich_text(part) for part in element.iterchildren("{*}is"))
        else:
            stored = element.findtext("{*}v")
            text = self._value(stored, kind, element) if stored else self._formula(element)
        text = " ".join(text.split())
        return _Cell(text, kind in _NUMERIC) if text else None

    def _value(self, stored: str, kind: str, element: etree._Element) -> str:
        if kind == "s":
            known = stored.isascii() and stored.isdigit() and int(stored) < len(self._shared)
            return self._shared[int(stored)] if known else ""
        if kind == "b":
            return "TRUE" if stored.strip() == "1" else "FALSE"
        if kind == "n":
            return self._formats.show(stored.strip(), element.get("s"))
        return stored

    def _formula(self, element: etree._Element) -> str:
        formula = element.findtext("{*}f")
        if not formula:
            return ""
        self.uncomputed += 1
        return f"={formula}"


def _rich_text(item: etree._Element) -> str:
    """The text of a string with runs; the reading aids of East Asian text (``rPh``) left out."""
    pieces = []
    for child in item.iterchildren("{*}t", "{*}r"):
        if local_name(child) == "t":
            pieces.append(child.text or "")
        else:
            pieces.extend(text.text or "" for text in child.iterchildren("{*}t"))
    return "".join(pieces)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _find_merged(sheet: _Sheet, data: bytes) -> None:
    for count, match in enumerate(_MERGED.finditer(data)):
        if count >= _MOST_MERGED:
            return
        first, last = (_REFERENCE.fullmatch(part.decode("ascii")) for part in match.groups())
        if first and last and int(last.group(2)) > int(first.group(2)):
            merged = _Merged(_column(first.group(1)), int(last.group(2)))
            sheet.merged[int(first.group(2))].append(merged)


def _reaching_into(sheet: _Sheet, number: int, cells: dict[int, _Cell]) -> str:
    """The merged cells above that reach into this row; remembers those that begin in it."""
    sheet.reaching = [merged for merged in sheet.reaching if merged.last >= number]
    above = " | ".join(merged.text for merged in sheet.reaching)
    for merged in sheet.merged.pop(number, ()):
        if merged.column in cells:
            merged.text = cells[merged.column].text
            sheet.reaching.append(merged)
    return above
