"""Dates and times of day as they are written, read into every meaning they may have.

A date is a triple of year, month and day, None where it does not say. ``03/04/2021`` has two
meanings; all of them are given. A time of day is minutes after midnight.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Date(NamedTuple):
    """A date as far as it is told."""

    year: int | None
    month: int | None
    day: int | None


def _months() -> dict[str, int]:
    lists = (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jänner feber mrz apr mai jun jul aug sept okt nov dez",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "জানুয়ারি ফেব্রুয়ারি মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর ডিসেম্বর",
        "जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
        "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    )
    return {name: at + 1 for names in lists for at, name in enumerate(names.split())}


MONTHS: Mapping[str, int] = MappingProxyType(_months())
"""Months by folded name."""

ALSO_WORDS = frozenset(
    {"may", "march", "mar", "mars", "mai", "mei", "mayo", "maio", "মে", "jan", "sep"}
)
"""Month names that are other words too: a month only beside a day or a year."""

_NUMERIC = re.compile(
    r"(?P<y1>\d{4})(?P<s1>[-/.])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})"
    r"|(?P<a>\d{1,2})(?P<s2>[-/.])(?P<b>\d{1,2})(?P=s2)(?P<y2>\d{4}|\d{2})"
    r"|(?P<y3>\d{4})年(?:(?P<m3>\d{1,2})月(?:(?P<d3>\d{1,2})[日号號])?)?"
    r"|(?P<m4>\d{1,2})月(?P<d4>\d{1,2})[日号號]"
)
_CLOCK = re.compile(
    r"(?P<h>\d{1,2})(?::(?P<m>\d{2})(?::\d{2})?|h(?P<m2>\d{2})|\.(?P<m3>\d{2})(?=\s?(?:[ap]\.?m|uhr))|(?P<bare>))"
    r"(?:\s?(?P<half>a\.?m\.?|p\.?m\.?|صباحا|مساء)(?!\w))?"
    r"(?P<oclock>\s?(?:uhr|o'clock|heures?|horas|点|點)(?!\w))?",
    re.IGNORECASE,
)


def numeric_dates(written: str) -> frozenset[Date]:
    """The dates that an all-digit notation may mean; empty when it is none.

    ``2024-12-31``, ``31.12.2024`` (day first), ``12/31/2024``, ``2024年12月31日``. With slashes or
    hyphens both orders are meant where both are possible.
    """
    match = _NUMERIC.fullmatch(written)
    if match is None:
        return frozenset()
    part = {
        name: int(value) for name, value in match.groupdict().items() if value and name[0] != "s"
    }
    if "y1" in part:
        return _possible(Date(part["y1"], part["m1"], part["d1"]))
    if "y3" in part:
        return _possible(Date(part["y3"], part.get("m3"), part.get("d3")))
    if "m4" in part:
        return _possible(Date(None, part["m4"], part["d4"]))
    return _either_order(part["a"], part["b"], part["y2"], written)


def _either_order(first: int, second: int, year: int, written: str) -> frozenset[Date]:
    if year < 100:
        year += 2000 if year < 70 else 1900
    dates = _possible(Date(year, second, first))
    return dates if "." in written else dates | _possible(Date(year, first, second))


def _possible(date: Date) -> frozenset[Date]:
    month_fits = date.month is None or 1 <= date.month <= 12
    day_fits = date.day is None or 1 <= date.day <= 31
    return frozenset({date}) if month_fits and day_fits else frozenset()


def clock_time(text: str, position: int) -> tuple[int, int] | None:
    """Minutes after midnight of the time written at ``position``, and where it ends; None if none.

    A lone number is a time only with ``am``, ``pm``, ``Uhr``, ``o'clock`` or the like behind it.
    """
    match = _CLOCK.match(text, position)
    if match is None or (match["bare"] is not None and not (match["half"] or match["oclock"])):
        return None
    hour, minute = int(match["h"]), int(match["m"] or match["m2"] or match["m3"] or 0)
    half = (match["half"] or "").casefold()
    if half and hour <= 12:
        hour = hour % 12 + (12 if half[0] in "pم" else 0)
    if hour > 24 or minute > 59:
        return None
    return hour * 60 + minute, match.end()


def dates_agree(claimed: Date, present: Date, years: frozenset[int]) -> bool:
    """Whether ``present`` bears ``claimed`` out: what is claimed is told, and told the same.

    Args:
        claimed: the date in the claim.
        present: a date in the source.
        years: years told elsewhere in the source, for a date whose year stands apart.
    """
    if claimed.month is not None and claimed.month != present.month:
        return False
    if claimed.day is not None and claimed.day != present.day:
        return False
    if claimed.year is None or claimed.year == present.year:
        return True
    return present.year is None and claimed.year in years
