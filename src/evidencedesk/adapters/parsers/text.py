"""Plain text: paragraphs are what blank lines part."""

from __future__ import annotations

import re

from evidencedesk.adapters.parsers.decoding import decode
from evidencedesk.model import Block, BlockKind, ParsedDocument
from evidencedesk.text.front_matter import split_front_matter

_PARAGRAPH = re.compile(r"[^\S\r\n]*\S[^\r\n]*(?:(?:\r\n|\n|\r)[^\S\r\n]*\S[^\r\n]*)*")


class TextParser:
    """Parser for plain text. Nothing in it is a heading; front matter is read as in Markdown."""

    name = "text"
    version = "2"
    media_types = ("text/plain",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse plain text; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            MetadataError: front matter is wrong.
            ParseError: ``unsupported`` when the bytes are no text.
        """
        decoded = decode(data, file_name)
        front = split_front_matter(decoded.text, file_name)
        text = decoded.text[front.start :]
        return ParsedDocument(
            text=text,
            blocks=tuple(_paragraph(match) for match in _PARAGRAPH.finditer(text)),
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            first_line=front.first_line,
            metadata=front.metadata,
            warnings=decoded.warnings,
            partial=decoded.lossy,
        )


def _paragraph(match: re.Match[str]) -> Block:
    text = match.group()
    lead = len(text) - len(text.lstrip())
    return Block(BlockKind.PARAGRAPH, match.start() + lead, match.start() + len(text.rstrip()))
