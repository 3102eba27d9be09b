"""Exact cosines, the same to the bit whatever else is scored beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def exact_cosines(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Products of the rows of ``vectors`` with ``vector``, each summed in one fixed order.

    A matrix product would be faster and may round differently for another number of rows; a sum
    along contiguous rows does not.
    """
    products = vectors.astype(np.float64) * vector.astype(np.float64)
    return np.asarray(products.sum(axis=1))
