"""Ranges of quantities: ``3 to 5 kg``, ``$2-3 million``, ``9 to 5 pm``."""

from __future__ import annotations

import re
from dataclasses import replace

from evidencedesk.text.quantity import Kind, Quantity, is_year

_RANGE = re.compile(
    r"\s?(?:-|~|to|up to|and|or|through|until|bis|und|oder|a|à|y|e|o|et|ou|até|hasta|til|tot|en|से"
    r"|থেকে|إلى|حتى|至|到)\s?(?:US|[ACS])?[$€£¥₹৳]?\s?",
    re.IGNORECASE,
)


def joined_ranges(text: str, found: list[Quantity]) -> tuple[Quantity, ...]:
    """Give one end of a range the unit and magnitude that are written at the other only."""
    for at in range(len(found) - 2, -1, -1):
        one, other = found[at], found[at + 1]
        if one.kind is not Kind.NUMBER or one.version or is_year(one):
            continue
        if not _RANGE.fullmatch(text, one.end, other.start):
            continue
        if other.kind is Kind.NUMBER:
            found[at], found[at + 1] = _joined(one, other)
        elif other.kind is Kind.TIME and not one.units and other.written[-1] not in "mM.":
            hours = [value for value in one.values if 0 <= value <= 24]
            if hours:
                found[at] = replace(one, kind=Kind.TIME, minutes=int(hours[0] * 60))
    return tuple(found)


def _joined(one: Quantity, other: Quantity) -> tuple[Quantity, Quantity]:
    if other.scale != 1 and one.scale == 1:
        one = replace(one, values=one.values | {value * other.scale for value in one.values})
    return (
        replace(one, units=one.units or other.units),
        replace(other, units=other.units or one.units),
    )
