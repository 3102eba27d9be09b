"""The best few of many scores, ties to the earlier one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Indices of the ``limit`` largest scores, ascending; of equal scores the first ones."""
    if limit <= 0:
        return np.zeros(0, np.int64)
    if len(scores) <= limit:
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above = np.flatnonzero(scores > least)
    ties = np.flatnonzero(scores == least)[: limit - len(above)]
    return np.sort(np.concatenate([above, ties]))
