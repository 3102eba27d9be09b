"""JSON Lines: one record for each line, its values beside their keys.

Canonical text has as many lines as the file. A record reads ``title: Fees | price.eur: 12``: keys of
inner objects joined by dots, items of lists by commas, white space inside values folded. A line that
is no JSON is kept as it stands, and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from evidencedesk.adapters.parsers.decoding import decode
from evidencedesk.model import Block, BlockKind, ParsedDocument

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_DEEPEST = 20


class JsonLinesParser:
    """Parser for JSON Lines (also called NDJSON)."""

    name = "jsonl"
    version = "2"
    media_types = ("application/jsonl",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse JSON Lines; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``unsupported`` when the bytes are no text.
        """
        decoded = decode(data, file_name)
        parts: list[str] = []
        blocks: list[Block] = []
        length = bad = 0
        for number, match in enumerate(_LINE.finditer(decoded.text), start=1):
            text = _shown(match.group(1))
            bad += text is None
            line = " ".join(match.group(1).split()) if text is None else text
            if line:
                end = length + len(line)
                blocks.append(Block(BlockKind.TABLE_ROW, length, end, group=1, row=number))
            parts.append(line + "\n" * bool(match.group(2)))
            length += len(parts[-1])
        broken = (f"{bad} lines are no JSON and are kept as they stand",) if bad else ()
        return ParsedDocument(
            text="".join(parts),
            blocks=tuple(blocks),
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            first_line=1,
            warnings=(*decoded.warnings, *broken),
            partial=bool(bad) or decoded.lossy,
        )


def _shown(line: str) -> str | None:
    """The record in one line, None when it is no JSON."""
    if not line.strip():
        return ""
    try:
        value = json.loads(line, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    shown = " | ".join(_pairs(value, "", _DEEPEST))
    return " ".join(shown.encode("utf-8", "replace").decode().replace("\0", "\ufffd").split())


def _pairs(value: object, key: str, depth: int) -> Iterator[str]:
    if isinstance(value, dict) and depth:
        for name, inner in value.items():
            yield from _pairs(inner, f"{key}.{name}" if key else str(name), depth - 1)
        return
    text = ", ".join(_items(value, depth))
    if text:
        yield f"{key}: {text}" if key else text


def _items(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, list) and depth:
        for item in value:
            yield from _items(item, depth - 1)
    elif isinstance(value, dict) and depth:
        yield "; ".join(_pairs(value, "", depth - 1))
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, str) and value.strip():
        yield value
    elif value not in (None, "", [], {}) and not isinstance(value, str):
        yield json.dumps(value, ensure_ascii=False)
