"""Dates with the month in words, in any order: ``3 March``, ``March 3-5, 2024``, ``3 de marzo``."""

from __future__ import annotations

import re

from evidencedesk.text.dates import ALSO_WORDS, MONTHS, Date
from evidencedesk.text.quantity import Kind, Quantity

_DAY_BEFORE = re.compile(
    r"(?:(?P<first>\d{1,2})(?:st|nd|rd|th|\.)?\s?(?:-|to|and|bis|und|a|y|à|et|&)\s?)?"
    r"(?<![\d.,:/])(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.|ই|শে)?\s?(?:of the|of|de)?\s?\Z"
)
_AFTER_MONTH = re.compile(
    r"\.?(?:,\s(?=\d{4}))?\s?(?:(?:de|del|of)\s)?(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:.]\d|\d|%)"
    r"(?:\s?-\s?(?P<last>\d{1,2})(?!\d))?(?:,?\s(?P<year>\d{4})(?![\d-]))?|(?P<only>\d{4})(?![\d-]))"
)


def month_dates(text: str, match: re.Match[str]) -> tuple[Quantity, ...]:
    """The dates around the name of a month; two for a range of days (``3-5 March 2024``).

    Args:
        text: the whole text.
        match: where the name stands in it; alone it says nothing where it may be another word (``may``).
    """
    word = match[0].casefold()
    before = _DAY_BEFORE.search(text[max(0, match.start() - 24) : match.start()])
    after = _AFTER_MONTH.match(text, match.end())
    if before and after and after["day"]:
        after = None
    days: list[int | None] = []
    if before:
        days = [int(before[name]) for name in ("first", "day") if before[name]]
    elif after and after["day"]:
        days = [int(after[name]) for name in ("day", "last") if after[name]]
    year = int(after["year"] or after["only"] or 0) or None if after else None
    if word in ALSO_WORDS and not days and year is None:
        return ()
    start = match.start() - (len(before[0]) if before else 0)
    end = after.end() if after else match.end()
    written = text[start:end].strip()
    return tuple(
        Quantity(Kind.DATE, written, start, end, dates=frozenset({Date(year, MONTHS[word], day)}))
        for day in days or [None]
    )
