"""HTML: the words of the page in blocks, without the furniture around them.

Canonical text is the white-space-folded text of each block, joined by blank lines; ``<pre>`` keeps
its white space and ``<br>`` is a line end. Table rows are cells joined by `` | ``. Navigation,
scripts, forms and whatever is hidden are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from evidencedesk.adapters.parsers.blocks import BlockWriter
from evidencedesk.adapters.parsers.decoding import Decoded, decode
from evidencedesk.adapters.parsers.html_table import is_data_table, table_rows
from evidencedesk.adapters.parsers.html_visible import FURNITURE, fold, is_left_out
from evidencedesk.model import BlockKind, ParsedDocument

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset"
    " figcaption figure footer form header hgroup hr html legend li main menu nav ol p pre section"
    " summary table tbody td tfoot th thead tr ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split()) | frozenset(_HEADINGS)
_LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_KINDS = {"li": BlockKind.LIST_ITEM, "dt": BlockKind.LIST_ITEM, "dd": BlockKind.LIST_ITEM}
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
_PLAIN_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_BREAK = "\0"
_HEAD = 2048
_XHTML = "http://www.w3.org/1999/xhtml"
_SELF_CLOSED = re.compile(
    r"<(title|script|style|textarea|iframe|noscript|template|a|p|div|span|td|th|li|i|b|em|strong)"
    r"((?:\s[^<>]*)?)/>",
    re.IGNORECASE,
)
# https://encoding.spec.whatwg.org/#names-and-labels: what browsers take these labels to mean.
_ALIASES = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "big5": "big5hkscs",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-9": "cp1254",
    "utf-16": "utf-8",
    "utf-16le": "utf-8",
    "utf-16be": "utf-8",
}


class HtmlParser:
    """Parser for HTML and XHTML, as forgiving as a browser. Entities of a DTD are not expanded."""

    name = "html"
    version = "2"
    media_types = ("text/html",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse HTML; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``unsupported`` when the bytes are no text.
        """
        decoded = _decode(data, file_name)
        tree = LexborHTMLParser(_without_self_closing(decoded.text))
        reader = _Reader(tree, skip_furniture=True)
        warnings = decoded.warnings
        if not reader.writer.blocks:
            reader = _Reader(tree, skip_furniture=False)
            if reader.writer.blocks:
                warnings = (*warnings, "the page holds nothing but navigation and the like")
        title = tree.css_first("title")
        language = tree.root.attributes.get("lang") if tree.root else None
        return ParsedDocument(
            text=reader.writer.text,
            blocks=reader.writer.blocks,
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            title=fold(title.text()) or None if title else None,
            lang=language.strip() or None if language else None,
            warnings=warnings,
            partial=decoded.lossy,
        )


def _decode(data: bytes, file_name: str) -> Decoded:
    found = _CHARSET.search(data[:4096])
    label = found.group(1).decode("ascii").lower() if found else ""
    return decode(data, file_name, declared=[_ALIASES.get(label, label)] if label else [])


def _without_self_closing(text: str) -> str:
    """XHTML with ``<title/>`` written out: to an HTML parser it opens a title that never ends."""
    head = text[:_HEAD]
    if not head.lstrip().startswith("<?xml") and _XHTML not in head:
        return text
    return _SELF_CLOSED.sub(r"<\1\2></\1>", text)


@dataclass(slots=True)
class _Element:
    """One open element: where it stands among its siblings, and what its text becomes."""

    tag: str
    selector: str
    anchored: bool
    parent: _Element | None
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    group: int = 0
    lists: int = 0
    children: Counter[str] = field(default_factory=Counter)

    @property
    def path(self) -> str:
        parts: list[str] = []
        element: _Element | None = self
        while element is not None:
            parts.append(element.selector)
            element = None if element.anchored else element.parent
        return " > ".join(reversed(parts))


