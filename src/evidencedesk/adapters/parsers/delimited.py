"""CSV and its kin: one table row for each record, on the file's own lines.

Records are those of RFC 4180 with any of four delimiters. Canonical text has as many lines as the
file, so that lines count as an editor counts them: a record's cells are joined by `` | ``, quoted
line ends stay line ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from evidencedesk.adapters.parsers.decoding import decode
from evidencedesk.adapters.parsers.tables import as_context, looks_like_names
from evidencedesk.model import Block, BlockKind, ParsedDocument

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARACTERS = 64 * 1024
_SAMPLE_RECORDS = 50
_LINE_END = re.compile(r"\r\n|\n|\r")
_QUOTED = re.compile(r'[ \t]*"((?:[^"]|"")*)"[ \t]*')


class CsvParser:
    """Parser for comma-, semicolon-, tab- and bar-separated values."""

    name = "csv"
    version = "2"
    media_types = ("text/csv",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse CSV; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``unsupported`` when the bytes are no text.
        """
        decoded = decode(data, file_name)
        delimiter = _delimiter_of(decoded.text)
        writer = _Writer()
        for record in records(decoded.text, delimiter):
            writer.add(record)
        return ParsedDocument(
            text="".join(writer.parts),
            blocks=tuple(writer.blocks),
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            first_line=1,
            warnings=decoded.warnings,
            partial=decoded.lossy,
        )


@dataclass(frozen=True, slots=True)
class Record:
    """The cells of one record, and the line ends that follow it."""

    cells: tuple[str, ...]
    line_ends: int


def records(text: str, delimiter: str) -> Iterator[Record]:
    """The records of ``text``; a blank line is a record of no cells.

    A quote that is never closed is an ordinary character, and so is one inside an unquoted cell.
    """
    unquoted = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    cells: list[str] = []
    place, end = 0, len(text)
    last_quote = text.rfind('"')
    while place < end:
        match = _QUOTED.match(text, place) if place < last_quote else None
        if match is None or not _ends_cell(text, match.end(), delimiter):
            match = unquoted.match(text, place)
            assert match is not None
            cells.append(match.group().strip())
        else:
            cells.append(match.group(1).replace('""', '"').strip(" \t"))
        place = match.end()
        if text.startswith(delimiter, place):
            place += 1
            if place < end and text[place] not in "\r\n":
                continue
            cells.append("")
        line_end = _LINE_END.match(text, place)
        yield Record(tuple(cells) if any(cells) else (), int(line_end is not None))
        cells = []
        place = line_end.end() if line_end else place


def _ends_cell(text: str, place: int, delimiter: str) -> bool:
    return place == len(text) or text[place] in {delimiter, "\r", "\n"}


def _delimiter_of(text: str) -> str:
    """The delimiter that cuts the first records into the same number of cells most often."""
    sample = text[:_SAMPLE_CHARACTERS]
    return max(_DELIMITERS, key=lambda delimiter: _agreement(sample, delimiter))


def _agreement(sample: str, delimiter: str) -> tuple[float, int]:
    widths = [
        len(record.cells)
        for record in islice(records(sample, delimiter), _SAMPLE_RECORDS)
        if record.cells
    ]
    counts = Counter(width for width in widths if width > 1)
    if not counts:
        return 0.0, 0
    width, often = counts.most_common(1)[0]
    return often / len(widths), width


class _Writer:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.blocks: list[Block] = []
        self._length = 0
        self._row = 0
        self._header = ""

    def add(self, record: Record) -> None:
        if record.cells:
            self._row += 1
            self._add_row(record.cells)
        self._append("\n" * record.line_ends)

    def _add_row(self, cells: tuple[str, ...]) -> None:
        text = " | ".join(_LINE_END.sub("\n", cell) for cell in cells)
        if not text.strip():
            self._append(text)
            return
        is_header = self._row == 1 and looks_like_names(cells)
        kind = BlockKind.TABLE_HEADER if is_header else BlockKind.TABLE_ROW
        lead = len(text) - len(text.lstrip())
        start, end = self._length + lead, self._length + len(text.rstrip())
        self.blocks.append(Block(kind, start, end, context=self._header, group=1, row=self._row))
        self._append(text)
        if is_header:
            self._header = as_context(" ".join(text.split()))

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)
