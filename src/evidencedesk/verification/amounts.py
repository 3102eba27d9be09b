"""Whether the quantities of a claim are there: compared as values, whatever the notation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property

from evidencedesk.model import Answer
from evidencedesk.text.dates import dates_agree
from evidencedesk.text.numbers import quantities
from evidencedesk.text.numerals import NUMERAL, plain_spelling
from evidencedesk.text.quantity import Kind, Quantities, Quantity
from evidencedesk.text.unit_reading import WORD
from evidencedesk.text.units import (
    CURRENCY_SIGNS,
    UNIT_SYMBOLS,
    UNITS,
    dimensions_agree,
    units_named,
)
from evidencedesk.verification.bounds import bound_holds
from evidencedesk.verification.passages import Passage

_DAY = Fraction(86400)
_LONG_NUMBER = 6
_PERIOD = re.compile(r"(?P<kind>[QqHh])(?P<number>[1-4])")
_ORDINAL_NAMES = ("first|1st", "second|2nd", "third|3rd", "fourth|4th")
_LOSS = re.compile(
    r"\b(?:loss|losses|deficit|negative|minus|below zero|fell|fall|falls|declin\w+|decreas\w+|dropp?\w*"
    r"|reduc\w+|lower\w*|shrank|verlust\w*|sank|gesunken|rückgang\w*|pérdida\w*|perte\w*)\b",
    re.IGNORECASE,
)
_SQUEEZED = re.compile(r"[\s\-/_]+")
_UNIT_TOKEN = re.compile(rf"{WORD}|[%‰€£¥$₹৳₩₽₺]")
_RATE_IN_WORDS = (
    r"\b(?:(?:per|pro|por|par|each|every|an?|je|jede[nrs]?|cada|chaque)\s+(?P<word>[^\W\d_]+)"
    r"|(?P<adverb>hourly|daily|weekly|monthly|quarterly|yearly|annual(?:ly)?|täglich|wöchentlich"
    r"|monatlich|jährlich|diario|mensual|anual|mensuel|annuel)\b)"
)
_RATE = re.compile(
    rf"{_RATE_IN_WORDS}|(?<=[^\W\d_])\s?/\s?(?P<slash>[^\W\d_]+)"
    r"|(?P<han>每(?:小时|天|日|周|月|年|分钟|秒))",
    re.IGNORECASE,
)
_SPOKEN_RATE = re.compile(_RATE_IN_WORDS, re.IGNORECASE)
_ADVERBS = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
    "yearly": "year", "annual": "year", "annually": "year", "täglich": "day",
    "wöchentlich": "week", "monatlich": "month", "jährlich": "year", "diario": "day",
    "mensual": "month", "anual": "year", "mensuel": "month", "annuel": "year",
}  # fmt: skip
_RATE_DIMENSIONS = frozenset({"time", "month"})
_LETTERS = re.compile(r"[^\W\d_]+")
_RATE_WORDS = frozenset(
    {
        "per",
        *_ADVERBS,
        *(
            name.casefold()
            for name in (*UNITS, *UNIT_SYMBOLS)
            if any(unit.dimension in _RATE_DIMENSIONS for unit in units_named(name))
        ),
    }
)
"""Without one of these, a slash or the Han word for *each*, a text tells no rate."""


class Present:
    """The quantities that passages hold, and the words that frame them."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages

    @cached_property
    def found(self) -> tuple[Quantity, ...]:
        """The quantities, passage by passage."""
        return tuple(one for passage in self.passages for one in passage.quantities)

    @cached_property
    def text(self) -> str:
        """Quotes and their sentences in plain spelling."""
        return " ".join(plain_spelling(passage.sentence) for passage in self.passages)

    @cached_property
    def framing(self) -> str:
        """Title, heading, context and text of the cited chunks in plain spelling."""
        return " ".join(plain_spelling(passage.framing) for passage in self.passages)

    @cached_property
    def squeezed(self) -> str:
        """Quotes without spaces and hyphens, folded, to find an identifier however it is spaced."""
        joined = " ".join(passage.quote for passage in self.passages)
        return _SQUEEZED.sub("", plain_spelling(joined)).casefold()

    @cached_property
    def years(self) -> frozenset[int]:
        """Years told anywhere in the sentences or in what frames them."""
        return frozenset(
            int(year) for year in re.findall(r"(?<!\d)[12]\d{3}(?!\d)", self.framing + self.text)
        )

    @cached_property
    def dimensions(self) -> frozenset[str]:
        """Dimensions of all units named in the sentences or in what frames them."""
        words = _UNIT_TOKEN.findall(f"{self.text} {self.framing}")
        return frozenset(unit.dimension for word in set(words) for unit in units_named(word))

    @cached_property
    def tells_loss(self) -> bool:
        """Whether words say what a minus sign says."""
        return _LOSS.search(self.text) is not None


