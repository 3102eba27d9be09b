"""PDF by pdfium: lines as the page shows them, with a box for every character.

Canonical text has one line for each line of text on a page, a blank line between blocks. A hyphen
that breaks a word at a line end stays, followed by the line end: the text is what the page shows.
Images are never decoded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import pypdfium2 as pdfium
from pypdfium2 import raw

from evidencedesk.adapters.parsers.headings import HeadingPath
from evidencedesk.adapters.parsers.pdf_chars import CharacterReader
from evidencedesk.adapters.parsers.pdf_layout import (
    OutlineEntry,
    Paragraph,
    mark_headings,
    number_groups,
    paragraphs_of,
    with_running,
)
from evidencedesk.adapters.parsers.pdf_lines import read_page
from evidencedesk.adapters.parsers.pdf_pieces import Line, PageLines
from evidencedesk.adapters.parsers.pdf_quality import suspicions
from evidencedesk.adapters.parsers.pdf_running import running_lines
from evidencedesk.errors import ParseError
from evidencedesk.model import Block, BlockKind, PageBoxes, PageSpan, ParsedDocument
from evidencedesk.model.boxes import Boxes, pack_boxes

_MOST_PAGES = 20_000
_MOST_BOOKMARKS = 5_000
_OPEN_PAGES = 4
_NO_TITLE = re.compile(
    r"untitled.*|\(?anonymous\)?|microsoft word - .*|.*\.(?:docx?|tex|dvi|indd|pdf|odt|rtf|html?)|\W*",
    re.IGNORECASE,
)
_POORLY_MAPPED = 0.05


class PdfParser:
    """Parser for PDF. Files whose owner only restricts copying are read, as a person reads them."""

    name = "pdf"
    version = "3"
    media_types = ("application/pdf",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse PDF; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``encrypted``, ``damaged``, ``too_large`` or ``no_text``.
        """
        document = _open(data, file_name)
        try:
            return self._read(document, file_name)
        finally:
            document.close()

    def _read(self, document: pdfium.PdfDocument, file_name: str) -> ParsedDocument:
        count = len(document)
        if count > _MOST_PAGES:
            raise ParseError(
                f"{file_name}: {count} pages, more than the limit of {_MOST_PAGES}.",
                code="too_large",
                hint="Split the file.",
            )
        reader = CharacterReader()
        pages = list(self._pages(document, count, reader))
        if not any(page.lines for page in pages if page):
            raise _no_text(pages, file_name)
        writer = _Writer(_paragraphs(pages, list(_outline(document))))
        title = document.get_metadata_value("Title").strip()
        return ParsedDocument(
            text=writer.text,
            blocks=tuple(writer.blocks()),
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            pages=tuple(writer.page_spans(pages, _labels(document, count))),
            page_boxes=tuple(writer.page_boxes(pages)),
            title=None if _NO_TITLE.fullmatch(title) else title,
            warnings=(*_warnings(pages), *suspicions(writer.text)),
            partial=any(page is None or not page.lines for page in pages),
        )

    def _pages(
        self, document: pdfium.PdfDocument, count: int, reader: CharacterReader
    ) -> Iterator[PageLines | None]:
        """The lines of each page, None for one that cannot be loaded.

        The last few pages stay open: with the last page that uses it pdfium closes a font, and
        loading it again for the next page costs more than reading that page.
        """
        opened: deque[raw.FPDF_PAGE] = deque()
        try:
            for index in range(count):
                page = raw.FPDF_LoadPage(document, index)
                if not page:
                    yield None
                    continue
                opened.append(page)
                if len(opened) > _OPEN_PAGES:
                    raw.FPDF_ClosePage(opened.popleft())
                yield self._read_page(page, index + 1, reader)
        finally:
            for page in opened:
                raw.FPDF_ClosePage(page)

    def _read_page(self, page: raw.FPDF_PAGE, number: int, reader: CharacterReader) -> PageLines:
        """The lines of a loaded page."""
        return read_page(page, number, reader)


def _open(data: bytes, file_name: str) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code in {raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY}:
            raise ParseError(
                f"{file_name}: protected with a password.",
                code="encrypted",
                hint="Save a copy without a password and ingest that.",
            ) from None
        raise ParseError(
            f"{file_name}: not a readable PDF ({error}).",
            code="damaged",
            hint="Open it in a PDF reader and save it again.",
        ) from None


def _paragraphs(
    pages: Sequence[PageLines | None], outline: Sequence[OutlineEntry]
) -> list[Paragraph]:
    """What the pages hold, in reading order."""
    lines = [line for page in pages if page for line in page.lines]
    running = running_lines(pages)
    paragraphs = paragraphs_of([line for line in lines if line not in running])
    mark_headings(paragraphs, outline)
    number_groups(paragraphs)
    return with_running(paragraphs, [line for line in lines if line in running], running)


