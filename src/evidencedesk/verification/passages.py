"""What a claim is checked against: its quotes, the sentences they stand in, what frames them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evidencedesk.model import Chunk, Span
from evidencedesk.text.numbers import quantities
from evidencedesk.text.numerals import plain_spelling
from evidencedesk.text.quantity import Quantities, Quantity
from evidencedesk.text.sentences import sentences


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMA_DECIMAL = _words(
    """
    de es fr it pt nl da sv nb no fi pl cs sk ru uk tr id ro hu el
    """
)


@dataclass(frozen=True)
class Passage:
    """One quote in its surroundings.

    Attributes:
        quote: the source's own slice.
        before: what stands before it in its first sentence.
        after: what stands behind it in its last sentence.
        framing: title, heading, context and text of the chunk; names may come from there.
        heading: the headings that it stands under.
        lang: language of the document.
    """

    quote: str
    before: str = ""
    after: str = ""
    framing: str = ""
    heading: str = ""
    lang: str = "und"

    @cached_property
    def sentence(self) -> str:
        """The sentences that the quote stands in, whole."""
        return self.before + self.quote + self.after

    @cached_property
    def comma_decimal(self) -> bool:
        """Whether a comma is a decimal mark in this language."""
        return self.lang.split("-", 1)[0].lower() in _COMMA_DECIMAL

    @cached_property
    def read(self) -> Quantities:
        """The sentences in plain spelling, with all their quantities."""
        parts = (plain_spelling(part) for part in (self.before, self.quote, self.after))
        return quantities("".join(parts), comma_decimal=self.comma_decimal)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Quantities of which the quote holds at least a part, with their signs and units."""
        found = self.read.found
        start = len(plain_spelling(self.before))
        end = start + len(plain_spelling(self.quote))
        return tuple(one for one in found if one.start < end and one.end > start)


def passage_of(chunk: Chunk, span: Span, sentence_spans: Sequence[Span] | None = None) -> Passage:
    """The passage around ``span``, a span of ``chunk.text``.

    Args:
        chunk: the cited chunk.
        span: where the quote stands in its text.
        sentence_spans: the sentences of its text where they are known already.
    """
    text = chunk.text
    start, end = span
    for sentence in sentences(text) if sentence_spans is None else sentence_spans:
        if sentence.start < span.end and sentence.end > span.start:
            start, end = min(start, sentence.start), max(end, sentence.end)
    heading = " ".join(chunk.location.heading)
    framing = " ".join((chunk.title, heading, chunk.context, text))
    return Passage(
        text[span.start : span.end],
        text[start : span.start],
        text[span.end : end],
        framing,
        heading,
        chunk.lang,
    )


def language_of(passages: Sequence[Passage]) -> str:
    """The language of the passages; English where it is not known."""
    return next((passage.lang for passage in passages if passage.lang != "und"), "en")
