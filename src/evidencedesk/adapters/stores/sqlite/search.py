"""One search over one view: both scores, their statistics, and the best by either."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.sqlite.keyword import keyword_scores
from evidencedesk.adapters.stores.sqlite.moments import moments
from evidencedesk.adapters.stores.sqlite.selection import best
from evidencedesk.adapters.stores.sqlite.similarity import (
    Products,
    approximate_cosines,
    exact_cosines,
)
from evidencedesk.adapters.stores.sqlite.view import View
from evidencedesk.model import Candidates, ScoreStatistics, StoreQuery

RESCORED = 4
"""How many times ``candidates`` rows are scored again with float32 vectors."""


@dataclass(frozen=True, slots=True, eq=False)
class _Similar:
    """What the vector half found: keys of its best, ascending, and statistics."""

    keys: NDArray[np.int64]
    mean: float
    deviation: float


def search(
    connection: sqlite3.Connection, view: View, query: StoreQuery, products: Products
) -> Candidates:
    """The candidates among the rows of ``view``; vectors are read through ``connection``."""
    scores, frequencies = keyword_scores(view, query.term_groups)
    matching = np.flatnonzero(scores)
    by_keyword = matching[best(scores[matching], query.candidates)]
    keyword_mean, keyword_deviation = moments(scores[matching], view.chunks)
    similar = _similar(connection, view, query, products)
    keyword_keys = view.keys_at(by_keyword)
    keys = np.union1d(keyword_keys, similar.keys)
    vectors, present = read_vectors(connection, keys.tolist(), query.vector)
    cosines = np.full(len(keys), np.nan)
    if query.vector is not None:
        cosines[present] = exact_cosines(vectors[present], query.vector)
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
            vector_mean=similar.mean,
            vector_deviation=similar.deviation,
        ),
        group_frequencies=frequencies,
    )


def _similar(
    connection: sqlite3.Connection, view: View, query: StoreQuery, products: Products
) -> _Similar:
    if query.vector is None or not view.vectors:
        return _Similar(np.zeros(0, np.int64), 0.0, 0.0)
    cosines, positions = approximate_cosines(view, query.vector, products)
    mean, deviation = moments(cosines, view.vectors)
    nearest = best(cosines, RESCORED * query.candidates)
    keys = view.keys_at(nearest if positions is None else positions[nearest])
    vectors, _ = read_vectors(connection, keys.tolist(), query.vector)
    exact = exact_cosines(vectors, query.vector)
    return _Similar(keys[best(exact, query.candidates)], mean, deviation)


def read_vectors(
    connection: sqlite3.Connection, keys: Sequence[int], like: NDArray[np.float32] | None
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Float32 vectors of ``keys``, rows of zeros where there is none, and which there are."""
    present = np.zeros(len(keys), np.bool_)
    vectors = np.zeros((len(keys), 0 if like is None else len(like)), np.float32)
    if like is None or not keys:
        return vectors, present
    found = connection.execute(
        "SELECT slot, vector FROM vectors WHERE slot IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )
    row_of = {key: row for row, key in enumerate(keys)}
    for slot, blob in found:
        vectors[row_of[slot]] = np.frombuffer(blob, "<f4")
        present[row_of[slot]] = True
    return vectors, present
