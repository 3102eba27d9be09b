"""Values of one sentence that a claim gives to the wrong thing.

``45 in Germany and 60 abroad`` holds both 45 and 60; a claim of 60 in Germany holds no number that is
not there. The sentence is cut into the parts that its values stand in, and a claim that speaks of
another part's things while it gives this part's value has swapped them. Claims and sentences of more
than sixty values are tables rather than sentences and are left to the other rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evidencedesk.text.numbers import quantities
from evidencedesk.text.quantity import Kind, Quantities, Quantity, is_year
from evidencedesk.text.sentences import sentences
from evidencedesk.verification.content import content_words, coordinated_parts
from evidencedesk.verification.passages import Passage

_FEWEST_PARTS = 2
_MOST_PARTS = 8
_MOST_VALUES = 60
_FROM = re.compile(r"\b(?:from|von|desde|de)\s\Z", re.IGNORECASE)
_TO = re.compile(r"\b(?:to|auf|hasta|a|à)\s\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence in plain spelling, and the quantities in it that are surely some."""

    text: str
    values: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a sentence with the values in it and the words that it speaks of."""

    values: tuple[Quantity, ...]
    words: frozenset[str]


def swapped_value(claim: Quantities, support: Sequence[Passage], lang: str) -> str | None:
    """The value that ``claim`` takes from one part of its support for the things of another."""
    if len(claim.found) > _MOST_VALUES or all(one.weak for one in claim.found):
        return None
    turned = _turned_direction(claim, [one.sentence for one in support])
    if turned:
        return turned
    read = [sentence for one in support for sentence in _told_sentences(one)]
    if sum(len(sentence.values) for sentence in read) < _FEWEST_PARTS:
        return None
    told = [part for sentence in read for part in _parts(sentence, lang)]
    if not _FEWEST_PARTS <= len(told) <= _MOST_PARTS:
        return None
    for said in (part for sentence in _sentences(claim.text) for part in _parts(sentence, lang)):
        for value in said.values:
            if _is_swapped(value, said, told):
                return value.written
    return None


def _turned_direction(claim: Quantities, support: Sequence[str]) -> str | None:
    """A value that the claim goes from and the source goes to, both with the same other value."""
    said = _directions(claim)
    if not said:
        return None
    told = {pair for text in support for pair in _directions(quantities(text))}
    turned = next((pair for pair in said if pair not in told and pair[::-1] in told), None)
    return said[turned] if turned else None


def _directions(read: Quantities) -> dict[tuple[str, str], str]:
    """Pairs of keys (from, to) of the values of a text, with the value that it starts from."""
    if len(read.found) > _MOST_VALUES:
        return {}
    origins = [one for one in read.found if _FROM.search(read.text[: one.start][-8:])]
    goals = [one for one in read.found if _TO.search(read.text[: one.start][-8:])]
    return {
        (_key(one), _key(other)): one.written
        for one in origins
        for other in goals
        if _comparable(one, other)
    }


def _told_sentences(passage: Passage) -> list[_Sentence]:
    """The passage's sentences; where it is one, as it was read already."""
    text = passage.sentence
    if not passage.comma_decimal and passage.read.text == text and len(sentences(text)) == 1:
        return [_sentence(passage.read)]
    return _sentences(text)


def _sentences(text: str) -> list[_Sentence]:
    return [_sentence(quantities(text[slice(*span)])) for span in sentences(text)]


def _sentence(read: Quantities) -> _Sentence:
    return _Sentence(read.text, tuple(each for each in read.found if not each.weak))


def _parts(sentence: _Sentence, lang: str) -> list[_Part]:
    """Parts that hold values; what leads up to the first value is spoken of in all of them.

    The word right before the first value is not: it tells that value from the others (``began at``).
    """
    text, values = sentence.text, sentence.values
    if not values:
        return []
    leading = content_words(text[: values[0].start], lang)
    shared = frozenset(leading[:-1])
    parts: list[_Part] = []
    pending = ""
    for start, end in coordinated_parts(text):
        inside = tuple(one for one in values if start <= one.start < end)
        pending += " " + text[start:end]
        if inside:
            words = frozenset(content_words(pending, lang)) | _keys(inside) | shared
            parts.append(_Part(inside, words))
            pending = ""
    return parts


def _keys(values: Sequence[Quantity]) -> frozenset[str]:
    """Values as words: a year or an identifier tells one part from another as a word does."""
    return frozenset(f"={_key(value)}" for value in values)


def _key(value: Quantity) -> str:
    if value.kind is Kind.DATE:
        return str(sorted(str(date) for date in value.dates))
    if value.kind is Kind.TIME:
        return f"at {value.minutes}"
    if value.kind is Kind.IDENTIFIER or value.version:
        return (
            re.sub(r"[\W_]+", "", value.written.casefold()) if not value.version else value.written
        )
    return str(sorted(value.values))


def _is_swapped(value: Quantity, said: _Part, told: Sequence[_Part]) -> bool:
    holding = [part for part in told if f"={_key(value)}" in part.words]
    if len(holding) != 1:
        return False
    own = holding[0]
    return any(
        _speaks_of_other(said, own, other, value, rival)
        for other in told
        if other is not own
        for rival in other.values
        if _comparable(rival, value) and f"={_key(rival)}" not in said.words
    )


def _speaks_of_other(
    said: _Part, own: _Part, other: _Part, value: Quantity, rival: Quantity
) -> bool:
    mine = own.words - other.words - {f"={_key(value)}"}
    theirs = other.words - own.words - {f"={_key(rival)}"}
    if not theirs & said.words:
        return False
    return not mine & said.words or (theirs <= said.words and not mine <= said.words)


def _comparable(one: Quantity, other: Quantity) -> bool:
    if one.kind is not other.kind or _key(one) == _key(other):
        return False
    if one.kind is not Kind.NUMBER:
        return True
    if is_year(one) is not is_year(other):
        return False
    dimensions = {unit.dimension for unit in one.units}
    others = {unit.dimension for unit in other.units}
    return one.version == other.version and (dimensions == others or bool(dimensions & others))
