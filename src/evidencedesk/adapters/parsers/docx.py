"""DOCX: a reader on lxml that shows what Word shows.

Canonical text is the blocks joined by blank lines: paragraphs with their list marker (``1.`` or
``•``; headings go without theirs), table rows with cells joined by `` | ``, text boxes and notes after the paragraph they hang
on. Tracked insertions are text, deletions are not. Headers and footers of pages are left out.
Paragraphs of the body are counted as Word holds them, blank ones too, those in tables, boxes and
notes not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from evidencedesk.adapters.parsers.blocks import BlockWriter
from evidencedesk.adapters.parsers.docx_styles import (
    TITLE,
    Numbering,
    Styles,
    list_id,
    list_level,
    outline_level,
)
from evidencedesk.adapters.parsers.docx_table import read_rows
from evidencedesk.adapters.parsers.docx_text import (
    ParagraphText,
    alternative,
    is_alternative,
    read_paragraph,
)
from evidencedesk.adapters.parsers.package import Package
from evidencedesk.model import BlockKind, ParsedDocument

_CONTAINERS = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo"})
_BODY_LEVEL = 9


class DocxParser:
    """Parser for Word documents, Transitional and Strict."""

    name = "docx"
    version = "1"
    media_types = ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse DOCX; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``encrypted``, ``damaged``, ``refused`` or ``unsupported``.
        """
        package = Package(data, file_name, "DOCX")
        reader = _Reader(package, package.main_part("word/document.xml"))
        reader.read()
        return ParsedDocument(
            text=reader.writer.text,
            blocks=reader.writer.blocks,
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            title=reader.title or package.title(),
            warnings=tuple(reader.warnings),
            partial=reader.partial,
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where blocks being read hang: a body paragraph, and inside what."""

    paragraph: int | None = None
    context: str = ""
    in_body: bool = True


class _Reader:
    def __init__(self, package: Package, main: str) -> None:
        self.writer = BlockWriter()
        self.title: str | None = None
        self.warnings: dict[str, None] = {}
        self.partial = False
        root = package.xml(main)
        if root is None or not str(root.tag).endswith("}document"):
            raise package.damaged(f"{main} is no Word document")
        self._root = root
        self._word = str(root.tag).removesuffix("document")
        parts = {kind.rsplit("/", 1)[-1]: name for kind, name in package.relations(main).values()}
        self._styles = Styles(package.xml(parts.get("styles", "")), self._word)
        self._numbering = Numbering.read(package.xml(parts.get("numbering", "")), self._word)
        self._notes = {
            kind: self._read_notes(package.xml(parts.get(f"{kind}s", "")), kind)
            for kind in ("footnote", "endnote")
        }
        self._paragraphs = 0
        self._list: tuple[str, int] | None = None

    def read(self) -> None:
        for body in self._root.iterchildren(f"{self._word}body"):
            self._read_blocks(body, _Place())

    def _read_notes(self, root: etree._Element | None, kind: str) -> dict[str, etree._Element]:
        if root is None:
            return {}
        notes = root.iterchildren(f"{self._word}{kind}")
        return {note.get(f"{self._word}id", ""): note for note in notes}

    def _read_blocks(self, parent: etree._Element, place: _Place) -> None:
        for element in self._children(parent):
            name = str(element.tag).removeprefix(self._word)
            if name == "p":
                self._read_paragraph(element, place)
            elif name == "tbl":
                self._read_table(element, place)
            elif name == "altChunk":
                self.partial = True
                self.warnings["a document embedded in it (altChunk) was not read"] = None
            elif name in _CONTAINERS:
                self._read_blocks(element, place)

    def _children(self, parent: etree._Element) -> Iterator[etree._Element]:
        for element in parent.iterchildren(etree.Element):
            if is_alternative(element):
                yield from alternative(element)
            else:
                yield element

    def _read_paragraph(self, element: etree._Element, place: _Place) -> None:
        if place.in_body:
            self._paragraphs += 1
            place = _Place(self._paragraphs)
        content = read_paragraph(element, self._word)
        if content.hidden:
            self.warnings["hidden text was left out"] = None
        properties = element.find(f"{self._word}pPr")
        style = "" if properties is None else self._style_of(properties)
        level = self._heading_level(properties, style) if place.in_body else None
        marker, depth = self._marker(properties, style, has_text=bool(content.text))
        text = f"{marker} {content.text}" if marker and content.text else content.text
        if level is not None and content.text:
            self._write_heading(" ".join(content.text.split()), level, place)
        elif marker:
            group = self._list_group(self._list_id(properties, style))
            self._write(BlockKind.LIST_ITEM, text, place, level=depth + 1, group=group)
        elif text:
            self._list = None
            self._write(BlockKind.PARAGRAPH, text, place)
        self._read_attached(content, place)

    def _style_of(self, properties: etree._Element) -> str:
        style = properties.find(f"{self._word}pStyle")
        return "" if style is None else style.get(f"{self._word}val", "")

    def _heading_level(self, properties: etree._Element | None, style: str) -> int | None:
        direct = outline_level(properties, self._word)
        if direct is None:
            return self._styles.heading_level(style)
        return None if direct >= _BODY_LEVEL else min(direct + 1, 6)

    def _list_id(self, properties: etree._Element | None, style: str) -> str:
        return list_id(properties, self._word) or self._styles.numbering(style)[0] or "0"

    def _marker(
        self, properties: etree._Element | None, style: str, *, has_text: bool
    ) -> tuple[str, int]:
        identity = self._list_id(properties, style)
        level = list_level(properties, self._word)
        if level is None:
            level = self._styles.numbering(style)[1] or 0
        if identity == "0" or not has_text:
            return "", level
        return self._numbering.marker(identity, level) or "", level

    def _list_group(self, identity: str) -> int:
        if self._list is None or self._list[0] != identity:
            self._list = (identity, self.writer.next_group())
        return self._list[1]

    def _write_heading(self, text: str, level: int, place: _Place) -> None:
        self._list = None
        if level == TITLE:
            self.title = self.title or text
        self.writer.heading(text, level, paragraph=place.paragraph)

    def _write(self, kind: BlockKind, text: str, place: _Place, **fields: int) -> None:
        self.writer.add(kind, text, paragraph=place.paragraph, context=place.context, **fields)

    def _read_attached(self, content: ParagraphText, place: _Place) -> None:
        for box in content.boxes:
            self._read_blocks(box, _Place(place.paragraph, place.context, in_body=False))
        for kind, identity in content.notes:
            note = self._notes[kind].pop(identity, None)
            if note is not None:
                context = f"{kind.capitalize()} {identity}"
                self._read_blocks(note, _Place(place.paragraph, context, in_body=False))

    def _read_table(self, table: etree._Element, place: _Place) -> None:
        self._list = None
        group = self.writer.next_group()
        for row in read_rows(table, self._word):
            self.writer.add(
                BlockKind.TABLE_HEADER if row.is_header else BlockKind.TABLE_ROW,
                row.text,
                context="\n".join(filter(None, [place.context, row.context])),
                group=group,
                row=row.number,
            )
            for content in row.paragraphs:
                notes = ParagraphText(notes=content.notes)
                self._read_attached(notes, _Place(place.paragraph, place.context, in_body=False))