class _Reader:
    """One walk through the tree, without recursion: pages nest thousands deep when they please."""

    def __init__(self, tree: LexborHTMLParser, *, skip_furniture: bool) -> None:
        self.writer = BlockWriter()
        self._ids = Counter(node.attributes.get("id") for node in tree.css("[id]"))
        self._skip = FURNITURE if skip_furniture else frozenset[str]()
        self._open: list[_Element] = []
        self._words: list[str] = []
        self._place: _Element | None = None
        if tree.root is not None:
            self._walk(tree.root)
            self._flush()

    def _walk(self, root: LexborNode) -> None:
        above: list[LexborNode] = []
        node: LexborNode | None = root
        while node is not None:
            entered = self._enter(node)
            child = node.child if entered else None
            if child is not None:
                above.append(node)
                node = child
                continue
            if entered:
                self._leave()
            while above and node.next is None:
                node = above.pop()
                self._leave()
            node = node.next if above else None

    def _enter(self, node: LexborNode) -> bool:
        """Take in one node; True when its children are to be visited, and then left."""
        tag = node.tag or ""
        if tag == "-text":
            self._add_text(node.text_content or "")
            return False
        if tag == "br":
            self._words.append(_BREAK)
            return False
        parent = self._open[-1] if self._open else None
        if parent is not None:
            parent.children[tag] += 1
        if tag.startswith("-") or is_left_out(node, self._skip):
            return False
        element = self._element(node, tag, parent)
        if tag in _BLOCKS:
            self._flush()
        if tag == "table" and is_data_table(node):
            self._write_table(node, element)
            return False
        self._open.append(element)
        return True

    def _leave(self) -> None:
        if self._open[-1].tag in _BLOCKS:
            self._flush()
        self._open.pop()

    def _element(self, node: LexborNode, tag: str, parent: _Element | None) -> _Element:
        selector, anchored = self._selector(node, tag, parent)
        element = _Element(tag, selector, anchored, parent)
        if parent is not None:
            element.kind, element.level = parent.kind, parent.level
            element.group, element.lists = parent.group, parent.lists
        if tag in _LISTS:
            element.lists += 1
            element.group = element.group if element.lists > 1 else self.writer.next_group()
        elif tag in _HEADINGS:
            element.kind, element.level = BlockKind.HEADING, _HEADINGS[tag]
        elif tag == "pre":
            element.kind = BlockKind.CODE
        elif tag == "blockquote":
            element.kind = BlockKind.QUOTE
        elif tag in _KINDS:
            element.kind, element.level = _KINDS[tag], max(element.lists, 1)
        return element

    def _selector(self, node: LexborNode, tag: str, parent: _Element | None) -> tuple[str, bool]:
        identity = node.attributes.get("id")
        if identity and self._ids[identity] == 1:
            if _PLAIN_ID.fullmatch(identity):
                return f"#{identity}", True
            escaped = identity.replace("\\", "\\\\").replace('"', '\\"')
            if escaped.isprintable():
                return f'[id="{escaped}"]', True
        if parent is None or tag == "body":
            return tag, False
        return f"{tag}:nth-of-type({parent.children[tag]})", False

    def _add_text(self, text: str) -> None:
        if self._place is None and text.strip():
            self._place = self._block_element()
        self._words.append(text.replace(_BREAK, " "))

    def _block_element(self) -> _Element:
        return next(element for element in reversed(self._open) if element.tag in _BLOCKS)

    def _flush(self) -> None:
        """Write the text gathered so far as a block of the element in which it began."""
        place, words = self._place, "".join(self._words)
        self._place, self._words = None, []
        if place is None:
            return
        kind, level = place.kind, place.level
        if kind is BlockKind.CODE:
            text = words.replace(_BREAK, "\n")
        else:
            text = "\n".join(filter(None, map(fold, words.split(_BREAK))))
        if kind is BlockKind.HEADING:
            self.writer.heading(fold(text), level, element=place.path)
            self._end_heading()
        else:
            self.writer.add(kind, text, level=level, group=place.group, element=place.path)

    def _end_heading(self) -> None:
        """What follows inside a heading that was closed by a block in it is not a heading."""
        for element in self._open:
            if element.kind is BlockKind.HEADING:
                element.kind, element.level = BlockKind.PARAGRAPH, 0

    def _write_table(self, table: LexborNode, element: _Element) -> None:
        group = self.writer.next_group()
        for row in table_rows(table, self._skip):
            path = f"{element.path} > {row.path}"
            if row.number == 0:
                self.writer.add(BlockKind.PARAGRAPH, row.text, element=path)
                continue
            kind = BlockKind.TABLE_HEADER if row.is_header else BlockKind.TABLE_ROW
            self.writer.add(
                kind, row.text, context=row.context, group=group, row=row.number, element=path
            )
