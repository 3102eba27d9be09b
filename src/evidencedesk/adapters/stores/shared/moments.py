"""Means and deviations that do not depend on the order of the values, nor on their grouping.

Floating-point sums depend on the order of their terms, and that order could show where rows lie
that the reader may not see. So values are rounded to fixed point and summed as integers, which is
exact; the point is set so that the sum of squares fits 63 bits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_SUM_BITS = 62
_LARGEST_SHIFT = 1000
_BLOCK = 8192


def moments(values: NDArray[np.float64], count: int) -> tuple[float, float]:
    """Mean and population deviation of ``values`` and of ``count - len(values)`` zeros.

    To six digits of the largest value for a million of them, to eight for a thousand.
    """
    largest = max(float(values.max()), -float(values.min())) if len(values) else 0.0
    if largest == 0.0:
        return 0.0, 0.0
    bits = (_SUM_BITS - len(values).bit_length()) // 2
    shift = min(bits - math.frexp(largest)[1], _LARGEST_SHIFT)
    total, squares = _sums(values, math.ldexp(1.0, shift))
    spread = count * squares - total * total
    mean = math.ldexp(total / count, -shift)
    return mean, math.ldexp(math.sqrt(spread / (count * count)), -shift)


def _sums(values: NDArray[np.float64], unit: float) -> tuple[int, int]:
    """Sum and sum of squares of the values in fixed point, block by block to stay in the cache."""
    total = squares = 0
    for start in range(0, len(values), _BLOCK):
        scaled = values[start : start + _BLOCK] * unit
        fixed = np.rint(scaled, out=scaled).astype(np.int64)
        total += int(fixed.sum())
        squares += int(np.dot(fixed, fixed))
    return total, squares
