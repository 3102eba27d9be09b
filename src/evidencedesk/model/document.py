"""Documents: canonical text, the blocks it falls into, and the anchors that lead back to the file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property


def content_hash_of(text: str) -> str:
    """``sha256:<hex>`` of the canonical text in UTF-8; lone surrogates cannot occur in it."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


MASKED = "masked: "
"""How the warning begins that says which kinds of values were masked in a document."""


NO_TEXT = "there is no text in it that could be found or quoted"
"""The warning of a document of which no chunk can be made."""


class BlockKind(StrEnum):
    """What a block is.

    ``HEADING`` and ``RUNNING`` blocks (headers, footers and page numbers that pages repeat) belong
    to no chunk; ``TABLE_HEADER`` rows are context.
    """

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_HEADER = "table_header"
    TABLE_ROW = "table_row"
    CODE = "code"
    QUOTE = "quote"
    MARKUP = "markup"
    RUNNING = "running"

    @property
    def in_chunks(self) -> bool:
        """Whether chunks hold blocks of this kind."""
        return self not in {BlockKind.HEADING, BlockKind.RUNNING}


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document: a span of its canonical text and where the span stood in the file.

    Blocks do not overlap, come in reading order, and together cover every non-whitespace character
    of the canonical text.

    Attributes:
        kind: what it is.
        start: first code point.
        end: one past the last.
        heading: path of headings in force; for a heading block, the path that ends in itself.
        level: heading level 1 to 6, or nesting depth of a list item; 0 otherwise.
        context: text repeated for every row of a table (its header row), embedded, indexed and
            shown to a model, never quotable; empty otherwise.
        group: number shared by blocks that belong together (items of one list, rows of one table).
        paragraph: DOCX paragraph number, counting body paragraphs from 1, or None.
        row: table row counting the header row as 1, or None.
        element: CSS path (see ``Location.element``), or None.
        sheet: name of the spreadsheet's sheet, or None.
        slide: 1-based slide number, or None.
    """

    kind: BlockKind
    start: int
    end: int
    heading: tuple[str, ...] = ()
    level: int = 0
    context: str = ""
    group: int = 0
    paragraph: int | None = None
    row: int | None = None
    element: str | None = None
    sheet: str | None = None
    slide: int | None = None


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The span of canonical text that stands on one page.

    Attributes:
        number: 1-based page number.
        start: first code point.
        end: one past the last; equal to ``start`` on a page without text.
        width: page width in points after rotation.
        height: page height in points after rotation.
        label: printed page label where the file has one, else empty.
    """

    number: int
    start: int
    end: int
    width: float = 0.0
    height: float = 0.0
    label: str = ""


@dataclass(frozen=True, slots=True)
class PageBoxes:
    """Character boxes of one page, compressed.

    Attributes:
        page: 1-based page number.
        start: code point of the canonical text that the first box belongs to.
        data: the boxes of the characters from there on, packed by
            :func:`evidencedesk.model.boxes.pack_boxes`; a character without a box (a joined line
            end, say) has four NaNs.
    """

    page: int
    start: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text under it up to the next heading of any level.

    Attributes:
        heading: heading path; empty for text before the first heading.
        level: level of the heading; 0 for text before the first heading.
        text: the section's text without its heading line.
        start: first code point of ``text`` in the canonical text.
        end: one past the last.
        first_line: file line of the heading (or of the first text line), None when unknown.
    """

    heading: tuple[str, ...]
    level: int
    text: str
    start: int
    end: int
    first_line: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a parser makes of one file's bytes; knows nothing of rights.

    Attributes:
        text: canonical text.
        blocks: see :class:`Block`.
        media_type: of the content, not of the file name.
        parser: name of the parser.
        parser_version: changes whenever the parser's output for the same bytes may change.
        first_line: file line on which the canonical text begins, None where lines mean nothing.
        pages: page spans of a paged format, in order.
        page_boxes: character boxes of a paged format.
        title: title found in the content, or None.
        lang: language declared in the content (BCP 47), or None.
        metadata: other metadata declared in the content (front matter), values as parsed.
        warnings: what was not read, in words for a person ("2 of 14 pages have no text").
        partial: True when some of the content could not be read.
        masks: kinds of values that were looked for to be masked, found or not.
    """

    text: str
    blocks: tuple[Block, ...]
    media_type: str
    parser: str
    parser_version: str
    first_line: int | None = None
    pages: tuple[PageSpan, ...] = ()
    page_boxes: tuple[PageBoxes, ...] = ()
    title: str | None = None
    lang: str | None = None
    metadata: dict[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    partial: bool = False
    masks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Document:
    """A document with its metadata and rights, ready to be chunked.

    ``Document(id="a", text="...")`` is enough for trying things; ingestion fills in the rest.
    ``roles`` and ``deny`` empty means administrators only. ``source`` is a path or URL that a
    person can open; ``root`` is the PATH given to ``ingest`` under which it was found. ``status``
    is one of ``current superseded draft archived``. ``inputs_hash`` covers everything the document
    was made from (bytes, parser, metadata given beside the file); an equal one means nothing to do.
    ``masks`` are the kinds of values that were looked for to be masked, found or not.
    """

    id: str
    text: str
    title: str = ""
    source: str = ""
    version: str = ""
    status: str = "current"
    lang: str = "und"
    owner: str = ""
    tenant: str = "default"
    roles: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    blocks: tuple[Block, ...] = ()
    media_type: str = "text/plain"
    parser: str = ""
    parser_version: str = ""
    first_line: int | None = 1
    pages: tuple[PageSpan, ...] = ()
    page_boxes: tuple[PageBoxes, ...] = ()
    ingested_at: datetime | None = None
    file_hash: str = ""
    root: str = ""
    supersedes: str = ""
    warnings: tuple[str, ...] = ()
    partial: bool = False
    inputs_hash: str = ""
    masks: frozenset[str] = frozenset()

    @property
    def masked(self) -> bool:
        """Whether values were masked in it; its original is then for administrators only."""
        return any(warning.startswith(MASKED) for warning in self.warnings)

    @cached_property
    def location_hash(self) -> str:
        """``sha256:<hex>`` of all anchors: equal hashes mean that every span has the same place."""
        anchors = (
            self.first_line,
            self.pages,
            [
                (b.start, b.end, b.heading, b.paragraph, b.row, b.element, b.sheet, b.slide)
                for b in self.blocks
            ],
        )
        return "sha256:" + hashlib.sha256(repr(anchors).encode("utf-8")).hexdigest()

    @cached_property
    def content_hash(self) -> str:
        """``sha256:<hex>`` of the canonical text."""
        return content_hash_of(self.text)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The document cut at its heading blocks; sections without text are left out."""
        return _sections(self)


def _sections(document: Document) -> tuple[Section, ...]:
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    cuts: list[tuple[tuple[str, ...], int, int, int]] = []
    if not headings or headings[0].start > 0:
        end = headings[0].start if headings else len(document.text)
        cuts.append(((), 0, 0, end))
    for index, block in enumerate(headings):
        end = headings[index + 1].start if index + 1 < len(headings) else len(document.text)
        cuts.append((block.heading, block.level, block.end, end))
    return tuple(
        Section(
            heading=heading,
            level=level,
            text=document.text[start:end],
            start=start,
            end=end,
            first_line=_line_of(document, start),
        )
        for heading, level, start, end in cuts
        if document.text[start:end].strip()
    )


def _line_of(document: Document, offset: int) -> int | None:
    if document.first_line is None:
        return None
    before = document.text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    return document.first_line + before.count("\n")
