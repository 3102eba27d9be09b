"""What passes between us and the process that parses: length-prefixed frames, JSON and raw bytes.

A frame is two big-endian 32-bit lengths, a JSON header and a body of raw bytes. Nothing that
arrives is ever executed: the parsing process may have been taken over by the file it read.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

from evidencedesk.model import Block, BlockKind, FailedSource, PageBoxes, PageSpan, ParsedDocument
from evidencedesk.model.contents import Contents, Member

_LENGTHS = struct.Struct(">II")
PREFIX = _LENGTHS.size
_KINDS = {kind.value: kind for kind in BlockKind}
_PLAIN = ("media_type", "parser", "parser_version", "first_line", "title", "lang", "partial")

Header = dict[str, Any]


def pack(header: Header, body: bytes = b"") -> bytes:
    """One frame. What JSON does not know (an explicitly tagged YAML value) becomes its text."""
    head = json.dumps(header, ensure_ascii=False, separators=(",", ":"), default=str)
    encoded = head.encode("utf-8", "replace")
    return _LENGTHS.pack(len(encoded), len(body)) + encoded + body


def unpack(read: Callable[[int], bytes], *, limit: int) -> tuple[Header, bytes]:
    """One frame, read with ``read(n)``, which returns exactly ``n`` bytes.

    Raises:
        ValueError: the frame is larger than ``limit`` bytes, or its header is not a JSON object.
    """
    head_size, body_size = _LENGTHS.unpack(read(PREFIX))
    if head_size + body_size > limit:
        raise ValueError(f"a frame of {head_size + body_size} bytes")
    header = json.loads(read(head_size))
    if isinstance(header, dict):
        return header, read(body_size)
    raise ValueError("a header that is no object")


def encode_parsed(parsed: ParsedDocument) -> tuple[Header, bytes]:
    """Header and body of a parsed document: text and boxes travel as bytes, blocks as rows."""
    text = parsed.text.encode("utf-8", "replace")
    paths: dict[tuple[str, ...], int] = {}
    contexts: dict[str, int] = {}
    blocks = [
        [
            block.kind.value,
            block.start,
            block.end,
            paths.setdefault(block.heading, len(paths)),
            block.level,
            contexts.setdefault(block.context, len(contexts)),
            block.group,
            block.paragraph,
            block.row,
            block.element,
            block.sheet,
            block.slide,
        ]
        for block in parsed.blocks
    ]
    header: Header = {name: getattr(parsed, name) for name in _PLAIN}
    header |= {
        "text": len(text),
        "headings": list(paths),
        "contexts": list(contexts),
        "blocks": blocks,
        "pages": [[p.number, p.start, p.end, p.width, p.height, p.label] for p in parsed.pages],
        "boxes": [[box.page, box.start, len(box.data)] for box in parsed.page_boxes],
        "metadata": parsed.metadata,
        "warnings": parsed.warnings,
    }
    return header, b"".join([text, *(box.data for box in parsed.page_boxes)])


def decode_parsed(header: Header, body: bytes) -> ParsedDocument:
    """The document that :func:`encode_parsed` took apart.

    Raises:
        KeyError, TypeError, ValueError: the header is not one of ours.
    """
    headings = [tuple(path) for path in header["headings"]]
    contexts = header["contexts"]
    end = header["text"]
    boxes = []
    for page, start, size in header["boxes"]:
        boxes.append(PageBoxes(page, start, body[end : end + size]))
        end += size
    return ParsedDocument(
        text=body[: header["text"]].decode("utf-8"),
        blocks=tuple(
            Block(_KINDS[kind], start, stop, headings[path], level, contexts[context], *anchors)
            for kind, start, stop, path, level, context, *anchors in header["blocks"]
        ),
        pages=tuple(PageSpan(*page) for page in header["pages"]),
        page_boxes=tuple(boxes),
        metadata=dict(header["metadata"]),
        warnings=tuple(header["warnings"]),
        **{name: header[name] for name in _PLAIN},
    )


def encode_contents(contents: Contents) -> tuple[Header, bytes]:
    """Header and body of the files inside a file."""
    header: Header = {
        "members": [[member.name, len(member.data)] for member in contents.members],
        "refused": [[each.source, each.code, each.message] for each in contents.refused],
    }
    return header, b"".join(member.data for member in contents.members)


def decode_contents(header: Header, body: bytes) -> Contents:
    """The contents that :func:`encode_contents` took apart.

    Raises:
        KeyError, TypeError, ValueError: the header is not one of ours.
    """
    members, end = [], 0
    for name, size in header["members"]:
        members.append(Member(str(name), body[end : end + size]))
        end += size
    return Contents(tuple(members), tuple(FailedSource(*each) for each in header["refused"]))
