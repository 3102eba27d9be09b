"""Markdown: markdown-it-py's block rules say which lines belong together, the text stays source.

Canonical text is the decoded file after its front matter, markup and line ends kept. Inline markup
is not parsed (50,000 brackets cost nothing), except that headings lose theirs in heading paths.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evidencedesk.adapters.parsers.decoding import decode
from evidencedesk.adapters.parsers.headings import HeadingPath
from evidencedesk.model import Block, BlockKind, ParsedDocument
from evidencedesk.model.locate import line_starts
from evidencedesk.text.front_matter import split_front_matter

_LEAVES = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.MARKUP,
    "hr": BlockKind.MARKUP,
}
_LISTS = ("bullet_list_open", "ordered_list_open")
_TOML = re.compile(
    r"\+\+\+[ \t]*(?:\r\n|\n|\r)(?:[^\r\n]*(?:\r\n|\n|\r))*?\+\+\+[ \t]*(?:\r\n|\n|\r|\Z)"
)
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s+[^()]*)?\)|\[[^\[\]]*\])")
_CODE = re.compile(r"(`+)(.+?)\1(?!`)")
_EMPHASIS = re.compile(r"(\*{1,3}|~~|(?<!\w)_{1,3})(?=[^\s*_~])(.+?)(?<=[^\s*_~])\1(?!\w)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LONGEST_HEADING = 2_000
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


class MarkdownParser:
    """Parser for CommonMark with tables."""

    name = "markdown"
    version = "2"
    media_types = ("text/markdown",)

    def __init__(self) -> None:
        self._rules = MarkdownIt("commonmark").enable("table")
        self._rules.core.ruler.enableOnly(["normalize", "block"])

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse Markdown; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            MetadataError: front matter is wrong.
            ParseError: ``unsupported`` when the bytes are no text.
        """
        decoded = decode(data, file_name)
        front = split_front_matter(decoded.text, file_name)
        start, first_line = front.start, front.first_line
        if not start:
            start, first_line = _toml_end(decoded.text)
        text = decoded.text[start:]
        return ParsedDocument(
            text=text,
            blocks=tuple(_Reader(text, self._rules.parse(text)).blocks()),
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            first_line=first_line,
            metadata=front.metadata,
            warnings=decoded.warnings,
            partial=decoded.lossy,
        )


def _toml_end(text: str) -> tuple[int, int]:
    """Front matter in TOML (``+++``) is set aside unread: where the text begins, and its line."""
    match = _TOML.match(text)
    return (match.end(), len(line_starts(match.group()))) if match else (0, 1)


@dataclass(slots=True)
class _Container:
    """Where the walk through the tokens stands."""

    lists: int = 0
    quotes: int = 0
    group: int = 0
    header: str = ""
    row: int = 0
    in_head: bool = False


class _Reader:
    """Turns block tokens with their line ranges into spans of the source."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._starts = line_starts(text)
        self._headings = HeadingPath()
        self._groups = 0

    def blocks(self) -> Iterator[Block]:
        """Blocks in order; lines that no rule claims (link definitions, say) are markup."""
        done = 0
        for block, first, last in self._claimed():
            yield from self._unclaimed(done, first)
            path = block.heading
            if block.kind is BlockKind.HEADING:
                path = self._headings.enter(block.level, path[0])
            else:
                path = self._headings.path
            yield replace(block, heading=path)
            done = last
        yield from self._unclaimed(done, len(self._starts))

    def _claimed(self) -> Iterator[tuple[Block, int, int]]:
        place = _Container()
        for index, token in enumerate(self._tokens):
            self._enter_or_leave(place, token)
            if token.map is None:
                continue
            first, last = token.map
            if token.type in _LEAVES:
                block = self._leaf(place, token, index)
            elif token.type == "tr_open":
                last += place.in_head  # the line of dashes belongs to the header row
                block = self._row(place, first, last)
            else:
                continue
            if block is not None:
                yield block, first, last

    def _enter_or_leave(self, place: _Container, token: Token) -> None:
        if token.type in _LISTS:
            place.lists += 1
            place.group = place.group if place.lists > 1 else self._next_group()
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            place.lists -= 1
        elif token.type == "blockquote_open":
            place.quotes += 1
            place.group = place.group if place.lists else self._next_group()
        elif token.type == "blockquote_close":
            place.quotes -= 1
        elif token.type == "table_open":
            place.group, place.row, place.header = self._next_group(), 0, ""
        elif token.type in {"thead_open", "thead_close"}:
            place.in_head = token.type == "thead_open"

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups

    def _leaf(self, place: _Container, token: Token, index: int) -> Block | None:
        assert token.map is not None
        kind = _LEAVES[token.type]
        if kind is BlockKind.HEADING:
            level, title = int(token.tag[1]), plain_heading(self._tokens[index + 1].content)
            return self._span(Block(kind, 0, 0, (title,), level), *token.map)
        if kind is BlockKind.PARAGRAPH and place.lists:
            kind = BlockKind.LIST_ITEM
        elif kind is BlockKind.PARAGRAPH and place.quotes:
            kind = BlockKind.QUOTE
        group = place.group if place.lists or place.quotes else 0
        return self._span(Block(kind, 0, 0, level=place.lists, group=group), *token.map)

    def _row(self, place: _Container, first: int, last: int) -> Block | None:
        place.row += 1
        kind = BlockKind.TABLE_HEADER if place.in_head else BlockKind.TABLE_ROW
        block = Block(kind, 0, 0, context=place.header, group=place.group, row=place.row)
        if place.in_head:
            end = self._starts[first + 1] if first + 1 < len(self._starts) else len(self._text)
            place.header = self._text[self._starts[first] : end].strip().strip("|").strip()
        return self._span(block, first, last)

    def _unclaimed(self, first: int, last: int) -> Iterator[Block]:
        start = first
        for line in range(first, last + 1):
            blank = line == last or not self._line(line).strip()
            if blank:
                block = self._span(Block(BlockKind.MARKUP, 0, 0), start, line)
                if block is not None:
                    yield replace(block, heading=self._headings.path)
                start = line + 1

    def _line(self, line: int) -> str:
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self._text)
        return self._text[self._starts[line] : end]

    def _span(self, block: Block, first: int, last: int) -> Block | None:
        """``block`` over the lines from ``first`` up to ``last``, blank ends left out."""
        start = self._starts[first] if first < len(self._starts) else len(self._text)
        end = self._starts[last] if last < len(self._starts) else len(self._text)
        source = self._text[start:end]
        if not source.strip():
            return None
        lead = len(source) - len(source.lstrip())
        if block.kind is BlockKind.CODE:
            lead = line_starts(source[:lead])[-1]
        return replace(block, start=start + lead, end=start + len(source.rstrip()))


def plain_heading(source: str) -> str:
    """A heading without its inline markup: links are their text, entities their characters.

    A line of more than 2,000 characters keeps its markup: matching marks in it could take minutes.
    """
    text = " ".join(source.split())
    if len(text) > _LONGEST_HEADING:
        return text
    for pattern, kept in ((_LINK, r"\1"), (_CODE, r"\2"), (_EMPHASIS, r"\2"), (_TAG, "")):
        text = pattern.sub(kept, text)
    text = html.unescape(_ESCAPE.sub(r"\1", text))
    return " ".join(text.split()) or source.strip()
