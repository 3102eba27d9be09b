"""Markdown marks: what a second look for a quote passes over.

Only marks that carry no meaning of their own are passed over: emphasis, code ticks, link targets,
heading and quotation signs at a line's start, cell bars. Bullets that could be a sign (``-``, ``+``)
and signs between digits stay.
"""

from __future__ import annotations

import re

_HIDDEN = "\u200b"
_ANY_MARK = re.compile(r"[*_`~#>|\\\[<]|-{3}")
_MARKS = re.compile(
    r"""
    (?P<link>!?\[(?P<label>[^\[\]\n]*)\]\([^()\s]*(?:\s+["'][^"'\n]*["'])?\))
    | (?P<ticks>`+)
    | (?P<stars>\*+)
    | (?P<lines>_+)
    | (?P<struck>~~)
    | (?P<escape>\\(?=[!-/:-@\[-`{-~\n]))
    | (?P<rule>^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$)
    | (?P<heading>^[ \t]{0,3}\#{1,6}(?=[ \t]))
    | (?P<quotation>^[ \t]{0,3}>+(?=[ \t]+[^\W\d_]))
    | (?P<cell>\||<br[ \t]*/?>)
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)


def without_marks(text: str) -> str:
    """``text`` with marks replaced by invisible characters or spaces: same length, same offsets."""
    if not _ANY_MARK.search(text):
        return text
    return _MARKS.sub(_hide, text)


def _hide(match: re.Match[str]) -> str:
    kind, found = match.lastgroup, match[0]
    if match["link"] is not None:
        label = match["label"]
        opened = found.index("[") + 1
        return (
            _HIDDEN * opened + without_marks(label) + _HIDDEN * (len(found) - opened - len(label))
        )
    if kind in ("cell", "rule"):
        return " " * len(found)
    if kind in ("stars", "lines") and not _is_emphasis(match):
        return found
    return _HIDDEN * len(found)


def _is_emphasis(match: re.Match[str]) -> bool:
    text = match.string
    left, right = text[: match.start()][-1:], text[match.end() :][:1]
    if match["lines"] is not None:
        return not (left.isalnum() and right.isalnum()) and bool(left.strip() or right.strip())
    if left.isdigit() and right.isdigit():
        return False
    return bool(left.strip() or right.strip() or left in ("", "\n"))
