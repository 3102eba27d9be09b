"""How far a figure can be trusted: bootstrap intervals, and exact ones where a bootstrap is blind."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
LEVEL = 0.95
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval.

    Attributes:
        value: the figure; None when no question could be scored.
        low: lower end of the interval; None like ``value``.
        high: upper end.
        scored: how many questions it rests on.
        not_scored: how many had no score: the metric has no meaning for them, or was no number.
    """

    value: float | None
    low: float | None
    high: float | None
    scored: int
    not_scored: int = 0

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "scored": self.scored,
            "not_scored": self.not_scored,
        }


def mean_of(values: Iterable[float | None], random: np.random.Generator) -> Estimate:
    """Mean of scores in [0, 1] with a 95 % interval; None and NaN are counted, not averaged.

    The interval is the bias-corrected accelerated bootstrap (Efron, Better bootstrap confidence
    intervals, 1987), its resampled deviations widened by sqrt(n / (n - 1)), which a bootstrap
    variance lacks. Where all scores are equal a bootstrap sees no doubt at all; the interval is then
    the exact one of the extreme case (Clopper and Pearson, 1934), so 20 of 20 is [0.83, 1].
    """
    listed = list(values)
    sample = _numbers(listed)
    missing = len(listed) - len(sample)
    if not len(sample):
        return Estimate(None, None, None, 0, missing)
    value = float(sample.mean())
    if np.ptp(sample) == 0:
        low, high = _extreme(value, len(sample))
    else:
        low, high = _accelerated(sample, random)
    return Estimate(value, min(low, value), max(high, value), len(sample), missing)


def quantile_of(
    values: Iterable[float | None], share: float, random: np.random.Generator
) -> Estimate:
    """The quantile (a median, a 95th percentile) with its percentile-bootstrap interval."""
    listed = list(values)
    sample = _numbers(listed)
    missing = len(listed) - len(sample)
    if not len(sample):
        return Estimate(None, None, None, 0, missing)
    drawn = np.quantile(_resamples(sample, random), share, axis=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    value = float(np.quantile(sample, share))
    return Estimate(value, float(low), float(high), len(sample), missing)


def _numbers(values: list[float | None]) -> NDArray[np.float64]:
    sample = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return sample[np.isfinite(sample)]


def _resamples(sample: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    return sample[random.integers(0, len(sample), (RESAMPLES, len(sample)))]


def _accelerated(sample: NDArray[np.float64], random: np.random.Generator) -> tuple[float, float]:
    size, mean = len(sample), sample.mean()
    drawn = _resamples(sample, random).mean(axis=1)
    below = float(np.mean(drawn < mean) + np.mean(drawn == mean) / 2)
    bias = _NORMAL.inv_cdf(min(max(below, 1 / RESAMPLES), 1 - 1 / RESAMPLES))
    away = sample - mean
    acceleration = float(np.sum(away**3) / (6 * np.sum(away**2) ** 1.5))
    widened = mean + (drawn - mean) * math.sqrt(size / (size - 1))
    ends = []
    for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        z = bias + _NORMAL.inv_cdf(share)
        ends.append(_NORMAL.cdf(bias + z / (1 - acceleration * z)))
    low, high = np.quantile(widened, ends)
    return max(0.0, float(low)), min(1.0, float(high))


def _extreme(value: float, size: int) -> tuple[float, float]:
    tail = float(((1 - LEVEL) / 2) ** (1 / size))
    return value * tail, 1 - (1 - value) * tail
