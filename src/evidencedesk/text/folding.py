"""Folding: the one form in which a quote and its source are compared, with the way back.

Both sides are folded character by character, a base with its combining marks together: NFKC and
case folding (Unicode Standard Annex 15; The Unicode Standard, 3.13), any run of white space to one
space, typographic quotes and dashes to their plain forms, invisible characters dropped. A map leads
from every folded character back to the cluster of the source that it came from, so that what was
found in folded text can be shown as the source's own words.

Two choices go beyond NFKC, because without them a different number would compare equal: a raised
digit that follows a digit is a power (``10⁴`` folds to ``10^4``, never to ``104``), and a fraction
that follows a digit keeps its distance (``1½`` folds to ``1 1/2``, never to ``11/2``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_QUOTES = {
    **dict.fromkeys("‘’‚‛′‵ʼʻ´‹›＇", "'"),
    **dict.fromkeys("“”„‟″‶«»〝〞〟＂", '"'),
}
_DASHES = dict.fromkeys("‐‑‒–—―−﹘﹣－⁃⸺⸻֊־⁻₋", "-")
_PLAIN = {**_QUOTES, **_DASHES, "⁄": "/", "∕": "/"}
_VISIBLE_FORMATS = frozenset("؀؁؂؃؄؅۝܏࢐࢑࣢")
_SELECTORS = frozenset("\u034f\u115f\u1160\u3164\uffa0\u180b\u180c\u180d\u180f")
_RAISED = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
_IRREGULAR_SPACE = re.compile(r"\s\s|[^\S ]")
_IRREGULAR_RUN = re.compile(r" \s+|[^\S ]\s*")
_ASCII_RUN = re.compile(r"[!-~](?: ?[!-~])*(?=[\x00-\u02ff]|\Z)")
_SPACES = re.compile(r"\s+")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text with its way back.

    Attributes:
        source: the text as it was.
        text: its folded form.
        starts: for each folded character, where its cluster starts in ``source``.
        ends: for each folded character, one past the end of its cluster in ``source``.
    """

    source: str
    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def slice(self, start: int, end: int) -> tuple[int, int]:
        """The span of ``source`` that folded characters ``[start, end)`` came from."""
        return self.starts[start], self.ends[end - 1]


def fold(source: str) -> Folded:
    """``source`` folded, with the map back.

    White space at either end folds to one space like any other; callers that compare a quote strip
    its folded text. Linear in the length of the text.
    """
    if source.isascii() and not _CONTROL.search(source):
        return _fold_ascii(source)
    return _fold_clusters(source)


def fold_text(source: str) -> str:
    """The folded text alone, for comparing without a way back."""
    if source.isascii() and not _CONTROL.search(source):
        regular = _SPACES.sub(" ", source) if _IRREGULAR_SPACE.search(source) else source
        return regular.lower()
    return fold(source).text


def is_mark(character: str) -> bool:
    """Whether ``character`` is a combining mark, which belongs to the base before it."""
    return character > "\u02ff" and unicodedata.category(character)[0] == "M"


def is_word_character(character: str) -> bool:
    """Whether ``character`` is part of a word: a letter, digit, combining mark or underscore."""
    return character.isalnum() or character == "_" or is_mark(character)


def _fold_ascii(source: str) -> Folded:
    if not _IRREGULAR_SPACE.search(source):
        count = len(source)
        return Folded(source, source.lower(), range(count), range(1, count + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for match in _IRREGULAR_RUN.finditer(source):
        start, end = match.span()
        pieces += (source[position:start], " ")
        starts += range(position, start + 1)
        ends += range(position + 1, start + 1)
        ends.append(end)
        position = end
    pieces.append(source[position:])
    starts += range(position, len(source))
    ends += range(position + 1, len(source) + 1)
    return Folded(source, "".join(pieces).lower(), starts, ends)


def _fold_clusters(source: str) -> Folded:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position, length, previous = 0, len(source), ""
    while position < length:
        start = position
        run = _ASCII_RUN.match(source, start)
        if run:
            position = run.end()
            form = run[0].lower()
            starts.extend(range(start, position))
            ends.extend(range(start + 1, position + 1))
        else:
            position = _cluster_end(source, start)
            form = _placed(source[start:position], previous)
            if form == " " and previous == " ":
                ends[-1] = position
                continue
            starts.extend([start] * len(form))
            ends.extend([position] * len(form))
        pieces.append(form)
        previous = form[-1:] or previous
    return Folded(source, "".join(pieces), starts, ends)


def _cluster_end(source: str, start: int) -> int:
    """Where the base character at ``start`` ends, its marks (or conjoining jamo) included."""
    position = start + 1
    while position < len(source) and _extends(source, position, start):
        position += 1
    return position


def _placed(cluster: str, previous: str) -> str:
    """The folded form of ``cluster`` after the folded character ``previous``."""
    form = _form(cluster)
    if form and previous.isdigit():
        return _after_digit(cluster, form)
    return form


def _extends(source: str, position: int, start: int) -> bool:
    character = source[position]
    if character < "\u0300":
        return False
    if is_mark(character):
        return not source[start].isspace()
    if "\u1160" <= character <= "\u11ff":
        return "\u1100" <= source[start] <= "\u11ff"
    return False


@lru_cache(maxsize=8192)
def _form(cluster: str) -> str:
    """The folded form of one cluster; empty for what cannot be seen, one space for white space."""
    if len(cluster) > 1:
        cluster = "".join(part for part in cluster if not _is_invisible(part))
    if not cluster or _is_invisible(cluster):
        return ""
    plain = "".join(_PLAIN.get(part, part) for part in cluster)
    if plain.isspace():
        return " "
    folded = unicodedata.normalize("NFKC", plain).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    return "".join(_PLAIN.get(part, part) for part in folded)


def _is_invisible(character: str) -> bool:
    if len(character) != 1 or character.isspace():
        return False
    if character in _SELECTORS or "\ufe00" <= character <= "\ufe0f":
        return True
    if "\U000e0000" <= character <= "\U000e0fff":
        return True
    category = unicodedata.category(character)
    return category == "Cc" or (category == "Cf" and character not in _VISIBLE_FORMATS)


def _after_digit(cluster: str, form: str) -> str:
    if cluster in _RAISED:
        return "^" + form
    if len(form) > 1 and "/" in form and len(cluster) == 1:
        return " " + form
    return form
