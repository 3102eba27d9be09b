"""Chunks that follow the document's own blocks, within a budget of tokens.

Under one heading, small neighbours are packed together up to the budget and big blocks are split:
first at sentences (code at lines), at words only where a sentence alone is too long, and inside a
word only where there is nothing else. A table row, a list item and a code block stay whole when
they fit. The header row of a table belongs to the text of the table's first chunk and travels with
the others as their context.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from evidencedesk.chunking.pieces import Piece
from evidencedesk.model import Block, BlockKind, Span
from evidencedesk.text.sentences import sentences
from evidencedesk.text.tokens import count_tokens

_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is packed: a block, or a part of one that is too big.

    ``leads`` is true for what makes no sense without the text behind it (a table's header row, a
    line that ends in a colon); ``trails`` for what makes none without the text before it.
    """

    start: int
    end: int
    tokens: int
    context: str = ""
    group: int = 0
    is_header: bool = False
    leads: bool = False
    trails: bool = False


@dataclass(slots=True)
class _Open:
    """The chunk being filled."""

    units: list[_Unit] = field(default_factory=list)
    tokens: int = 0

    def add(self, unit: _Unit) -> None:
        self.units.append(unit)
        self.tokens += unit.tokens

    @property
    def context(self) -> str:
        first = self.units[0]
        return "" if first.is_header else first.context

    def admits(self, unit: _Unit, max_tokens: int) -> bool:
        if unit.trails:
            return True
        if self.tokens + unit.tokens > max_tokens:
            return False
        return self.context == ("" if self._holds_header_of(unit) else unit.context)

    def _holds_header_of(self, unit: _Unit) -> bool:
        return any(held.is_header and held.group == unit.group for held in self.units)

    def piece(self) -> Piece:
        return Piece(self.units[0].start, self.units[-1].end, self.context)


def structure_pieces(
    text: str, blocks: Iterable[Block], *, max_tokens: int, overlap_sentences: int
) -> list[Piece]:
    """Pieces of the whole document; see the module.

    Args:
        text: canonical text.
        blocks: its blocks in order, headings among them.
        max_tokens: budget of a chunk in tokens of ``count_tokens``. One sentence alone may be half
            as long again before it is split at words; what precedes a chunk by overlap, a stray
            mark behind it and its context come on top.
        overlap_sentences: how many sentences a chunk repeats from the chunk before it under the
            same heading; table rows and what follows a table repeat none.
    """
    pieces: list[Piece] = []
    for section in _sections(blocks):
        units = (unit for block in section for unit in _units(text, block, max_tokens))
        packed = list(_pack(units, max_tokens))
        pieces += _overlapped(text, packed, overlap_sentences) if overlap_sentences else packed
    return pieces


def _sections(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    section: list[Block] = []
    for block in blocks:
        if not block.kind.in_chunks:
            if section:
                yield section
            section = []
        else:
            section.append(block)
    if section:
        yield section


def _pack(units: Iterable[_Unit], max_tokens: int) -> Iterator[Piece]:
    chunk = _Open()
    for unit in units:
        if chunk.units and not chunk.admits(unit, max_tokens):
            carried = _carried(chunk, unit, max_tokens)
            yield chunk.piece()
            chunk = carried
        chunk.add(unit)
    if chunk.units:
        yield chunk.piece()


def _carried(chunk: _Open, unit: _Unit, max_tokens: int) -> _Open:
    """The next chunk, to which what leads up to ``unit`` moves along if both fit together."""
    following = _Open()
    last = chunk.units[-1]
    if last.leads and len(chunk.units) > 1 and last.tokens + unit.tokens <= max_tokens:
        chunk.units.pop()
        following.add(last)
    return following


def _units(text: str, block: Block, max_tokens: int) -> Iterator[_Unit]:
    body = text[block.start : block.end]
    tokens = count_tokens(body)
    is_header = block.kind is BlockKind.TABLE_HEADER
    context = "" if is_header else block.context
    if tokens > max_tokens:
        for part, size in _split(body, block.kind, max_tokens):
            start, end = block.start + part.start, block.start + part.end
            yield _Unit(start, end, size, context, block.group, is_header)
        return
    yield _Unit(
        block.start,
        block.end,
        tokens,
        context,
        block.group,
        is_header,
        leads=is_header or body.endswith((":", "：")),
        trails=not any(map(str.isalnum, body)),
    )


def _split(body: str, kind: BlockKind, max_tokens: int) -> Iterator[tuple[Span, int]]:
    """The parts of a block with their tokens: its lines or sentences, or words of too long ones."""
    for part in _lines(body) if kind is BlockKind.CODE else sentences(body):
        size = count_tokens(body[part.start : part.end])
        if size <= max_tokens + max_tokens // 2:
            yield part, size
        else:
            yield from _split_at_words(body, part, max_tokens)


def _lines(body: str) -> list[Span]:
    return [Span(*line.span()) for line in _LINE.finditer(body) if not line[0].isspace()]


def _split_at_words(text: str, span: Span, max_tokens: int) -> Iterator[tuple[Span, int]]:
    start = end = span.start
    tokens = 0
    for word in _short_words(text, span, max_tokens):
        size = count_tokens(text[word.start : word.end])
        if tokens and tokens + size > max_tokens:
            yield Span(start, end), tokens
            tokens = 0
        if not tokens:
            start = word.start
        end = word.end
        tokens += size
    if tokens:
        yield Span(start, end), tokens


def _short_words(text: str, span: Span, max_tokens: int) -> Iterator[Span]:
    """The words of ``span``; one that is over the budget by itself is cut at ``max_tokens`` letters."""
    for word in _WORD.finditer(text, span.start, span.end):
        if count_tokens(word[0]) <= max_tokens:
            yield Span(*word.span())
        else:
            for start in range(word.start(), word.end(), max_tokens):
                yield Span(start, min(start + max_tokens, word.end()))


def _overlapped(text: str, pieces: list[Piece], overlap: int) -> list[Piece]:
    result = pieces[:1]
    for before, piece in pairwise(pieces):
        if before.context or piece.context:
            result.append(piece)
        else:
            repeated = sentences(text[before.start : before.end])[-overlap:]
            result.append(piece._replace(start=before.start + repeated[0].start))
    return result
