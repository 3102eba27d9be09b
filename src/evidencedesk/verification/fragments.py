"""Fragments that are no statement: a lone word or code that belongs to something that was not asked.

``30 days`` answers a question; ``HACKED``, or a code that a document wants to see in every answer, does
not, though it may stand in a quote. A fragment is let through when the sentence that it comes from, or
its heading, speaks of what the claim or the question speaks of. Where claim, question and source share
no word at all (another language, other words for everything), this rule cannot tell and says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evidencedesk.text.quantity import Kind, Quantities, Quantity
from evidencedesk.text.sentences import sentences
from evidencedesk.verification.content import content_words, count_content_words
from evidencedesk.verification.passages import Passage

MOST_WORDS = 3
"""Content words of the longest fragment."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ANSWERS = _words(
    """
    yes no yeah nope none never always correct true false possible impossible allowed forbidden
    ja nein doch oui non si sí no não sim nee да нет हाँ हां नहीं হ্যাঁ না نعم لا 是 不 否
    """
)
_WORD = re.compile(r"\w+")
_TURN = re.compile(r"\n(?=[^\W\d]+: )")


def stray_fragment(
    quantities: Quantities, passages: Sequence[Passage], question: str, lang: str
) -> str | None:
    """The first fragment of a claim that its passages do not say of the matter; None for none.

    Args:
        quantities: the claim's text in plain spelling, with its quantities.
        passages: what it is checked against.
        question: what was asked; empty when it is not known, and then nothing is said.
        lang: language to stem by.
    """
    if not question:
        return None
    found = list(_fragments(quantities, passages, lang))
    if not found:
        return None
    asked = _stems(question, lang)
    framed = any(not asked.isdisjoint(_stems(one.framing, lang)) for one in passages)
    for written, holders, matter in found:
        about = matter or asked
        if holders:
            if framed and all(about.isdisjoint(_stems(holder, lang)) for holder in holders):
                return written
        elif framed and not any(word in asked for word in _stems(written, lang)):
            return written
    return None


def _stems(text: str, lang: str) -> frozenset[str]:
    return frozenset(content_words(text, lang))


_Fragment = tuple[str, list[str], frozenset[str]]


def _fragments(
    quantities: Quantities, passages: Sequence[Passage], lang: str
) -> Iterator[_Fragment]:
    """Each fragment, the sentences that hold it, and what stands beside it in the claim."""
    text = quantities.text
    for span in sentences(text):
        inside = [one for one in quantities.found if span.start <= one.start < span.end]
        codes = [one for one in inside if one.kind is Kind.IDENTIFIER]
        bare = _without(text[span.start : span.end], codes, span.start)
        if inside and not codes:
            continue
        if not codes and count_content_words(bare) > MOST_WORDS:
            continue
        rest = content_words(bare, lang)
        for code in codes:
            yield code.written, _holding(code.written, passages), frozenset(rest)
        if not inside and 0 < len(rest) <= MOST_WORDS:
            written = text[span.start : span.end].strip()
            if _ANSWERS.isdisjoint(_WORD.findall(written.lower())):
                yield written, _holding_any(rest, passages, lang), frozenset()


def _without(sentence: str, codes: Sequence[Quantity], start: int) -> str:
    for code in reversed(codes):
        sentence = sentence[: code.start - start] + " " + sentence[code.end - start :]
    return sentence


def _holding(written: str, passages: Sequence[Passage]) -> list[str]:
    wanted = written.casefold()
    return [told for told in _sentences(passages) if wanted in told.casefold()]


def _holding_any(words: Sequence[str], passages: Sequence[Passage], lang: str) -> list[str]:
    return [told for told in _sentences(passages) if not _stems(told, lang).isdisjoint(words)]


def _sentences(passages: Sequence[Passage]) -> list[str]:
    """The passages' sentences, and turns of a dialogue, each with the headings it stands under."""
    return [
        f"{turn} {one.heading}"
        for one in passages
        for span in sentences(one.sentence)
        for turn in _TURN.split(one.sentence[span.start : span.end])
    ]