def _no_text(pages: Sequence[PageLines | None], file_name: str) -> ParseError:
    if not any(pages):
        return ParseError(
            f"{file_name}: none of its {len(pages)} pages can be read.",
            code="damaged",
            hint="Open it in a PDF reader and save it again.",
        )
    return ParseError(
        f"{file_name}: none of its {len(pages)} pages has text; it seems to be a scan.",
        code="no_text",
        hint="Run it through OCR so that it has a text layer.",
    )


def _warnings(pages: Sequence[PageLines | None]) -> Iterator[str]:
    unread = [number for number, page in enumerate(pages, 1) if page is None]
    blank = [number for number, page in enumerate(pages, 1) if page and not page.lines]
    for numbers, problem in ((unread, "could not be read"), (blank, "have no text")):
        if numbers:
            which = ", ".join(map(str, numbers[:10])) + (", ..." if len(numbers) > 10 else "")
            yield f"{len(numbers)} of {len(pages)} pages {problem} (page {which})"
    characters = sum(page.characters for page in pages if page)
    unmapped = sum(page.unmapped for page in pages if page)
    if unmapped > _POORLY_MAPPED * characters:
        yield f"{unmapped} of {characters} characters are unreadable: fonts without a character map"


def _labels(document: pdfium.PdfDocument, count: int) -> list[str]:
    labels = [document.get_page_label(index) for index in range(count)]
    return ["" if label == str(index) else label for index, label in enumerate(labels, 1)]


def _outline(document: pdfium.PdfDocument) -> Iterator[OutlineEntry]:
    try:
        for number, bookmark in enumerate(document.get_toc(max_depth=6)):
            if number >= _MOST_BOOKMARKS:
                return
            target = bookmark.get_dest()
            page = target.get_index() if target else None
            if page is not None:
                yield OutlineEntry(bookmark.get_title(), bookmark.level + 1, page + 1)
    except pdfium.PdfiumError:
        return  # an outline that leads nowhere is no reason to lose the text


class _Writer:
    """Canonical text, blocks, page spans and boxes from paragraphs in reading order."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self._paragraphs = paragraphs
        self._starts: list[tuple[Line, int]] = []
        parts: list[str] = []
        length = 0
        for paragraph in paragraphs:
            for number, line in enumerate(paragraph.lines):
                between = "" if not parts else ("\n" if number else "\n\n")
                self._starts.append((line, length + len(between)))
                parts.append(between + line.text)
                length += len(parts[-1])
        self.text = "".join(parts)

    def blocks(self) -> Iterator[Block]:
        headings = HeadingPath()
        place = 0
        for paragraph in self._paragraphs:
            first = self._starts[place][1]
            place += len(paragraph.lines)
            last, start = self._starts[place - 1]
            if paragraph.kind is BlockKind.HEADING:
                headings.enter(paragraph.level, " ".join(paragraph.text.split()))
            yield Block(
                paragraph.kind,
                first,
                start + len(last.text),
                heading=headings.path,
                level=paragraph.level,
                context=paragraph.context,
                group=paragraph.group,
                row=paragraph.row,
            )

    def page_spans(
        self, pages: Sequence[PageLines | None], labels: Sequence[str]
    ) -> Iterator[PageSpan]:
        spans: dict[int, tuple[int, int]] = {}
        for line, start in self._starts:
            first, _ = spans.get(line.page, (start, 0))
            spans[line.page] = (first, start + len(line.text))
        end = 0
        for number, (page, label) in enumerate(zip(pages, labels, strict=True), start=1):
            start, end = spans.get(number, (end, end))
            width, height = (page.frame.width, page.frame.height) if page else (0.0, 0.0)
            yield PageSpan(number, start, end, round(width, 2), round(height, 2), label)

    def page_boxes(self, pages: Sequence[PageLines | None]) -> Iterator[PageBoxes]:
        for number, placed in groupby(self._starts, key=lambda place: place[0].page):
            page = pages[number - 1]
            spans = [
                (start + offset, first, stop - first)
                for line, start in placed
                for offset, first, stop in line.drawn
            ]
            if page is not None:
                yield PageBoxes(number, spans[0][0], pack_boxes(_placed(page.boxes, spans)))


def _placed(drawn: Boxes, spans: Sequence[tuple[int, int, int]]) -> Boxes:
    """Boxes in the order of the text, NaN for what is not drawn.

    Args:
        drawn: boxes of the page's characters as drawn.
        spans: place in the text, first character as drawn, and number of characters.
    """
    begin = spans[0][0]
    last, _, length = spans[-1]
    boxes = np.full((last + length - begin, 4), np.nan, dtype=np.float32)
    for place, first, count in spans:
        boxes[place - begin : place - begin + count] = drawn[first : first + count]
    return boxes
