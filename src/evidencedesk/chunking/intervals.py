"""What a small sample can support: intervals of means in [0, 1] and paired comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054
_FAMILY_ERROR = 0.05
_RELABELLINGS = 10_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % confidence interval."""

    value: float
    low: float
    high: float


def wilson_interval(mean: float, size: int) -> Interval:
    """The score interval of a mean of ``size`` values between 0 and 1.

    Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927. Made for
    shares of yes and no; values between 0 and 1 vary less than those, so that for reciprocal ranks
    it errs on the wide side. Unlike a bootstrap it does not collapse to a point when all values of
    a handful are the same. Without any value it is all of [0, 1].
    """
    if size == 0:
        return Interval(0.0, 0.0, 1.0)
    spread = _Z * _Z / size
    centre = (mean + spread / 2) / (1 + spread)
    half = _Z * sqrt(mean * (1 - mean) / size + spread / (4 * size)) / (1 + spread)
    return Interval(mean, max(0.0, centre - half), min(1.0, centre + half))


def leading_row(scores: NDArray[np.float64], random: np.random.Generator) -> int | None:
    """The row whose mean beats that of every other row, if the sample can tell; else None.

    Each rival is compared over the same questions by relabelling at random which of the two scores
    belongs to whom (Fisher's randomisation test, two-sided). The error of 5 % is shared out among
    the rivals (Bonferroni).

    Args:
        scores: one row per strategy, one column per question.
        random: source of the relabelling.
    """
    if len(scores) < 2 or scores.shape[1] == 0:
        return None
    best = int(scores.mean(axis=1).argmax())
    allowed = _FAMILY_ERROR / (len(scores) - 1)
    rivals = [row for row in range(len(scores)) if row != best]
    if all(_p_value(scores[best] - scores[row], random) <= allowed for row in rivals):
        return best
    return None


def _p_value(differences: NDArray[np.float64], random: np.random.Generator) -> float:
    observed = abs(differences.sum())
    if observed == 0:
        return 1.0
    as_extreme = 0
    for _ in range(_RELABELLINGS // 1000):
        signs = random.integers(0, 2, size=(1000, len(differences))) * 2 - 1
        as_extreme += int((np.abs(signs @ differences) >= observed - 1e-12).sum())
    return (as_extreme + 1) / (_RELABELLINGS + 1)
