"""One search over one view: both scores, their statistics, and the best by either."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.cosines import exact_cosines
from evidencedesk.adapters.stores.shared.moments import moments
from evidencedesk.adapters.stores.shared.selection import best
from evidencedesk.adapters.stores.sqlite.keyword import keyword_scores
from evidencedesk.adapters.stores.sqlite.similarity import (
    Products,
    approximate_cosines,
)
from evidencedesk.adapters.stores.sqlite.view import View
from evidencedesk.model import Candidates, ScoreStatistics, StoreQuery

RESCORED_SHARE = 0.5
RESCORED_LEAST = 32
"""Beyond the candidates asked for, half as many rows, and these at least, are scored again with
float32 vectors. Codes misplace a cosine by about 0.001; among 100,000 random vectors, some 20 lie as
close as that to the hundredth best."""


def search(
    connection: sqlite3.Connection, view: View, query: StoreQuery, products: Products
) -> Candidates:
    """The candidates among the rows of ``view``; vectors are read through ``connection``."""
    scores, frequencies = keyword_scores(view, query.term_groups)
    matching = np.flatnonzero(scores)
    by_keyword = view.keys_at(matching[best(scores[matching], query.candidates)])
    keyword_mean, keyword_deviation = moments(scores[matching], view.chunks)
    nearest, vector_mean, vector_deviation = _nearest(view, query, products)
    read = np.union1d(by_keyword, nearest)
    vectors, cosines = _read_vectors(connection, read, query.vector)
    similar = np.isin(read, nearest, assume_unique=True)
    kept = np.isin(read, by_keyword, assume_unique=True)
    kept[np.flatnonzero(similar)[best(cosines[similar], query.candidates)]] = True
    keys = read[kept]
    return Candidates(
        keys=keys,
        keyword_scores=scores[view.positions_of(keys)],
        vector_scores=cosines[kept],
        vectors=vectors[kept],
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
    more = max(RESCORED_LEAST, int(RESCORED_SHARE * query.candidates))
    nearest = best(cosines, query.candidates + more)
    keys = view.keys_at(nearest if positions is None else positions[nearest])
    return keys, *moments(cosines, view.vectors)


def _read_vectors(
    connection: sqlite3.Connection, keys: NDArray[np.int64], query: NDArray[np.float32] | None
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Vectors of ``keys`` and their cosines with ``query``: zeros and NaN where there is none."""
    cosines = np.full(len(keys), np.nan)
    vectors = np.zeros((len(keys), 0 if query is None else len(query)), np.float32)
    if query is None or not len(keys):
        return vectors, cosines
    found = connection.execute(
        "SELECT slot, vector FROM vectors WHERE slot IN (SELECT value FROM json_each(?)) "
        "ORDER BY slot",
        (json.dumps(keys.tolist()),),
    ).fetchall()
    present = np.searchsorted(keys, np.array([slot for slot, _ in found], np.int64))
    blobs = b"".join(blob for _, blob in found)
    vectors[present] = np.frombuffer(blobs, "<f4").reshape(len(found), len(query))
    cosines[present] = exact_cosines(vectors[present], query)
    return vectors, cosines
