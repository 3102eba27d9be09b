"""The noun phrases of a question, found by the small words around them. No parser, no model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from evidencedesk.generation.question_words import GRAMMARS, UNPARSED, Grammar


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN = re.compile(r"[^\W_]+(?:[-'’.,][^\W_]+)*|[\u0980-\u09ff\u0900-\u097f]+")
_INFINITIVE_AFTER = _words(
    """
    have has had need needs want able allowed possible permitted required how going like it take
    takes cost costs necessary
    """
)
_BE = _words("be been being")
_LIGHT = _words("get got need have")
_SUPPORT = _words("do does did can could may might must shall should will would")


@dataclass(frozen=True, slots=True)
class Word:
    """One word at its place in the text; ``low`` in lower case, ``capital`` when written large."""

    low: str
    start: int
    end: int
    capital: bool = False


class Role(Enum):
    """What a noun phrase is to its question."""

    SUBJECT = "subject"
    OBJECT = "object"
    TIED = "tied"
    ASKED = "asked"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase.

    Attributes:
        start: where it begins, its determiner included and its preposition not.
        end: where it ends.
        role: what it is to the question; ``ASKED`` is what is asked for (``how many days``).
        governor: the small word right before it; empty for none.
        governor_start: where that word begins.
        determined: whether it has a determiner.
    """

    start: int
    end: int
    role: Role
    governor: str
    governor_start: int
    determined: bool


def words_of(text: str) -> list[Word]:
    """The words of ``text`` in order."""
    return [
        Word(m[0].lower(), m.start(), m.end(), m[0][0].isupper()) for m in _TOKEN.finditer(text)
    ]


def grammar_of(*texts: str) -> Grammar:
    """The grammar whose small words fill most of the texts; English when they tell nothing."""
    said = [word.low for text in texts for word in words_of(text)]
    if said and not any(any(letter < "\u0370" for letter in word) for word in said):
        return UNPARSED
    counts = {name: sum(word in one.small for word in said) for name, one in GRAMMARS.items()}
    return GRAMMARS[max(counts, key=lambda name: (counts[name], name == "en"))]


def phrases(text: str, grammar: Grammar) -> list[Phrase]:
    """The noun phrases of ``text`` in order."""
    words = words_of(text)
    return [
        phrase
        for first, last in _runs(text, words, grammar)
        for phrase in _phrases_of(words, first, last, grammar)
    ]


def _runs(text: str, words: Sequence[Word], grammar: Grammar) -> Iterator[tuple[int, int]]:
    """Spans of neighbouring words that are none of the small ones, cut at punctuation."""
    first: int | None = None
    for index, word in enumerate(words):
        cut = index > 0 and bool(text[words[index - 1].end : word.start].strip(" -/&'’"))
        if first is not None and (cut or word.low in grammar.small):
            yield first, index
            first = None
        if first is None and word.low not in grammar.small:
            first = index
    if first is not None:
        yield first, len(words)


def _phrases_of(words: Sequence[Word], first: int, last: int, grammar: Grammar) -> list[Phrase]:
    opening = first
    while opening and words[opening - 1].low in grammar.determiners:
        opening -= 1
    governor = words[opening - 1] if opening else Word("", 0, 0)
    determined = opening < first
    if not determined and _verb_follows(words, opening, grammar):
        first += 1
        opening = first
    if first == last or (not determined and governor.low in _BE):
        return []
    if grammar.capital_nouns:
        last = max((at + 1 for at in range(first, last) if words[at].capital), default=last)
    role = _role(governor.low, grammar)
    if role is Role.SUBJECT and governor.low in _SUPPORT:
        return _subject_and_object(words, opening, first, last, governor)
    return [_phrase(words, opening, last, role, governor, determined=determined)]


def _role(governor: str, grammar: Grammar) -> Role:
    if governor in grammar.asking and governor not in {"who", "wer", "qui"}:
        return Role.ASKED
    if governor in grammar.prepositions:
        return Role.TIED
    return Role.SUBJECT if governor in grammar.auxiliaries else Role.OBJECT


def _verb_follows(words: Sequence[Word], opening: int, grammar: Grammar) -> bool:
    if not opening:
        return False
    governor = words[opening - 1].low
    if governor == "to":
        return opening > 1 and words[opening - 2].low in _INFINITIVE_AFTER
    return governor in grammar.subjects or governor in {"who", "wer", "qui", "not"}


def _subject_and_object(
    words: Sequence[Word], opening: int, first: int, last: int, governor: Word
) -> list[Phrase]:
    """``do employees book trains``: what stands before and behind a verb that nothing marks."""
    length = last - first
    if length == 1 or (last < len(words) and words[last].low in _BE | _LIGHT):
        return [_phrase(words, opening, last, Role.SUBJECT, governor, determined=opening < first)]
    behind = length > 3 or (length == 3 and words[last - 1].low.endswith("s"))
    verb = first + 1 if behind else last - 1
    subject = _phrase(words, opening, verb, Role.SUBJECT, governor, determined=opening < first)
    if not behind:
        return [subject]
    marked = words[verb]
    return [subject, _phrase(words, verb + 1, last, Role.OBJECT, marked, determined=False)]


def _phrase(
    words: Sequence[Word], first: int, last: int, role: Role, governor: Word, *, determined: bool
) -> Phrase:
    return Phrase(
        words[first].start, words[last - 1].end, role, governor.low, governor.start, determined
    )
