"""Finding a quote in its source: verbatim once both are folded, or not at all.

The passes, in order: as it stands; hyphens at line ends joined or kept; Markdown marks passed over;
an ellipsis as pieces of at least three words, in order, at most 300 characters apart. A mark of
punctuation that the quote adds at its end, and quotation marks around it, are not held against it.
Accents count, and so do look-alike letters of another script. Nothing fuzzy is ever accepted.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from evidencedesk.model import Span
from evidencedesk.text.folding import Folded, fold
from evidencedesk.text.sentences import sentences
from evidencedesk.verification.boundaries import UNSPACED, may_end, may_start
from evidencedesk.verification.hyphens import Jointed, joints_agree, take_out_hyphens
from evidencedesk.verification.markdown import without_marks

MAX_GAP = 300
"""Most characters of the source that one ellipsis may leave out."""

MIN_PIECE_WORDS = 3
"""Fewest words on each side of an ellipsis (two characters are a word where none are spaced)."""

MAX_PIECES = 8
"""Most pieces that a quote may have."""

_ELLIPSIS = re.compile(r"\s*(?:\[\s*\.{3}\s*\]|\(\s*\.{3}\s*\)|\.{3,}|\. \. \.)\s*")
_ADDED_AT_END = " .,;:।。،؛"
_QUOTATION = "\"'"
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """A quote that stands in its source.

    Attributes:
        quote: the source's own slice.
        span: where it stands in the source; the first occurrence.
        occurrences: every place where it stands, ``span`` first, in order.
    """

    quote: str
    span: Span
    occurrences: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class QuoteMiss:
    """A quote that does not stand in its source.

    Attributes:
        kind: ``absent``, ``altered`` (nearly there, with the difference in ``detail``),
            ``look_alike`` (letters of another script) or ``elsewhere`` (in another source shown).
        detail: what was compared, for a person.
    """

    kind: str
    detail: str


class Quotable:
    """A source text, folded at most once however many quotes are looked for in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> Folded:
        """The text folded."""
        return fold(self.text)

    @cached_property
    def sentences(self) -> list[Span]:
        """Spans of the text's sentences."""
        return sentences(self.text)

    @cached_property
    def jointed(self) -> Jointed:
        """The folded text without its hyphens."""
        return take_out_hyphens(self.folded)

    @cached_property
    def unmarked(self) -> Quotable | None:
        """The text without Markdown marks, at the same offsets; None when there are none."""
        plain = without_marks(self.text)
        return None if plain == self.text else Quotable(plain)


def find_quote(quote: str, source: str | Quotable) -> QuoteMatch | QuoteMiss:
    """Where ``quote`` stands in ``source``.

    Args:
        quote: the quote as the reply gives it.
        source: the text of the cited chunk, verbatim, or a :class:`Quotable` made of it.

    Returns:
        The match with the source's own slice and code-point spans into the source, or a miss of
        kind ``absent``; :func:`evidencedesk.verification.misses.explain_miss` says more about it.
    """
    quotable = source if isinstance(source, Quotable) else Quotable(source)
    if len(quote) > 8 * len(quotable.text) + 64:
        return QuoteMiss("absent", "the quote is longer than the source")
    spans = _contiguous(quote, quotable) or _elided(quote, quotable)
    if not spans:
        return QuoteMiss("absent", "the quote does not occur in the source")
    first = spans[0]
    return QuoteMatch(quotable.text[first.start : first.end], first, tuple(spans))


def _contiguous(quote: str, source: Quotable) -> list[Span]:
    """All spans where the quote stands in one piece, by the first pass that finds any."""
    for variant in _variants(fold(quote)):
        spans = list(_verbatim(variant.text, source.folded))
        if spans:
            return spans
    spans = _hyphenated(quote, source)
    if spans:
        return spans
    plain = without_marks(quote)
    if source.unmarked is None and plain == quote:
        return []
    return _contiguous_unmarked(plain, source.unmarked or source)


