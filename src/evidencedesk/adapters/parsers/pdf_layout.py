"""Lines of a PDF to paragraphs, list items and headings, by distance, indent and size of type.

A wrong heading would take its words out of the searchable text, so a line is a heading only when
the document's outline names it, or when it is short, clearly larger than the body and followed by
smaller type, and headings so found are a small part of the document.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from evidencedesk.adapters.parsers.pdf_pieces import Line
from evidencedesk.adapters.parsers.pdf_running import Running
from evidencedesk.adapters.parsers.tables import as_context, looks_like_names
from evidencedesk.model import BlockKind

_BULLET = re.compile(r"(?:[•‣◦▪■●○–—*·\uf0b7]|\(?(?:\d{1,2}|[a-z])[.)])\s+\S")
_SENTENCE_END = re.compile(r"[.!?:;。！？।؟…][\"'”’)\]]*$")
_WORDS = re.compile(r"[^\W\d_]+")
_FIGURE = re.compile(r"^\W*\d[\d.,\s]*\W*$")
_SAME_SIZE = 0.12
_PARAGRAPH_GAP = 1.35
_INDENT = 0.9
_LARGER = 1.15
_MOST_HEADING_CHARS = 120
_MOST_HEADING_LINES = 5
_MOST_HEADING_SHARE = 0.25


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together.

    Attributes:
        lines: in order; the last may stand on another page than the first.
        kind: paragraph, list item, heading, row of a table or running line.
        level: heading level 1 to 6, 1 for list items, else 0.
        context: the header row of the table whose row it is.
        group: number of its list or table, else 0.
        row: its row in the table, counting from 1.
    """

    lines: list[Line] = field(default_factory=list)
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    context: str = ""
    group: int = 0
    row: int | None = None

    @property
    def text(self) -> str:
        """Its words on one line, words broken at a line end joined."""
        return "".join(
            line.text[:-1] if line.broken else line.text + " " for line in self.lines
        ).strip()

    @property
    def size(self) -> float:
        """Size of its type."""
        return max(line.size for line in self.lines)


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One bookmark: its title, depth from 1, and the 1-based page it leads to."""

    title: str
    level: int
    page: int


def paragraphs_of(lines: Sequence[Line]) -> list[Paragraph]:
    """Lines in reading order, grouped."""
    pitch = _line_pitch(lines)
    found: list[Paragraph] = []
    for line in lines:
        if line.table:
            _add_row(found, line)
            continue
        starts_item = bool(_BULLET.match(line.text))
        if found and not starts_item and _continues(found[-1], line, pitch):
            found[-1].lines.append(line)
        else:
            kind = BlockKind.LIST_ITEM if starts_item else BlockKind.PARAGRAPH
            found.append(Paragraph([line], kind, int(starts_item)))
    return found


def _line_pitch(lines: Sequence[Line]) -> float:
    """Distance from line to line inside paragraphs, in sizes of type: the usual one."""
    steps = [
        (line.middle - above.middle) / line.size
        for above, line in pairwise(lines)
        if above.page == line.page and line.size and _same_size(above, line)
    ]
    usual = [step for step in steps if 0.8 < step < 2.0]
    return median(usual) if usual else 1.2


def _same_size(above: Line, line: Line) -> bool:
    return abs(above.size - line.size) <= _SAME_SIZE * max(above.size, line.size)


def _add_row(found: list[Paragraph], line: Line) -> None:
    if line.table < 0 and found and found[-1].lines[-1].page == line.page:
        found[-1].lines.append(line)
    else:
        found.append(Paragraph([line], BlockKind.TABLE_ROW))


def _continues(paragraph: Paragraph, line: Line, pitch: float) -> bool:
    if paragraph.kind is BlockKind.TABLE_ROW:
        return False
    above = paragraph.lines[-1]
    if above.broken:
        return True
    if not _same_size(above, line):
        return False
    step = line.middle - above.middle
    if above.page != line.page or step < -above.size or line.x0 > above.x1:
        return _runs_on(above, line)
    if step > _PARAGRAPH_GAP * pitch * line.size:
        return False
    item = paragraph.kind is BlockKind.LIST_ITEM and len(paragraph.lines) == 1
    return item or line.x0 <= above.x0 + _INDENT * line.size


def _runs_on(above: Line, line: Line) -> bool:
    """Whether a sentence goes on in the next column or on the next page."""
    return not _SENTENCE_END.search(above.text) and line.text[:1].islower()


def number_groups(paragraphs: Sequence[Paragraph]) -> None:
    """Number lists and tables, the rows of each table, and find the rows that name columns."""
    group = 0
    before: Paragraph | None = None
    tables: list[list[Paragraph]] = []
    for paragraph in paragraphs:
        if paragraph.kind is BlockKind.LIST_ITEM:
            group += before is None or before.kind is not BlockKind.LIST_ITEM
            paragraph.group = group
        elif paragraph.kind is BlockKind.TABLE_ROW:
            if before is None or _table_of(before) != _table_of(paragraph):
                tables.append([])
                group += 1
            paragraph.group = group
            tables[-1].append(paragraph)
            paragraph.row = len(tables[-1])
        before = paragraph
    for rows in tables:
        _name_columns(rows)


def _table_of(paragraph: Paragraph) -> tuple[int, int]:
    line = paragraph.lines[0]
    return (line.page, line.table) if paragraph.kind is BlockKind.TABLE_ROW else (0, 0)


def _name_columns(rows: Sequence[Paragraph]) -> None:
    first, others = rows[0], rows[1:]
    cells = first.lines[0].text.split("\t")
    if len(first.lines) > 1 or not looks_like_names(cells) or not any(map(_has_figures, others)):
        return
    first.kind = BlockKind.TABLE_HEADER
    for row in others:
        row.context = as_context(" | ".join(cells))


def _has_figures(row: Paragraph) -> bool:
    return any(map(_FIGURE.search, row.lines[0].text.split("\t")))


def with_running(
    paragraphs: Sequence[Paragraph], running: Iterable[Line], marks: Running
) -> list[Paragraph]:
    """``paragraphs`` with the running lines put in, each page's before its first paragraph.

    So they part no paragraph that goes on from page to page, unless it fills a whole page.
    """
    waiting: dict[int, list[Paragraph]] = {}
    for line in running:
        kind = BlockKind.PARAGRAPH if id(line) in marks.first else BlockKind.RUNNING
        waiting.setdefault(line.page, []).append(Paragraph([line], kind))
    found: list[Paragraph] = []
    pages = deque(sorted(waiting))
    for paragraph in paragraphs:
        for part in _parted(paragraph, waiting):
            while pages and pages[0] <= part.lines[0].page:
                found += waiting.pop(pages.popleft())
            found.append(part)
    for page in pages:
        found += waiting[page]
    return found


def _parted(paragraph: Paragraph, waiting: dict[int, list[Paragraph]]) -> Iterator[Paragraph]:
    """The paragraph, cut where it reaches its third page if running lines of the second wait."""
    start = 0
    first, last = paragraph.lines[0].page, paragraph.lines[-1].page
    for page in range(first + 1, last):
        if page in waiting:
            cut = next(i for i, line in enumerate(paragraph.lines) if line.page == page)
            yield replace(paragraph, lines=paragraph.lines[start:cut])
            start = cut
    yield replace(paragraph, lines=paragraph.lines[start:]) if start else paragraph


def mark_headings(paragraphs: Sequence[Paragraph], outline: Iterable[OutlineEntry]) -> None:
    """Mark the headings: those in the outline if any is found, else those in larger type."""
    if not _mark_outlined(paragraphs, outline):
        _mark_larger(paragraphs)


def _mark_outlined(paragraphs: Sequence[Paragraph], outline: Iterable[OutlineEntry]) -> bool:
    waiting: dict[tuple[int, str], int] = {}
    for entry in outline:
        waiting.setdefault((entry.page, _key(entry.title)), min(entry.level, 6))
    found = False
    pages = {page for page, _ in waiting}
    longest = 2 * max((len(key) for _, key in waiting), default=0) + 20
    for paragraph in paragraphs:
        page = paragraph.lines[0].page
        if page not in pages or sum(len(line.text) for line in paragraph.lines) > longest:
            continue
        key = _key(paragraph.text)
        level = waiting.pop((page, key), None) if key else None
        if level is not None:
            paragraph.kind, paragraph.level, found = BlockKind.HEADING, level, True
    return found


def _key(title: str) -> str:
    return "".join(_WORDS.findall(title)).casefold()


def _mark_larger(paragraphs: Sequence[Paragraph]) -> None:
    body = _body_size(paragraphs)
    candidates = [
        paragraph
        for paragraph, below in pairwise(paragraphs)
        if paragraph.kind is not BlockKind.TABLE_ROW
        and _looks_like_heading(paragraph, body)
        and below.size <= paragraph.size
    ]
    characters = sum(len(paragraph.text) for paragraph in paragraphs)
    if sum(len(heading.text) for heading in candidates) > _MOST_HEADING_SHARE * characters:
        return
    sizes = sorted({round(heading.size) for heading in candidates}, reverse=True)
    for heading in candidates:
        heading.kind = BlockKind.HEADING
        heading.level = min(sizes.index(round(heading.size)) + 1, 6)


def _body_size(paragraphs: Sequence[Paragraph]) -> float:
    sizes: Counter[float] = Counter()
    for paragraph in paragraphs:
        for line in paragraph.lines:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _looks_like_heading(paragraph: Paragraph, body: float) -> bool:
    if paragraph.lines[0].size < _LARGER * body or len(paragraph.lines) > _MOST_HEADING_LINES:
        return False
    text = paragraph.text
    letters = sum(map(len, _WORDS.findall(text)))
    return (
        len(text) <= _MOST_HEADING_CHARS
        and letters >= max(0.5 * len(text), 2)
        and not text.endswith((".", ",", ";", "-"))
    )
