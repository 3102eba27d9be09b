"""Text from documents, made safe for a terminal: it can neither colour it nor move its cursor."""

from __future__ import annotations

import json
import re
from typing import Any

_ESCAPE_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\n\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC and kin
    r"|\x1b[ -/]*[0-~]"  # the short ones
)
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSAFE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_UNSAFE_CHARACTERS = re.compile(f"[{_UNSAFE}]")
_UNSAFE_IN_JSON = re.compile(f"[{_UNSAFE}\u2028\u2029]")


def clean(text: str) -> str:
    """``text`` without escape sequences, control characters (line ends and tabs stay) and overrides of the writing direction."""
    text = _ESCAPE_SEQUENCES.sub("", text)
    return _UNSAFE_CHARACTERS.sub("", _LINE_ENDS.sub("\n", text))


def one_line(text: str) -> str:
    """``clean(text)`` with every run of white space as one blank."""
    return " ".join(clean(text).split())


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """``value`` as JSON in readable Unicode, with everything unsafe for a terminal escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNSAFE_IN_JSON.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