def missing_amounts(claim: Quantities, present: Present) -> list[str]:
    """Quantities of ``claim``, as written, that no quote holds; else rates that contradict.

    A word that often is no number (``one``, ``first``) counts only with a unit behind it. A bound
    (``more than 1,000``) counts as there when a value that satisfies it is.
    """
    counted = [one for one in claim.found if not one.weak]
    if not counted:
        return _contradicting_rates(claim.text, present)
    signless = present.tells_loss or _LOSS.search(claim.text) is not None
    missing = [
        one.written
        for one in counted
        if not _is_there(one, present, signless=signless)
        and not bound_holds(claim.text, one, present.found, present.text)
    ]
    return missing or _contradicting_rates(claim.text, present)


def numbers_unsupported(answer: Answer) -> tuple[str, ...]:
    """Numbers, dates, amounts and units of the answer's claims that none of their quotes holds.

    Args:
        answer: a finished answer; an abstention claims nothing.

    Returns:
        The quantities as written, claim by claim in order; empty when all are there.
    """
    missing: list[str] = []
    for claim in answer.claims:
        quotes = [Passage(answer.citations[index].quote) for index in claim.citations]
        missing.extend(missing_amounts(quantities(claim.text), Present(quotes)))
    return tuple(missing)


def _is_there(claimed: Quantity, present: Present, *, signless: bool) -> bool:
    if claimed.kind is Kind.IDENTIFIER and not claimed.version:
        is_there = _identifier_is_there(claimed.written, present)
        return is_there or _period_is_there(claimed.written, present)
    if any(_bears_out(claimed, one, present, signless=signless) for one in present.found):
        return True
    is_long = len(claimed.written) >= _LONG_NUMBER and claimed.written.isdigit()
    return is_long and _identifier_is_there(claimed.written, present)


def _identifier_is_there(written: str, present: Present) -> bool:
    wanted = _SQUEEZED.sub("", written).casefold()
    start = present.squeezed.find(wanted)
    while start >= 0:
        before = present.squeezed[start - 1 : start] if start else ""
        after = present.squeezed[start + len(wanted) :]
        cut = (wanted[-1].isdigit() and re.match(r"\d|[.,]\d", after)) or (
            wanted[0].isdigit() and before.isdigit()
        )
        if not cut:
            return True
        start = present.squeezed.find(wanted, start + 1)
    return False


def _period_is_there(written: str, present: Present) -> bool:
    """``Q3`` where the source says third quarter, ``H1`` where it says first half; and back."""
    match = _PERIOD.fullmatch(written)
    if match is None:
        return False
    name = "quarter" if match["kind"] in "Qq" else "half"
    ordinals = _ORDINAL_NAMES[int(match["number"]) - 1]
    return re.search(rf"\b(?:{ordinals})[ -]{name}", present.text, re.IGNORECASE) is not None


def _bears_out(claimed: Quantity, one: Quantity, present: Present, *, signless: bool) -> bool:
    if claimed.version or one.version:
        return claimed.kind is not Kind.DATE and _digits(claimed) == _digits(one) != ""
    if Kind.DATE in {claimed.kind, one.kind}:
        return _dates_agree(claimed, one, present)
    if Kind.TIME in {claimed.kind, one.kind}:
        return not _clock_minutes(claimed).isdisjoint(_clock_minutes(one))
    if one.kind is Kind.IDENTIFIER:
        return False
    if claimed.kind is Kind.ORDINAL:
        return not one.units and bool(claimed.values & one.values)
    return not _is_pronoun(one) and _values_agree(claimed, one, present, signless=signless)


def _is_pronoun(one: Quantity) -> bool:
    """Whether a number word counts nothing, as in ``without one``."""
    return one.weak and not one.units and not one.noun


def _dates_agree(claimed: Quantity, one: Quantity, present: Present) -> bool:
    if claimed.kind is not Kind.DATE:
        return _is_part_of_date(claimed, one)
    return any(
        dates_agree(wanted, told, present.years) for wanted in claimed.dates for told in one.dates
    )


def _digits(quantity: Quantity) -> str:
    match = NUMERAL.search(quantity.written)
    return match[0] if match else ""


