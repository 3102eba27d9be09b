"""What stands around a number: sign, currency, magnitude, unit, and the name of a version.

All functions take a text in plain spelling (:func:`evidencedesk.text.numerals.plain_spelling`) and
a position in it.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from evidencedesk.text.number_words import MAGNITUDES, word_value
from evidencedesk.text.units import (
    CURRENCY_SIGNS,
    UNSPACED_UNITS,
    WORKING,
    WORKING_DAY,
    Unit,
    units_named,
)

WORD = r"[^\s\d\x00-\x2f:-@\[-`{-~।॥、。，！？；：（）「」『』…·“”„«»×€£¥￥₹৳₩₽₺₫₪₴฿₿¢‰°\u2e80-\u9fff]+"
"""A word of a script with spaces, its combining marks included."""

HAN_CLASSIFIERS = "个個名人次项項条條家位件张張份种種辆"
"""Counting words that stand between a Han numeral and what it counts."""

_SIGNS = "€£¥￥$₹৳₩₽₺₫₪₴฿₿¢"
_NEXT = re.compile(rf"[ -]?\)?(?:\s?\(\d+\))?[ -]?[\"“„«']?(?P<word>{WORD}|°[CF]\b|[%‰°{_SIGNS}])")
_MAGNITUDE = re.compile(rf"[ -]?({WORD}|[万萬亿億千])")
_CURRENCY = re.compile(
    rf"(?P<sign>(?<![A-Za-z])(?:US|CA|AU|NZ|HK|[ACSR])?\$|[{_SIGNS}]"
    r"|(?<![A-Za-z])(?:[A-Z]{3}|Rs\.?|Tk\.?))\s?\(?(?P<minus>-)?\s?\Z"
)
_MINUS = re.compile(
    r"(?:(?<![\w)%])-|(?<!\w)(?:minus|negative|moins|menos|meno) )\Z", re.IGNORECASE
)
_DIGIT_HYPHEN = re.compile(r"\d\s?-\Z")
_BELOW_ZERO = re.compile(r"\s?(?:below (?:zero|freezing)|unter null|bajo cero)", re.IGNORECASE)
_PERCENT = re.compile(
    r"(?P<points>percentage points?|prozentpunkte?n?)"
    r"|per cent|por ciento|por cento|pour cent|per cento|في المئة|في المائة",
    re.IGNORECASE,
)
_DEGREES = re.compile(
    r"(?:degrees?|grad|grados|°) ?(?P<scale>[CF])(?:elsius|ahrenheit)?(?!\w)", re.IGNORECASE
)
_WORD_BEFORE = re.compile(rf"(?P<word>{WORD})[. ]? ?\Z")
_DURATIONS = frozenset({"time", "month", "working day"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOPS = _words(
    "of in per to and or for from at a an the with is are was were by on as than that which if when"
    " until after before within not no but und oder von zu für im am der die das pro de en por para"
    " con y o et ou à par pour"
)
_VERSIONED = _words(
    "version versions v ver rev revision build release releases section sections clause clauses"
    " article articles chapter figure table appendix paragraph step item annex rule regulation part"
    " python java node php ruby go abschnitt kapitel artikel ziffer sección capítulo artículo"
)


class UnitFound(NamedTuple):
    """The unit behind a number: what it may be, where it ends, the noun there when it is none."""

    units: tuple[Unit, ...]
    end: int
    noun: str


class CurrencyFound(NamedTuple):
    """The currency before a number, where it starts, and whether a minus follows it."""

    unit: Unit
    start: int
    minus: bool


def currency_before(text: str, position: int) -> CurrencyFound | None:
    """The currency sign, code or abbreviation right before ``position``, or None."""
    before = text[max(0, position - 8) : position]
    match = _CURRENCY.search(before)
    code = CURRENCY_SIGNS.get(match["sign"].casefold().rstrip(".")) if match else None
    if match is None or code is None:
        return None
    start = position - len(before) + match.start("sign")
    return CurrencyFound(Unit(code, Fraction(1)), start, match["minus"] is not None)


def magnitude_after(text: str, position: int, *, is_money: bool) -> tuple[Fraction, int]:
    """The factor that magnitude words behind a number make (``4.2 million``), and where they end."""
    scale = Fraction(1)
    while match := _MAGNITUDE.match(text, position):
        factor = _magnitude(match[1], is_money=is_money)
        if factor is None:
            break
        scale, position = scale * factor, match.end()
        position += text.startswith(".", position) and match[1].casefold() in {"mio", "mrd", "tsd"}
    return scale, position


def _magnitude(word: str, *, is_money: bool) -> int | None:
    if word in {"M", "Mn"} or (word == "m" and is_money):
        return 10**6
    if word in {"b", "B", "t", "T"}:
        return {"b": 10**9, "t": 10**12}[word.lower()] if is_money else None
    folded = word.casefold()
    return None if folded == "cent" else MAGNITUDES.get(folded)


def unit_after(text: str, position: int, *, is_money: bool) -> UnitFound:
    """The unit behind a number; a duration may have up to two other words before it.

    ``5 unused days``, ``10 full working days``; other units stand right behind their number.
    """
    if text[position : position + 1] >= "\u2e80":
        return _unspaced_unit(text, position)
    noun, working, at = "", False, position
    for _ in range(1 if is_money else 3):
        match = _NEXT.match(text, at)
        if match is None:
            break
        units, end = _named(text, match)
        if units and not (noun and not _is_duration(units)):
            working = working and units_named("day")[0] in units
            return UnitFound((WORKING_DAY,) if working else units, end, noun)
        folded = match["word"].casefold()
        if folded in _STOPS or word_value(folded) is not None:
            break
        working = working or folded in WORKING
        noun, at = noun or folded, match.end()
    return UnitFound((), position, noun)


def _named(text: str, match: re.Match[str]) -> tuple[tuple[Unit, ...], int]:
    word, end = match["word"], match.end()
    percent = _PERCENT.match(text, match.start("word"))
    if percent:
        return units_named("percentage-point" if percent["points"] else "percent"), percent.end()
    scale = _DEGREES.match(text, match.start("word"))
    if scale:
        return units_named("°" + scale["scale"]), scale.end()
    if word in {"C", "F"}:
        return units_named("°" + word), end
    return units_named(word), end


def _unspaced_unit(text: str, position: int) -> UnitFound:
    start = position + (text[position] in HAN_CLASSIFIERS or text[position] in "ヶか")
    for name in UNSPACED_UNITS:
        if text.startswith(name, start):
            return UnitFound(units_named(name), start + len(name), "")
    return UnitFound((), position, text[start : start + 1])


def _is_duration(units: tuple[Unit, ...]) -> bool:
    return any(unit.dimension in _DURATIONS for unit in units)


def has_minus(text: str, start: int) -> bool:
    """Whether a minus sign or word stands right before an amount; a hyphen after a digit is none."""
    before = text[max(0, start - 9) : start]
    return _MINUS.search(before) is not None and _DIGIT_HYPHEN.search(before) is None


def below_zero(text: str, end: int) -> int:
    """Where ``below zero`` ends when it follows an amount that ends at ``end``, else ``end``."""
    match = _BELOW_ZERO.match(text, end)
    return match.end() if match else end


def names_version(text: str, start: int) -> bool:
    """Whether a dotted number at ``start`` follows ``version``, ``section``, ``§`` or a name."""
    before = text[max(0, start - 24) : start]
    match = _WORD_BEFORE.search(before)
    if match is None:
        return before.rstrip().endswith("§")
    word = match["word"]
    if word.casefold() in _VERSIONED:
        return True
    lead = before[: match.start()].rstrip()
    return word[0].isupper() and word.isascii() and bool(lead) and lead[-1] not in ".!?:"
