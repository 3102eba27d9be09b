"""Cosines: approximate ones of every visible row from int8 codes, exact ones of the best few.

The products of codes are integers, so a row's approximate cosine is the same whatever other rows
there are and whoever computes it. Exact cosines are summed row by row in one fixed order.
"""

from __future__ import annotations

from collections.abc import Callable

import numkong
import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.sqlite.quantization import LARGEST, quantize
from evidencedesk.adapters.stores.sqlite.view import View, Visible

Products = Callable[[NDArray[np.int8], NDArray[np.int8]], NDArray[np.float64]]

_GATHERED_SHARE = 6
_BLOCK = 4096
_EXACT_IN_FLOAT32 = (1 << 24) // (LARGEST * LARGEST)


def numkong_products(codes: NDArray[np.int8], query: NDArray[np.int8]) -> NDArray[np.float64]:
    """Exact integer products of ``codes`` (n, d) with ``query`` (d,), by numkong's kernels."""
    return np.asarray(numkong.cdist(query[None], codes, "dot")).reshape(-1)


def numpy_products(codes: NDArray[np.int8], query: NDArray[np.int8]) -> NDArray[np.float64]:
    """The same by numpy: block by block in a float type that holds every partial sum exactly."""
    exact: type[np.floating] = np.float32 if len(query) <= _EXACT_IN_FLOAT32 else np.float64
    wide = query.astype(exact)
    products = np.empty(len(codes))
    for start in range(0, len(codes), _BLOCK):
        products[start : start + _BLOCK] = codes[start : start + _BLOCK].astype(exact) @ wide
    return products


def fastest_products() -> Products:
    """Numkong's kernel if it agrees with numpy on this processor, else numpy's."""
    extremes = np.full((3, 1031), LARGEST, np.int8)
    extremes[1] *= -1
    extremes[2, ::2] = np.arange(516) % LARGEST
    probe = extremes[0]
    agree = np.array_equal(numkong_products(extremes, probe), numpy_products(extremes, probe))
    return numkong_products if agree else numpy_products


def approximate_cosines(
    view: View, vector: NDArray[np.float32], products: Products
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Approximate cosines of the visible rows with vectors, and the positions of those rows.

    Positions are None when they are all positions from 0.
    """
    codes, scales = quantize(vector[None])
    whole = view.vectors == view.rows
    cosines = np.empty(view.vectors)
    positions = None if whole else np.empty(view.vectors, np.int64)
    start = 0
    for visible in view.parts:
        if visible.vectors:
            span = slice(start, start + visible.vectors)
            _scan(visible, codes[0], products, cosines[span])
            if positions is not None:
                positions[span] = _rows(visible)
            start = span.stop
    cosines *= float(scales[0])
    return cosines, positions


def exact_cosines(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Products of the rows of ``vectors`` with ``vector``, each summed in one fixed order.

    A matrix product would be faster and may round differently for another number of rows; a sum
    along contiguous rows does not.
    """
    products = vectors.astype(np.float64) * vector.astype(np.float64)
    return np.asarray(products.sum(axis=1))


def _scan(
    visible: Visible, query: NDArray[np.int8], products: Products, out: NDArray[np.float64]
) -> None:
    part, rows = visible.part, visible.with_vector
    if part.dimensions != len(query):
        out.fill(0.0)
    elif rows is None:
        np.multiply(products(part.codes, query), part.scales, out=out)
    elif len(rows) * _GATHERED_SHARE < len(part):
        np.multiply(products(part.codes[rows], query), part.scales[rows], out=out)
    else:
        np.multiply(products(part.codes, query)[rows], part.scales[rows], out=out)


def _rows(visible: Visible) -> NDArray[np.int64]:
    if visible.with_vector is None:
        return np.arange(visible.start, visible.start + len(visible.part))
    return visible.with_vector + visible.start
