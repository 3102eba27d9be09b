"""PPTX: the slides of a presentation, each under its title.

Canonical text has a heading for each slide (its title, else ``Slide 4``) and the paragraphs of its
shapes in the order in which the file holds them: lists, table rows with cells joined by `` | ``, text
of diagrams, then the speaker's notes, whose context says what they are. Hidden slides are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from evidencedesk.adapters.parsers.blocks import BlockWriter
from evidencedesk.adapters.parsers.package import Package, local_name
from evidencedesk.adapters.parsers.tables import looks_like_names
from evidencedesk.errors import ParseError
from evidencedesk.model import BlockKind, ParsedDocument

_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_NOTES = "Speaker notes"
_LINE_ENDS = re.compile(r"[ \t]*[\n\v]\s*")
_DEEPEST = 50


class PptxParser:
    """Parser for PowerPoint presentations, Transitional and Strict."""

    name = "pptx"
    version = "1"
    media_types = ("application/vnd.openxmlformats-officedocument.presentationml.presentation",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse PPTX; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``encrypted``, ``damaged``, ``refused`` or ``unsupported``.
        """
        package = Package(data, file_name, "PPTX")
        reader = _Reader(package)
        reader.read()
        return ParsedDocument(
            text=reader.writer.text,
            blocks=reader.writer.blocks,
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            title=package.title(),
            warnings=tuple(reader.warnings()),
            partial=bool(reader.unread or reader.charts),
        )


class _Reader:
    def __init__(self, package: Package) -> None:
        self.writer = BlockWriter()
        self.unread: list[int] = []
        self.charts = 0
        self._package = package
        self._hidden: list[int] = []
        self._blank: list[int] = []
        self._slides = 0
        self._main = package.main_part("ppt/presentation.xml")

    def read(self) -> None:
        presentation = self._package.xml(self._main)
        if presentation is None or local_name(presentation) != "presentation":
            raise self._package.damaged(f"{self._main} is no presentation")
        relations = self._package.relations(self._main)
        for number, entry in enumerate(presentation.iterfind("{*}sldIdLst/{*}sldId"), start=1):
            self._slides = number
            identity = next((v for k, v in entry.attrib.items() if str(k).endswith("}id")), "")
            part = relations.get(str(identity), ("", ""))[1]
            try:
                self._read_slide(part, number)
            except ParseError as error:
                if error.code == "refused":
                    raise
                self.unread.append(number)
        if self.unread and not self.writer.blocks:
            raise self._package.damaged(f"none of its {self._slides} slides can be read")

    def warnings(self) -> Iterator[str]:
        """In words for a person."""
        for numbers, problem in (
            (self.unread, "could not be read"),
            (self._blank, "have no text"),
            (self._hidden, "are hidden and were left out"),
        ):
            if numbers:
                which = ", ".join(map(str, numbers[:10])) + (", ..." if len(numbers) > 10 else "")
                yield f"{len(numbers)} of {self._slides} slides {problem} (slide {which})"
        if self.charts:
            yield f"{self.charts} charts were not read"

    def _read_slide(self, part: str, number: int) -> None:
        slide = self._package.xml(part)
        if slide is None:
            raise self._package.damaged(f"slide {number} is missing")
        if slide.get("show") in {"0", "false"}:
            self._hidden.append(number)
            return
        shapes = list(_shapes(slide, 0))
        titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
        title = " ".join(" ".join(text.split()) for shape in titles for text, _ in _lines(shape))
        relations = list(self._package.relations(part).values())
        body = [
            shape
            for shape in shapes
            if shape not in titles and _placeholder(shape) not in _FURNITURE
        ]
        alone = not any(text for shape in body for text, _ in _lines(shape))
        before = len(self.writer.blocks)
        self.writer.heading(
            f"Slide {number}" if alone else title or f"Slide {number}", 1, slide=number
        )
        if alone:  # a heading belongs to no chunk, and nothing would be left to find
            self.writer.add(BlockKind.PARAGRAPH, title, slide=number)
        for shape in body:
            self._write_shape(shape, number)
        self._write_diagrams(relations, number)
        self._write_notes(relations, number)
        if len(self.writer.blocks) == before + 1:
            self._blank.append(number)

    def _write_shape(self, shape: etree._Element, number: int) -> None:
        tables = list(shape.iter("{*}tbl"))
        for table in tables:
            self._write_table(table, number)
        if not tables:
            self._write_lines(_lines(shape), number)

    def _write_lines(
        self, lines: Iterator[tuple[str, int | None]], number: int, context: str = ""
    ) -> None:
        group = 0
        for text, level in lines:
            if level is None:
                self.writer.add(BlockKind.PARAGRAPH, text, slide=number, context=context)
                continue
            group = group or self.writer.next_group()
            self.writer.add(
                BlockKind.LIST_ITEM,
                text,
                slide=number,
                context=context,
                level=level + 1,
                group=group,
            )

    def _write_table(self, table: etree._Element, number: int) -> None:
        rows = [
            [
                " ".join(" ".join(text.split()) for text, _ in _lines(cell))
                for cell in row.iterchildren("{*}tc")
                if cell.get("hMerge") not in {"1", "true"}
            ]
            for row in table.iterchildren("{*}tr")
        ]
        properties = table.find("{*}tblPr")
        marked = properties is not None and properties.get("firstRow") in {"1", "true"}
        has_header = len(rows) > 1 and (marked or looks_like_names(rows[0]))
        header = " | ".join(rows[0]) if has_header else ""
        group = self.writer.next_group()
        for row_number, cells in enumerate(rows, start=1):
            first = has_header and row_number == 1
            if any(cells):
                self.writer.add(
                    BlockKind.TABLE_HEADER if first else BlockKind.TABLE_ROW,
                    " | ".join(cells),
                    context="" if first else header,
                    group=group,
                    row=row_number,
                    slide=number,
                )

    def _write_diagrams(self, relations: list[tuple[str, str]], number: int) -> None:
        for kind, part in relations:
            if kind.endswith("/diagramData"):
                root = self._package.xml(part)
                if root is not None:
                    self._write_lines(_lines(root), number)
            elif kind.endswith("/chart"):
                self.charts += 1

    def _write_notes(self, relations: list[tuple[str, str]], number: int) -> None:
        for kind, part in relations:
            notes = self._package.xml(part) if kind.endswith("/notesSlide") else None
            if notes is None:
                continue
            for shape in _shapes(notes, 0):
                if _placeholder(shape) not in _FURNITURE:
                    self._write_lines(_lines(shape), number, context=_NOTES)


