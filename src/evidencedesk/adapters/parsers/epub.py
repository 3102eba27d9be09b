"""EPUB: the chapters of a book in reading order, each read as the HTML that it is.

Canonical text is that of the chapters, joined. A chapter without a heading of its own gets the one
that the table of contents gives it. A block's element is its file in the book and the CSS path in it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from lxml import etree

from evidencedesk.adapters.parsers.blocks import BlockWriter
from evidencedesk.adapters.parsers.html import HtmlParser
from evidencedesk.adapters.parsers.joining import append_parsed
from evidencedesk.adapters.parsers.package import Package
from evidencedesk.errors import ParseError
from evidencedesk.model import BlockKind, ParsedDocument

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


class EpubParser:
    """Parser for EPUB 2 and 3."""

    name = "epub"
    version = "1"
    media_types = ("application/epub+zip",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse EPUB; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``encrypted``, ``damaged`` or ``refused``.
        """
        book = _Book(Package(data, file_name, "EPUB"), file_name)
        writer = BlockWriter()
        unread = []
        for chapter in book.chapters():
            try:
                book.write(chapter, writer)
            except ParseError as error:
                if error.code == "refused":
                    raise
                unread.append(chapter)
        if not writer.blocks:
            raise book.without_text()
        problem = f"{len(unread)} chapters could not be read ({', '.join(unread[:5])})"
        return ParsedDocument(
            text=writer.text,
            blocks=writer.blocks,
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            title=book.metadata("title"),
            lang=book.metadata("language"),
            warnings=(problem,) if unread else (),
            partial=bool(unread),
        )


class _Book:
    def __init__(self, package: Package, file_name: str) -> None:
        self._package = package
        self._file_name = file_name
        self._html = HtmlParser()
        container = package.xml(_CONTAINER)
        rootfile = None if container is None else container.find(".//{*}rootfile")
        path = "" if rootfile is None else rootfile.get("full-path", "")
        root = package.xml(path)
        if root is None:
            raise package.damaged("the book has no list of its contents")
        self._root = root
        self._folder = posixpath.dirname(path)
        self._items = {item.get("id", ""): item for item in root.iterfind("{*}manifest/{*}item")}
        self._names = dict(self._toc_names())

    def metadata(self, name: str) -> str | None:
        """A text of the book's metadata."""
        found = self._root.find(f"{{*}}metadata/{{http://purl.org/dc/elements/1.1/}}{name}")
        text = "" if found is None else " ".join((found.text or "").split())
        return text or None

    def chapters(self) -> Iterator[str]:
        """Names of the parts that hold the text, in reading order, each once."""
        seen = set()
        for reference in self._root.iterfind("{*}spine/{*}itemref"):
            item = self._items.get(reference.get("idref", ""))
            if item is None or item.get("media-type", "") not in _PAGES:
                continue
            if "nav" in item.get("properties", "").split():
                continue
            part = self._part(item.get("href", ""))
            if part not in seen:
                seen.add(part)
                yield part

    def write(self, chapter: str, writer: BlockWriter) -> None:
        """Write one chapter.

        Raises:
            ParseError: it is missing or unreadable.
        """
        data = self._package.bytes_of(chapter)
        if data is None:
            raise self._package.damaged(f"{chapter} is missing")
        parsed = self._html.parse(data, f"{self._file_name}!/{chapter}")
        prefix = f"{posixpath.relpath(chapter, self._folder or '.')}: "
        has_heading = any(block.kind is BlockKind.HEADING for block in parsed.blocks[:3])
        name = self._names.get(chapter, "")
        if name and parsed.blocks and not has_heading:
            writer.heading(name, 1, element=f"{prefix}body")
        append_parsed(writer, parsed, element_prefix=prefix)

    def without_text(self) -> ParseError:
        """The error for a book of pictures, or one whose chapters are locked."""
        if self._package.bytes_of(_ENCRYPTION) is not None:
            return ParseError(
                f"{self._file_name}: the book is protected against copying.",
                code="encrypted",
                hint="Ingest a copy without protection.",
            )
        return ParseError(
            f"{self._file_name}: no chapter of the book has text.",
            code="no_text",
            hint="A book of pictures needs OCR first.",
        )

    def _part(self, href: str) -> str:
        path = unquote(href.partition("#")[0])
        return posixpath.normpath(posixpath.join("/", self._folder, path)).lstrip("/")

    def _toc_names(self) -> Iterator[tuple[str, str]]:
        """Part and name of every entry of the table of contents, the first of a part last."""
        for item in self._items.values():
            kind = item.get("media-type", "")
            is_nav = "nav" in item.get("properties", "").split()
            if not is_nav and kind != "application/x-dtbncx+xml":
                continue
            part = self._part(item.get("href", ""))
            try:
                root = self._package.xml(part)
            except ParseError:
                continue  # names are a help; the chapters are there without them
            entries = [] if root is None else list(_toc_entries(root))
            folder = posixpath.dirname(part)
            for href, name in reversed(entries):
                path = unquote(href.partition("#")[0])
                target = posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
                yield target, name


def _toc_entries(root: etree._Element) -> Iterator[tuple[str, str]]:
    for point in root.iter("{*}navPoint"):
        content, label = point.find("{*}content"), point.find("{*}navLabel")
        if content is not None and label is not None:
            yield content.get("src", ""), _text_of(label)
    for link in root.iter("{*}a"):
        yield link.get("href", ""), _text_of(link)


def _text_of(element: etree._Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())
