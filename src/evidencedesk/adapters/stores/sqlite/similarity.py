"""Cosines: approximate ones of every visible row from int8 codes, exact ones of the best few.

The products of codes are integers, so a row's approximate cosine is the same whatever other rows
there are and whoever computes it. Exact cosines are summed row by row in one fixed order.
"""

from __future__ import annotations

from collections.abc import Callable

import numkong
import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.quantization import LARGEST, quantize
from evidencedesk.adapters.stores.sqlite.parts import Part
from evidencedesk.adapters.stores.sqlite.view import View, Visible

Products = Callable[[NDArray[np.int8], NDArray[np.int8], NDArray[np.float64]], None]
"""Puts the exact integer products of codes (n, d) with a query (d,) into an array (n,)."""

_GATHERED_SHARE = 6
_BLOCK = 4096
_EXACT_IN_FLOAT32 = (1 << 24) // (LARGEST * LARGEST)


def numkong_products(
    codes: NDArray[np.int8], query: NDArray[np.int8], out: NDArray[np.float64]
) -> None:
    """Products by numkong's kernels."""
    numkong.cdist(query[None], codes, "dot", out=out[None])


def numpy_products(
    codes: NDArray[np.int8], query: NDArray[np.int8], out: NDArray[np.float64]
) -> None:
    """Products by numpy, block by block in a float type that holds every partial sum exactly."""
    exact: type[np.floating] = np.float32 if len(query) <= _EXACT_IN_FLOAT32 else np.float64
    wide = query.astype(exact)
    for start in range(0, len(codes), _BLOCK):
        out[start : start + _BLOCK] = codes[start : start + _BLOCK].astype(exact) @ wide


def fastest_products() -> Products:
    """Numkong's kernel if it agrees with numpy on this processor, else numpy's."""
    extremes = np.full((3, 1031), LARGEST, np.int8)
    extremes[1] *= -1
    extremes[2, ::2] = np.arange(516) % LARGEST
    found = np.empty((2, len(extremes)))
    for row, products in enumerate((numkong_products, numpy_products)):
        products(extremes, extremes[0], found[row])
    return numkong_products if np.array_equal(*found) else numpy_products


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


def _scan(
    visible: Visible, query: NDArray[np.int8], products: Products, out: NDArray[np.float64]
) -> None:
    part, rows = visible.part, visible.with_vector
    if part.dimensions != len(query):
        out.fill(0.0)
    elif rows is None:
        products(part.codes, query, out)
        out *= part.scales
    elif len(rows) * _GATHERED_SHARE < len(part):
        products(part.codes[rows], query, out)
        out *= part.scales[rows]
    else:
        _scan_blocks(part, rows, query, products, out)


def _scan_blocks(
    part: Part,
    rows: NDArray[np.int64],
    query: NDArray[np.int8],
    products: Products,
    out: NDArray[np.float64],
) -> None:
    """Products of all rows, of which ``rows`` are kept, through an array that fits the cache."""
    spare = np.empty(_BLOCK)
    starts = np.arange(0, len(part), _BLOCK)
    bounds = [*np.searchsorted(rows, starts).tolist(), len(rows)]
    for number, start in enumerate(starts.tolist()):
        block = slice(start, min(start + _BLOCK, len(part)))
        whole = spare[: block.stop - start]
        kept = slice(bounds[number], bounds[number + 1])
        products(part.codes[block], query, whole)
        whole *= part.scales[block]
        out[kept] = whole[rows[kept] - start]


def _rows(visible: Visible) -> NDArray[np.int64]:
    if visible.with_vector is None:
        return np.arange(visible.start, visible.start + len(visible.part))
    return visible.with_vector + visible.start
