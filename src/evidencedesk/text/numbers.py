"""Quantities: every number, amount, date, time, ordinal and identifier that a text names.

Each is read into all the values it may have, so that two texts can be compared by what they say and
not by how they write it: ``1,000`` ``1.000`` ``1 000`` ``৳১,০০০`` ``one thousand``; ``50 %`` and
``half``; ``5 pm`` and ``17:00``. Versions and identifiers have no value and are compared as written.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from evidencedesk.text.dates import MONTHS, clock_time, numeric_dates
from evidencedesk.text.month_dates import month_dates
from evidencedesk.text.number_words import (
    HALF_MORE,
    HALVES,
    MAGNITUDES,
    NUMBER_WORDS,
    ORDINALS,
    WEAK,
    denominator,
    han_value,
    spoken_number,
    word_value,
)
from evidencedesk.text.numerals import NUMERAL, digit_values, plain_spelling, power_after
from evidencedesk.text.quantity import Kind, Quantities, Quantity
from evidencedesk.text.ranges import joined_ranges
from evidencedesk.text.unit_reading import (
    HAN_CLASSIFIERS,
    WORD,
    below_zero,
    currency_before,
    has_minus,
    magnitude_after,
    names_version,
    unit_after,
)
from evidencedesk.text.units import CURRENCY_SIGNS, PERCENT, Unit, units_named

_RATIO = Unit("ratio", Fraction(1))

_HAN = r"[〇零一二三四五六七八九十百千万萬亿億两兩]+"
_TOKEN = re.compile(
    rf"(?P<word>(?<![\w-]){WORD}(?![\w/_-]*\d))"
    r"|(?P<date>(?<![\d./-])(?:\d{4}([-/.])\d{1,2}\3\d{1,2}|\d{1,2}([-/.])\d{1,2}\4(?:\d{4}|\d{2}))"
    r"(?![\d/-]|\.\d)|\d{4}年(?:\d{1,2}月(?:\d{1,2}[日号號])?)?|(?<!\d)\d{1,2}月\d{1,2}[日号號])"
    r"|(?P<identifier>(?<![\w-])(?=[A-Za-z/_-]*\d)[A-Za-z]{1,12}(?:[-./_]?[A-Za-z0-9]+)*)"
    rf"|(?P<number>{NUMERAL.pattern})"
    rf"|百分之(?P<hundredth>{_HAN}|\d+(?:\.\d+)?)"
    rf"|(?P<han>{_HAN})"
    rf"|(?P<other>{WORD})"
)
_ORDINAL_SUFFIX = re.compile(r"(?:st|nd|rd|th|er|ème|º|ª)(?!\w)")
_SUFFIX = re.compile(r"[A-Za-z]\w*")
_FRACTION = re.compile(r"(?P<above>\d{1,2})/(?P<below>\d{1,2})(?![\d/])")
_MIXED = re.compile(r" (?P<above>\d)/(?P<below>\d{1,2})(?![\d/])")
_NEXT_WORD = re.compile(rf"[ -]?({WORD})")
_ARTICLE = re.compile(r"(?: of)? an?(?= )", re.IGNORECASE)
_VERSION = re.compile(r"[vV]\.?(\d+(?:\.\d+)*)")
_CODE_AND_AMOUNT = re.compile(r"([A-Z]{3}|Rs|Tk)\d.*")
_BEFORE_YEARS = frozenset(
    ("mid", "pre", "post", "early", "late", "non", "over", "under", "approx", "ca")
)
_CLOCK_WORDS = {"noon": 720, "midday": 720, "midnight": 0}
_AFTERNOONS = frozenset({"下午", "晚上", "午後"})
_TELLING = frozenset(
    {"a", "an", *HALVES, *HALF_MORE, *NUMBER_WORDS, *ORDINALS, *MONTHS, *_CLOCK_WORDS}
)

_ARTICLES = frozenset({"a", "an"})
_COUNTED = frozenset({"dozen", *MAGNITUDES})
_TELLING_ALONE = _TELLING - _ARTICLES
_ASCII_WORD = re.compile(r"[a-z]+")
_DIGIT_OR_GERMAN = re.compile(r"\d|zig|hundert|tausend|zehn|dreissig", re.IGNORECASE)

_WORDS = frozenset({"word", "other"})
_LONG_WORD = 7
"""German compounds that name a number are at least this long."""

_Read = tuple[tuple[Quantity, ...], int]


def quantities(text: str, *, comma_decimal: bool = False) -> Quantities:
    """All quantities of ``text``, in order.

    Args:
        text: any text, in any script.
        comma_decimal: whether a comma before three digits may be a decimal mark.
    """
    plain = plain_spelling(text)
    if _tells_nothing(plain):
        return Quantities(plain, ())
    reader = _Reader(plain, comma_decimal=comma_decimal)
    return Quantities(reader.text, joined_ranges(reader.text, reader.read()))


def _tells_nothing(text: str) -> bool:
    """Whether a text surely names no quantity: no digit, and no word that can be part of one."""
    if not text.isascii() or _DIGIT_OR_GERMAN.search(text):
        return False
    words = _ASCII_WORD.findall(text.lower())
    if not _TELLING_ALONE.isdisjoint(words):
        return False
    return not any(
        word in _ARTICLES and _can_be_counted(following) for word, following in pairwise(words)
    )


def _can_be_counted(word: str) -> bool:
    """Whether an article in front of ``word`` can make a number: ``a dozen``, ``an hour``."""
    return word in _COUNTED or denominator(word) is not None or bool(units_named(word))


class _Reader:
    """One pass over one text; every method gives what it read and where reading goes on."""

    def __init__(self, text: str, *, comma_decimal: bool) -> None:
        self.text = text
        self.comma_decimal = comma_decimal

    def read(self) -> list[Quantity]:
        found: list[Quantity] = []
        position: int | None = 0
        while position is not None:
            position = self._read_from(position, found)
        return found

    def _read_from(self, position: int, found: list[Quantity]) -> int | None:
        """Read on until a quantity ends elsewhere than its first token; where, or None at the end."""
        for match in _TOKEN.finditer(self.text, position):
            kind = match.lastgroup
            if kind in _WORDS:
                word = match[0]
                if len(word) < _LONG_WORD and word.casefold() not in _TELLING:
                    continue
                read, position = self._word(match)
                while read and found and found[-1].start >= read[0].start:
                    found.pop()
            elif kind == "number":
                read, position = self._number(match)
            else:
                read, position = self._rare(match, kind)
            found.extend(read)
            if position != match.end():
                return position
        return None

    def _rare(self, match: re.Match[str], kind: str | None) -> _Read:
        if kind == "date":
            return self._numeric_date(match)
        if kind == "identifier":
            return self._identifier(match)
        if kind == "hundredth":
            return self._hundredth(match)
        return self._han(match)

    def _number(self, match: re.Match[str]) -> _Read:
        text, (start, end) = self.text, match.span()
        clock = clock_time(text, start)
        if clock is not None:
            return self._time(start, *clock)
        fraction = _FRACTION.match(text, start)
        if fraction and max(1, int(fraction["above"])) < int(fraction["below"]) <= 16:
            value = Fraction(int(fraction["above"]), int(fraction["below"]))
            return self._measured(start, fraction.end(), frozenset({value}), ratio=True)
        values = digit_values(match[0], comma_decimal=self.comma_decimal)
        ordinal = _ORDINAL_SUFFIX.match(text, end)
        if ordinal and match[0].isdigit():
            written = text[start : ordinal.end()]
            return (Quantity(Kind.ORDINAL, written, start, ordinal.end(), values),), ordinal.end()
        if not values:
            return (Quantity(Kind.IDENTIFIER, match[0], start, end, version=True),), end
        suffix = _SUFFIX.match(text, end)
        if suffix and not self._is_known_suffix(suffix[0], start):
            written = text[start : suffix.end()]
            return (Quantity(Kind.IDENTIFIER, written, start, suffix.end()),), suffix.end()
        return self._number_and_part(match, values)

    def _is_known_suffix(self, suffix: str, start: int) -> bool:
        """Whether letters right behind digits are a unit or magnitude (``5GB``) and no name (``7b``)."""
        if units_named(suffix) or suffix in {"C", "F", "x", "X", "M", "E", "e"}:
            return True
        is_money = currency_before(self.text, start) is not None
        return magnitude_after(suffix, 0, is_money=is_money)[1] > 0

    def _number_and_part(self, match: re.Match[str], values: frozenset[Fraction]) -> _Read:
        """A number with the fraction or power of ten that belongs to it."""
        text, (start, end) = self.text, match.span()
        mixed = _MIXED.match(text, end)
        if mixed and 0 < int(mixed["above"]) < int(mixed["below"]):
            part = Fraction(int(mixed["above"]), int(mixed["below"]))
            return self._measured(start, mixed.end(), frozenset(value + part for value in values))
        if text.startswith(" and a half", end):
            halved = frozenset(value + Fraction(1, 2) for value in values)
            return self._measured(start, end + len(" and a half"), halved)
        factor, end = power_after(text, end)
        if factor != 1:
            values = frozenset(value * factor for value in values)
        return self._measured(start, end, values)

    def _numeric_date(self, match: re.Match[str]) -> _Read:
        dates = numeric_dates(match["date"])
        if not dates:
            number = NUMERAL.match(self.text, match.start())
            return self._number(number) if number else ((), match.end())
        if any(date.month is None for date in dates):
            years = frozenset(Fraction(date.year or 0) for date in dates)
            return (Quantity(Kind.NUMBER, match[0], *match.span(), years),), match.end()
        return (Quantity(Kind.DATE, match[0], *match.span(), dates=dates),), match.end()

    def _identifier(self, match: re.Match[str]) -> _Read:
        written, start = match["identifier"], match.start()
        version = _VERSION.fullmatch(written)
        if version:
            return (
                Quantity(Kind.IDENTIFIER, version[1], start, match.end(), version=True),
            ), match.end()
        head, dash, tail = written.partition("-")
        if dash and tail[0].isdigit() and head.casefold() in _BEFORE_YEARS:
            return (), start + len(head) + 1
        amount = _CODE_AND_AMOUNT.fullmatch(written)
        if amount and amount[1].casefold() in CURRENCY_SIGNS:
            return (), start + len(amount[1])
        return (Quantity(Kind.IDENTIFIER, written, start, match.end()),), match.end()

    def _time(self, start: int, minutes: int, end: int) -> _Read:
        if self.text[max(0, start - 2) : start] in _AFTERNOONS and minutes < 720:
            minutes += 720
        return (Quantity(Kind.TIME, self.text[start:end], start, end, minutes=minutes),), end

    def _hundredth(self, match: re.Match[str]) -> _Read:
        numeral = match["hundredth"]
        value = Fraction(numeral) if numeral[0].isdigit() else Fraction(han_value(numeral) or 0)
        percent = Quantity(Kind.NUMBER, match[0], *match.span(), frozenset({value}), (PERCENT,))
        return (percent,), match.end()

    def _han(self, match: re.Match[str]) -> _Read:
        """A Han numeral, where a unit or a counting word shows that it is one."""
        value = han_value(match["han"])
        following = self.text[match.end() : match.end() + 1]
        found = (
            unit_after(self.text, match.end(), is_money=False) if following >= "\u2e80" else None
        )
        if value is None or found is None or not (found.units or following in HAN_CLASSIFIERS):
            return (), match.end()
        values = frozenset({Fraction(value)})
        written = self.text[match.start() : found.end]
        return (
            Quantity(Kind.NUMBER, written, match.start(), found.end, values, found.units),
        ), found.end

    def _word(self, match: re.Match[str]) -> _Read:
        word = match[0].casefold()
        if word not in _TELLING and (len(word) < _LONG_WORD or word_value(word) is None):
            return (), match.end()
        if word in MONTHS:
            dates = month_dates(self.text, match)
            if dates:
                return dates, max(match.end(), dates[-1].end)
        if word in HALVES or word in HALF_MORE:
            return self._half(match, word)
        if word in _CLOCK_WORDS:
            return self._time(match.start(), _CLOCK_WORDS[word], match.end())
        if word in ORDINALS and word_value(word) is None:
            values = frozenset({Fraction(ORDINALS[word])})
            return (
                Quantity(Kind.ORDINAL, word, *match.span(), values, weak=word in WEAK),
            ), match.end()
        return self._spoken(match)

    def _half(self, match: re.Match[str], word: str) -> _Read:
        if word in HALF_MORE:
            return self._measured(*match.span(), frozenset({HALF_MORE[word]}))
        half = frozenset({Fraction(1, 2)})
        return self._measured(*match.span(), half, ratio=True, weak=word in WEAK)

    def _spoken(self, match: re.Match[str]) -> _Read:
        """A number in words, with its fraction (``two thirds``, ``two and a half``) and unit."""
        if match[0].casefold() in _ARTICLES and not self._may_count(match.end()):
            return (), match.end()
        words, ends = self._words_from(match.start())
        spoken = spoken_number(words) if words else None
        if spoken is None:
            return self._article(match, words, ends)
        value, used = spoken
        end, behind = ends[used - 1], words[used : used + 3]
        divisor = denominator(behind[0]) if behind else None
        if divisor and (value > 1 or behind[0] != "quarter" or behind[1:2] == ["of"]):
            share = frozenset({value / divisor})
            return self._measured(match.start(), ends[used], share, ratio=True)
        if behind == ["and", "a", "half"]:
            value, end = value + Fraction(1, 2), ends[used + 2]
        weak = used == 1 and words[0] in WEAK
        return self._measured(match.start(), end, frozenset({value}), weak=weak)

    def _may_count(self, end: int) -> bool:
        """Whether the word behind an article can make it a number: ``a dozen``, ``an hour``."""
        following = _NEXT_WORD.match(self.text, end)
        if following is None:
            return False
        return _can_be_counted(following[1].casefold())

    def _article(self, match: re.Match[str], words: list[str], ends: list[int]) -> _Read:
        """``a third of``, ``an hour``: an article that counts one."""
        if len(words) < 2:
            return (), match.end()
        start, end = match.start(), ends[1]
        divisor = denominator(words[1])
        if divisor is not None and words[2:3] == ["of"]:
            return self._measured(start, end, frozenset({Fraction(1, divisor)}), ratio=True)
        units = units_named(words[1]) if words[1] != "second" else ()
        if not any(unit.dimension in {"time", "month"} for unit in units):
            return (), match.end()
        one = frozenset({Fraction(1)})
        return (
            Quantity(Kind.NUMBER, self.text[start:end], start, end, one, units, weak=True),
        ), end

    def _words_from(self, start: int) -> tuple[list[str], list[int]]:
        words: list[str] = []
        ends: list[int] = []
        position = start
        while len(words) < 9 and (match := _NEXT_WORD.match(self.text, position)):
            words.append(match[1].casefold())
            ends.append(match.end())
            position = match.end()
        return words, ends

    def _measured(
        self,
        start: int,
        end: int,
        values: frozenset[Fraction],
        *,
        ratio: bool = False,
        weak: bool = False,
    ) -> _Read:
        """The quantity with the sign and currency before it and the magnitude and unit behind it."""
        text = self.text
        money = currency_before(text, start)
        version = money is None and "." in text[start:end] and names_version(text, start)
        article = _ARTICLE.match(text, end) if ratio else None
        end = article.end() if article else end
        scale, end = magnitude_after(text, end, is_money=money is not None)
        found = unit_after(text, end, is_money=money is not None)
        units = (money.unit,) if money else found.units
        if ratio and not units:
            units = (_RATIO,)
        start = money.start if money else start
        end = found.end if found.units else end
        past_zero = below_zero(text, end)
        negative = past_zero > end or (money is not None and money.minus) or has_minus(text, start)
        end = past_zero
        factor = -scale if negative else scale
        if factor != 1:
            values = frozenset(value * factor for value in values)
        quantity = Quantity(
            Kind.NUMBER,
            text[start:end].strip(),
            start,
            end,
            values,
            units,
            scale,
            found.noun,
            weak=weak and not found.units,
            version=version and not units,
        )
        return (quantity,), end
