"""Products of a large matrix on several cores at once."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.sqlite.similarity import Products

LEAST_ROWS = 8192
"""A thread is told within some 50 microseconds; so many rows take three times as long."""


class SpreadProducts:
    """The same products as ``products``, of runs of rows side by side; rows do not mix.

    Safe for threads. Threads start with the first large matrix.

    Args:
        products: gives the products of one run; must let go of the interpreter to gain anything.
        cores: how many runs at most, the calling thread's included; at least 1.
    """

    def __init__(self, products: Products, cores: int) -> None:
        self._products = products
        self._cores = cores
        self._pool = ThreadPoolExecutor(max(1, cores - 1), thread_name_prefix="evidencedesk-scan")

    def __call__(
        self, codes: NDArray[np.int8], query: NDArray[np.int8], out: NDArray[np.float64]
    ) -> None:
        """Put the products of ``codes`` (n, d) with ``query`` (d,) into ``out`` (n,)."""
        runs = max(1, min(self._cores, len(codes) // LEAST_ROWS))
        bounds = [len(codes) * number // runs for number in range(runs + 1)]
        spans = [slice(*pair) for pair in itertools.pairwise(bounds)]
        elsewhere = [
            self._pool.submit(self._products, codes[span], query, out[span]) for span in spans[1:]
        ]
        self._products(codes[spans[0]], query, out[spans[0]])
        for run in elsewhere:
            run.result()

    def close(self) -> None:
        """Let the threads end; may be called twice."""
        self._pool.shutdown()