def _shapes(parent: etree._Element, depth: int) -> Iterator[etree._Element]:
    """Shapes and graphic frames in the file's order, those of groups too."""
    for element in parent.iterchildren(etree.Element):
        name = local_name(element)
        if name in {"sp", "graphicFrame", "cxnSp"}:
            yield element
        elif name == "AlternateContent":
            options = [option for option in element.iterchildren(etree.Element) if len(option)]
            if options and depth < _DEEPEST:
                yield from _shapes(options[0], depth + 1)
        elif name in {"cSld", "spTree", "grpSp"} and depth < _DEEPEST:
            yield from _shapes(element, depth + 1)


def _placeholder(shape: etree._Element) -> str:
    placeholder = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return "" if placeholder is None else placeholder.get("type", "body")


def _lines(shape: etree._Element) -> Iterator[tuple[str, int | None]]:
    """Paragraphs with text: the text, and the depth of a list item or None."""
    for paragraph in shape.iter("{*}p"):
        pieces = []
        for element in paragraph.iter("{*}t", "{*}br", "{*}tab"):
            name = local_name(element)
            pieces.append((element.text or "") if name == "t" else "\n" if name == "br" else "\t")
        text = _LINE_ENDS.sub("\n", "".join(pieces)).strip()
        if text:
            yield text, _depth(paragraph)


def _depth(paragraph: etree._Element) -> int | None:
    properties = paragraph.find("{*}pPr")
    if properties is None:
        return None
    level = properties.get("lvl", "0")
    bulleted = any(
        local_name(mark) in {"buChar", "buAutoNum", "buBlip"}
        for mark in properties.iterchildren(etree.Element)
    )
    depth = int(level) if level in {*"012345678"} else 0
    return depth if bulleted or depth else None