def _contiguous_unmarked(quote: str, source: Quotable) -> list[Span]:
    for variant in _variants(fold(quote)):
        spans = list(_verbatim(variant.text, source.folded))
        if spans:
            return spans
    return _hyphenated(quote, source)


def _verbatim(wanted: str, folded: Folded) -> Iterator[Span]:
    start = folded.text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if may_start(folded, start) and may_end(folded, end):
            yield Span(*folded.slice(start, end))
        start = folded.text.find(wanted, start + 1)


def _hyphenated(quote: str, source: Quotable) -> list[Span]:
    jointed = source.jointed
    for variant in _variants(fold(quote)):
        wanted = take_out_hyphens(variant)
        if jointed.has_line_ends or wanted.has_line_ends:
            spans = list(_over_joints(wanted, jointed))
            if spans:
                return spans
    return []


def _over_joints(wanted: Jointed, source: Jointed) -> Iterator[Span]:
    text = wanted.folded.text
    start = source.folded.text.find(text)
    while start >= 0:
        if joints_agree(source, start, wanted) and _stands_free(source, start, start + len(text)):
            yield Span(*source.folded.slice(start, start + len(text)))
        start = source.folded.text.find(text, start + 1)


def _stands_free(source: Jointed, start: int, end: int) -> bool:
    """Whether the match begins and ends where a quote may, seen in the text with its hyphens."""
    bare, whole = source.folded, source.whole
    first = bisect_left(whole.starts, bare.starts[start])
    past_last = bisect_left(whole.ends, bare.ends[end - 1] + 1)
    return (
        bare.text[start] == whole.text[first]
        and may_start(whole, first)
        and may_end(whole, past_last)
    )


def _variants(folded: Folded) -> Iterator[Folded]:
    """The quote as it stands, then without what a writer adds around it."""
    text = folded.text
    seen = set()
    bare = text.strip().rstrip(_ADDED_AT_END)
    for wanted in (text.strip(), bare, bare.strip(_QUOTATION).rstrip(_ADDED_AT_END)):
        if wanted and wanted not in seen:
            seen.add(wanted)
            start = text.index(wanted)
            end = start + len(wanted)
            yield Folded(folded.source, wanted, folded.starts[start:end], folded.ends[start:end])


def _elided(quote: str, source: Quotable) -> list[Span]:
    """Spans from the first to the last piece of a quote with an ellipsis."""
    pieces = [piece for piece in _pieces(quote) if piece.strip(_ADDED_AT_END + _QUOTATION)]
    if not 1 <= len(pieces) <= MAX_PIECES or (len(pieces) == 1 and pieces[0] == quote):
        return []
    if len(pieces) > 1 and any(_word_count(piece) < MIN_PIECE_WORDS for piece in pieces):
        return []
    chains = _contiguous(pieces[0], source)
    for piece in pieces[1:]:
        chains = _extended(chains, _contiguous(piece, source))
    return chains


def _pieces(quote: str) -> list[str]:
    """The quote's parts around its ellipses, cut from the quote as written."""
    folded = fold(quote)
    cuts = [(match.start(), match.end()) for match in _ELLIPSIS.finditer(folded.text)]
    edges = [0, *(edge for cut in cuts for edge in cut), len(folded.text)]
    return [
        quote[slice(*folded.slice(start, end))]
        for start, end in zip(edges[::2], edges[1::2], strict=True)
        if end > start
    ]


def _extended(chains: list[Span], following: list[Span]) -> list[Span]:
    """Chains that go on with one of ``following`` at most :data:`MAX_GAP` characters on."""
    longer = []
    ends = [chain.end for chain in chains]
    for span in following:
        before = bisect_right(ends, span.start) - 1
        if before >= 0 and span.start - ends[before] <= MAX_GAP:
            longer.append(Span(chains[before].start, span.end))
    return longer


def _word_count(text: str) -> int:
    unspaced = len(UNSPACED.findall(text))
    return unspaced // 2 + len(_WORD.findall(UNSPACED.sub(" ", text)))
