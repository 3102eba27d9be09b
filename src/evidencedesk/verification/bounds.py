"""Bounds that a stated value satisfies: ``more than 1,000 people`` where the source says 1,204.

Only a value that is stated plainly can satisfy a bound: two bounds are never compared (``over 20 MB``
is not ``over 25 MB``), nor values of other units or of other things, nor values more than twice apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from evidencedesk.text.quantity import Kind, Quantity
from evidencedesk.text.units import dimensions_agree

_MORE = (
    r"more than|over|above|at least|exceed(?:s|ed|ing)?|greater than|larger than|higher than|upwards of"
    r"|mehr als|über|mindestens|más de|plus de|au moins"
)
_FEWER = (
    r"less than|fewer than|under|below|at most|no more than|not more than|up to|lower than|smaller than"
    r"|weniger als|unter|höchstens|menos de|moins de|au plus"
)
_MORE_BEFORE = re.compile(rf"\b(?:{_MORE})\s\Z", re.IGNORECASE)
_FEWER_BEFORE = re.compile(rf"\b(?:{_FEWER})\s\Z", re.IGNORECASE)
_FARTHEST = 2
_LONGEST_BOUND = 24


def bound_holds(claim: str, claimed: Quantity, told: Iterable[Quantity], support: str) -> bool:
    """Whether ``claimed`` is a bound in ``claim`` that one of the values ``told`` satisfies.

    Args:
        claim: the claim in plain spelling.
        claimed: one of its quantities.
        told: quantities of the quotes.
        support: the sentences that they stand in, in plain spelling.
    """
    if claimed.kind is not Kind.NUMBER or claimed.version:
        return False
    before = claim[: claimed.start][-_LONGEST_BOUND:]
    is_more = _MORE_BEFORE.search(before) is not None
    if not is_more and _FEWER_BEFORE.search(before) is None:
        return False
    things = _things(claim[claimed.end :])
    return any(
        _satisfies(one, claimed, is_more=is_more)
        and (one.units or things & _things(support.partition(one.written)[2]))
        and not _is_bounded(one, support)
        for one in told
    )


def _things(behind: str) -> frozenset[str]:
    """What a number without a unit counts: the beginnings of the three words behind it."""
    return frozenset(word[:5].casefold() for word in re.findall(r"[^\W\d_]{3,}", behind[:60])[:3])


def _satisfies(one: Quantity, claimed: Quantity, *, is_more: bool) -> bool:
    if one.kind is not Kind.NUMBER or one.version or bool(one.units) is not bool(claimed.units):
        return False
    pairs = _comparable_values(one, claimed)
    return any(
        limit < value <= limit * _FARTHEST if is_more else value < limit <= value * _FARTHEST
        for value, limit in pairs
    )


def _comparable_values(one: Quantity, claimed: Quantity) -> list[tuple[float, float]]:
    if not one.units:
        return [(float(value), float(limit)) for value in one.values for limit in claimed.values]
    return [
        (float(value), float(limit))
        for dimension, value in one.measures
        for wanted, limit in claimed.measures
        if dimensions_agree(wanted, dimension)
    ]


def _is_bounded(one: Quantity, support: str) -> bool:
    bounds = rf"\b(?:{_MORE}|{_FEWER}|within|until|maximum of|minimum of|limited to|not exceed)\s(?:\w+\s)?"
    return re.search(bounds + re.escape(one.written), support, re.IGNORECASE) is not None