def _clock_minutes(quantity: Quantity) -> frozenset[int | None]:
    """Minutes after midnight that a time, or a bare number taken for an hour, may mean."""
    if quantity.kind is Kind.TIME:
        return frozenset({quantity.minutes})
    if quantity.kind is not Kind.NUMBER or quantity.units:
        return frozenset()
    return frozenset(int(value * 60) for value in quantity.values if 0 <= value <= 24)


def _is_part_of_date(claimed: Quantity, date: Quantity) -> bool:
    if claimed.kind is Kind.ORDINAL:
        return any(Fraction(told.day or 0) in claimed.values for told in date.dates)
    if claimed.units:
        return False
    return any(
        told.year is not None and Fraction(told.year) in claimed.values for told in date.dates
    )


def _values_agree(claimed: Quantity, one: Quantity, present: Present, *, signless: bool) -> bool:
    if claimed.units and one.units:
        return _measures_agree(claimed, one, signless=signless)
    if not _same_values(claimed.values, one.values, signless=signless):
        return _is_share(claimed, one)
    if claimed.units:
        return _unit_may_be_left_out(claimed, one, present)
    return not any(unit.dimension == "ratio" and unit.factor != 1 for unit in one.units)


def _measures_agree(claimed: Quantity, one: Quantity, *, signless: bool) -> bool:
    for dimension, value in claimed.measures:
        for told, told_value in one.measures:
            if told == "working day" and dimension == "time" and value == told_value * _DAY:
                return True
            if dimensions_agree(dimension, told) and (
                _same_values({value}, {told_value}, signless=signless)
                or ("degree" in {dimension, told} and bool(claimed.values & one.values))
            ):
                return True
    return False


def _same_values(one: Iterable[Fraction], other: Iterable[Fraction], *, signless: bool) -> bool:
    if signless:
        return not {abs(value) for value in one}.isdisjoint(abs(value) for value in other)
    return not set(one).isdisjoint(other)


def _is_share(claimed: Quantity, one: Quantity) -> bool:
    """A percentage beside the same share as a bare decimal: 38 % and 0.38."""
    shares = {
        value for dimension, value in (*claimed.measures, *one.measures) if dimension == "ratio"
    }
    bare = claimed.values if not claimed.units else one.values
    return bool(shares & bare)


def _unit_may_be_left_out(claimed: Quantity, one: Quantity, present: Present) -> bool:
    """A bare number may have the claimed unit when the unit is told elsewhere, or no noun denies it.

    A table says the unit in its header; a language whose nouns are not known says it anyhow.
    """
    if any(
        dimensions_agree(unit.dimension, told)
        for unit in claimed.units
        for told in present.dimensions
    ):
        return True
    return not one.noun or not one.noun.isascii()


def _contradicting_rates(claim: str, present: Present) -> list[str]:
    """Rates of the claim (``per second``) where the quotes tell other ones only."""
    claimed = _rates(claim)
    told = _rates(present.text) if claimed else claimed
    if not told or claimed & told:
        return []
    words = f"{present.text} {present.framing}".casefold()
    return sorted(f"per {name}" for name in claimed if name.casefold() not in words)


def _rates(text: str) -> frozenset[str]:
    """What amounts are per: canonical names of times, other words as they stand."""
    if "/" in text or "每" in text:
        pattern = _RATE
    elif _RATE_WORDS.isdisjoint(_LETTERS.findall(text.casefold())):
        return frozenset()
    else:
        pattern = _SPOKEN_RATE
    return frozenset(name for match in pattern.finditer(text) if (name := _rate(match, text)))


def _rate(match: re.Match[str], text: str) -> str:
    told = match.groupdict()
    if told["adverb"]:
        return _ADVERBS[told["adverb"].casefold()]
    if told.get("han"):
        return _canonical(told["han"][1:])
    word = told["word"] or told["slash"]
    if word.casefold() in {"calendar", "working", "business"}:
        following = re.match(r"\s+([^\W\d_]+)", text[match.end() :])
        word = following[1] if following else word
    canonical = _canonical(word)
    if canonical:
        return canonical
    is_per = match[0].casefold().startswith("per ") and word.casefold() not in {
        "cent",
        "person",
        "annum",
    }
    return "" if not is_per or word in CURRENCY_SIGNS else word.casefold().removesuffix("s")


def _canonical(word: str) -> str:
    for unit in units_named(word):
        if unit.dimension in _RATE_DIMENSIONS:
            return _TIME_NAMES.get((unit.dimension, unit.factor), "")
    return ""


_TIME_NAMES = {
    (unit.dimension, unit.factor): name
    for name in ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
    for unit in units_named(name)
    if unit.dimension in _RATE_DIMENSIONS
}
