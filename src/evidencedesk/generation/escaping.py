"""Making untrusted text harmless inside a prompt."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_LINE_END = re.compile("\r\n?|[\u2028\u2029\u0085]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def escape(text: str) -> str:
    """``text`` as data: ``& < > "`` escaped; control, invisible and direction characters removed.

    Line ends become line feeds. Tags, variation selectors and other characters that no reader sees
    but a model does are among those removed (OWASP LLM01, prompt injection).
    """
    return _HIDDEN.sub("", _LINE_END.sub("\n", text)).translate(_ESCAPES)


def escape_line(text: str) -> str:
    """:func:`escape`, on one line: for attributes."""
    return " ".join(escape(text).split())
