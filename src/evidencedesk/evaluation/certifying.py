"""A threshold that keeps wrong answers rare, with a guarantee for finitely many labelled questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evidencedesk.evaluation.curves import Scored

_STARTS = 4


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold and what it guarantees.

    Attributes:
        value: on the fitted probability; above 1 when no threshold keeps the target.
        target: largest share of wrong answers among the shown ones that is accepted.
        level: with this confidence the share of wrong answers among future shown ones is at most
            ``target``, for questions drawn as the labelled ones were.
        shown: labelled questions that are answered at it.
        wrong: wrong ones among them.
        bound: upper Clopper-Pearson bound at ``level`` for this threshold alone, for orientation;
            the guarantee also pays for having chosen among thresholds.
    """

    value: float
    target: float
    level: float
    shown: int
    wrong: int
    bound: float

    @property
    def found(self) -> bool:
        """Whether any threshold keeps the target."""
        return self.value <= 1.0

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {"found": self.found, **{name: getattr(self, name) for name in self.__slots__}}


def certified_threshold(answers: Sequence[Scored], target: float, level: float) -> Threshold:
    """The lowest threshold at which the share of wrong shown answers is under ``target``, guaranteed.

    Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei, 2021): "more than ``target`` wrong
    among the shown" is tested for one threshold after the other, strictest first, with the exact
    binomial tail as p-value, and a walk ends at the first threshold that does not reject (fixed
    sequence testing). Four walks start at counts of shown answers that depend on confidences alone,
    each with a quarter of the error ``1 - level``. Whatever stands on a walk before its end holds
    at once with probability ``level``. The map to probabilities is increasing and so changes which
    answers stand above which threshold not at all: the guarantee needs no second data set.
    """
    ordered = sorted(answers, key=lambda one: -one.confidence)
    cuts = _cuts(ordered)
    wrong = np.cumsum([not one.right for one in ordered])
    error = (1 - level) / _STARTS
    fewest = math.ceil(math.log(error) / math.log(1 - target)) if 0 < target < 1 else 1
    usable = [cut for cut in cuts if cut >= fewest]
    best = 0
    for index in sorted({round(k * (len(usable) - 1) / _STARTS) for k in range(_STARTS)}):
        for cut in usable[max(index, 0) :]:
            if binomial_tail(int(wrong[cut - 1]), cut, target) > error:
                break
            best = max(best, cut)
    if not best:
        return Threshold(math.nextafter(1.0, 2.0), target, level, 0, 0, 1.0)
    count = int(wrong[best - 1])
    value = math.floor(ordered[best - 1].confidence * 1e6) / 1e6
    return Threshold(value, target, level, best, count, upper_bound(count, best, level))


def binomial_tail(wrong: int, shown: int, rate: float) -> float:
    """Probability of at most ``wrong`` in ``shown`` trials of probability ``rate``."""
    if rate <= 0 or wrong >= shown:
        return 1.0
    if rate >= 1:
        return 0.0
    logs = (
        math.lgamma(shown + 1)
        - math.lgamma(k + 1)
        - math.lgamma(shown - k + 1)
        + k * math.log(rate)
        + (shown - k) * math.log1p(-rate)
        for k in range(wrong + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))


def upper_bound(wrong: int, shown: int, level: float) -> float:
    """Upper confidence bound on the share of wrong (Clopper and Pearson, 1934), one-sided."""
    if wrong >= shown:
        return 1.0
    low, high = wrong / shown, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if binomial_tail(wrong, shown, middle) > 1 - level:
            low = middle
        else:
            high = middle
    return high


def _cuts(ordered: Sequence[Scored]) -> list[int]:
    """Counts of answers that a threshold can show: never half of those with equal confidence."""
    following = [*(one.confidence for one in ordered[1:]), None]
    return [
        count
        for count, (one, after) in enumerate(zip(ordered, following, strict=True), start=1)
        if one.confidence != after
    ]
