"""Text cut into pieces at the ends of marks, so that every character keeps its place.

What is shown is always the document's own canonical text: marks are laid over it and never change
it. So a quote is marked at exactly the code points where it was verified.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evidencedesk.model import BlockKind, Span

HIT = "hit"
SYNTAX = "syntax"
STRONG = "strong"
CODE = "code"

_HEADING = re.compile(r"\A[ ]{0,3}(#{1,6}[ \t]+)|([ \t]+#+[ \t]*)\Z|(\n[ ]{0,3}[=-]+[ \t]*)\Z")
_LIST_ITEM = re.compile(r"\A\s*((?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)")
_QUOTE = re.compile(r"^[ ]{0,3}((?:>[ ]?)+)", re.MULTILINE)
_FENCE = re.compile(r"\A\s*((?:`{3,}|~{3,})[^\n]*\n)|(\n[ ]{0,3}(?:`{3,}|~{3,})[ \t]*)\Z")
# Marks that nobody closes are looked for this far and no further: a file may hold a million of them.
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.{1,500}?)(?<=\S)\1", re.DOTALL)
_CODE = re.compile(r"(?<!`)(`++)(.{1,500}?)(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"!?(\[)([^\[\]\n]{1,500})(\]\([^()\s]{0,2000}(?:\s+\"[^\"\n]{0,500}\")?\))")


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of canonical text with what it is: ``hit``, ``syntax``, ``strong`` or ``code``."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Text with the same marks throughout.

    Attributes:
        text: the text, verbatim.
        hit: whether it is quoted.
        kinds: its other marks, joined by blanks; empty for none.
    """

    text: str
    hit: bool = False
    kinds: str = ""


def pieces(text: str, span: Span, marks: Iterable[Mark]) -> tuple[Piece, ...]:
    """``span`` of ``text`` cut at the ends of ``marks``; marks that do not touch it count for nothing."""
    steps: defaultdict[int, Counter[str]] = defaultdict(Counter, {span.start: Counter()})
    for mark in marks:
        start, end = max(mark.start, span.start), min(mark.end, span.end)
        if start < end:
            steps[start][mark.kind] += 1
            steps[end][mark.kind] -= 1
    found = []
    laid: Counter[str] = Counter()
    for start, end in pairwise(sorted({*steps, span.end})):
        laid.update(steps[start])
        kinds = {kind for kind, count in laid.items() if count}
        found.append(Piece(text[start:end], HIT in kinds, " ".join(sorted(kinds - {HIT}))))
    return tuple(found)


def markdown_marks(text: str, span: Span, kind: BlockKind) -> list[Mark]:
    """What in a block of Markdown is markup, and what the markup says of the words between."""
    block = text[span.start : span.end]
    found = [*_groups(block, span.start, _EDGES.get(kind, ()))]
    if kind not in {BlockKind.CODE, BlockKind.MARKUP}:
        found += _inline(block, span.start)
    return found


def cells(text: str, span: Span) -> tuple[Span, ...]:
    """The cells of a table row, without the bars between them and the blanks around them."""
    bounds, start = [], span.start
    for index in range(span.start, span.end):
        if text[index] == "|" and (index == span.start or text[index - 1] != "\\"):
            bounds.append(Span(start, index))
            start = index + 1
    bounds.append(Span(start, span.end))
    trimmed = [_trimmed(text, bound) for bound in bounds]
    if len(trimmed) > 1 and trimmed[0].start >= trimmed[0].end:
        trimmed = trimmed[1:]
    if len(trimmed) > 1 and trimmed[-1].start >= trimmed[-1].end:
        trimmed = trimmed[:-1]
    return tuple(trimmed)


_EDGES: dict[BlockKind, Sequence[re.Pattern[str]]] = {
    BlockKind.HEADING: (_HEADING,),
    BlockKind.LIST_ITEM: (_LIST_ITEM,),
    BlockKind.QUOTE: (_QUOTE,),
    BlockKind.CODE: (_FENCE,),
}


def _groups(block: str, offset: int, patterns: Sequence[re.Pattern[str]]) -> Iterator[Mark]:
    for pattern in patterns:
        for match in pattern.finditer(block):
            for number in range(1, pattern.groups + 1):
                if match.group(number):
                    yield Mark(offset + match.start(number), offset + match.end(number), SYNTAX)


def _inline(block: str, offset: int) -> Iterator[Mark]:
    for pattern, kind in ((_STRONG, STRONG), (_CODE, CODE)):
        for match in pattern.finditer(block):
            inner = match.span(2)
            yield Mark(offset + match.start(), offset + inner[0], SYNTAX)
            yield Mark(offset + inner[0], offset + inner[1], kind)
            yield Mark(offset + inner[1], offset + match.end(), SYNTAX)
    for match in _LINK.finditer(block):
        yield Mark(offset + match.start(), offset + match.end(1), SYNTAX)
        yield Mark(offset + match.start(3), offset + match.end(3), SYNTAX)


def _trimmed(text: str, span: Span) -> Span:
    part = text[span.start : span.end]
    start = span.start + len(part) - len(part.lstrip())
    return Span(start, max(start, span.start + len(part.rstrip())))
