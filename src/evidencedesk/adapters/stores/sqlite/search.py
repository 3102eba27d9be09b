"""One search over one view: both scores, their statistics, and the best by either."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.candidates import best_by_either, nearest_wanted
from evidencedesk.adapters.stores.shared.moments import moments
from evidencedesk.adapters.stores.shared.selection import best
from evidencedesk.adapters.stores.sqlite.keyword import keyword_scores
from evidencedesk.adapters.stores.sqlite.similarity import (
    Products,
    approximate_cosines,
)
from evidencedesk.adapters.stores.sqlite.view import View
from evidencedesk.model import Candidates, ScoreStatistics, StoreQuery

_VECTORS = (
    "SELECT slot, vector FROM vectors WHERE slot IN (SELECT value FROM json_each(?)) ORDER BY slot"
)


def search(
    connection: sqlite3.Connection, view: View, query: StoreQuery, products: Products
) -> Candidates:
    """The candidates among the rows of ``view``; vectors are read through ``connection``."""
    scores, frequencies = keyword_scores(view, query.term_groups)
    matching = np.flatnonzero(scores)
    by_keyword = view.keys_at(matching[best(scores[matching], query.candidates)])
    keyword_mean, keyword_deviation = moments(scores[matching], view.chunks)
    nearest, vector_mean, vector_deviation = _nearest(view, query, products)

    def read(keys: NDArray[np.int64]) -> list[tuple[int, bytes]]:
        return connection.execute(_VECTORS, (json.dumps(keys.tolist()),)).fetchall()

    keys, vectors, cosines = best_by_either(
        by_keyword, nearest, query.vector, read, query.candidates
    )
    return Candidates(
        keys=keys,
        keyword_scores=scores[view.positions_of(keys)],
        vector_scores=cosines,
        vectors=vectors,
        statistics=ScoreStatistics(
            chunks=view.chunks,
            keyword_mean=keyword_mean,
            keyword_deviation=keyword_deviation,
            vectors=view.vectors,
            vector_mean=vector_mean,
            vector_deviation=vector_deviation,
        ),
        group_frequencies=frequencies,
    )


def _nearest(
    view: View, query: StoreQuery, products: Products
) -> tuple[NDArray[np.int64], float, float]:
    """Keys of the rows worth scoring exactly, and mean and deviation of all cosines."""
    if query.vector is None or not view.vectors:
        return np.zeros(0, np.int64), 0.0, 0.0
    cosines, positions = approximate_cosines(view, query.vector, products)
    nearest = best(cosines, nearest_wanted(query.candidates))
    keys = view.keys_at(nearest if positions is None else positions[nearest])
    return keys, *moments(cosines, view.vectors)
