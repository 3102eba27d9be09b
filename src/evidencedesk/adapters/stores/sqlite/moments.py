"""Means and deviations that do not depend on the order of the values, nor on their grouping.

Floating-point sums depend on the order of their terms, and that order could show where rows lie
that the reader may not see. So values are rounded to fixed point with 40 bits below the largest of
them and summed as integers, which is exact.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_BITS = 40
_HALF = 20
_LARGEST_SHIFT = 1000


def moments(values: NDArray[np.float64], count: int) -> tuple[float, float]:
    """Mean and population deviation of ``values`` and of ``count - len(values)`` zeros.

    Exact to twelve digits of the largest value, for up to eight million values.
    """
    largest = max(float(values.max()), -float(values.min())) if len(values) else 0.0
    if largest == 0.0:
        return 0.0, 0.0
    shift = min(_BITS - math.frexp(largest)[1], _LARGEST_SHIFT)
    fixed = np.rint(values * math.ldexp(1.0, shift)).astype(np.int64)
    total = int(fixed.sum())
    spread = count * _sum_of_squares(fixed) - total * total
    mean = math.ldexp(total / count, -shift)
    return mean, math.ldexp(math.sqrt(spread / (count * count)), -shift)


def _sum_of_squares(fixed: NDArray[np.int64]) -> int:
    high = fixed >> _HALF
    low = fixed - (high << _HALF)
    return (
        (int(np.dot(high, high)) << (2 * _HALF))
        + (int(np.dot(high, low)) << (_HALF + 1))
        + int(np.dot(low, low))
    )
