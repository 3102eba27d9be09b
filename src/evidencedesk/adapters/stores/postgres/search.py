"""One search over what a reader may see: both scores, their statistics, and the best by either."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.keyword import keyword_matches
from evidencedesk.adapters.stores.postgres.similarity import nearest
from evidencedesk.adapters.stores.postgres.visible import Visible
from evidencedesk.adapters.stores.shared.cosines import exact_cosines
from evidencedesk.adapters.stores.shared.moments import moments
from evidencedesk.adapters.stores.shared.selection import best
from evidencedesk.adapters.stores.sqlite.search import RESCORED_LEAST, RESCORED_SHARE
from evidencedesk.model import Candidates, ScoreStatistics, StoreQuery


def search(connection: Connection, visible: Visible, query: StoreQuery) -> Candidates:
    """The candidates among the visible chunks."""
    matches = keyword_matches(connection, visible, query.term_groups)
    by_keyword = matches.slots[best(matches.scores, query.candidates)]
    keyword_mean, keyword_deviation = moments(matches.scores, visible.chunks)
    more = max(RESCORED_LEAST, int(RESCORED_SHARE * query.candidates))
    near = nearest(connection, visible, query.vector, query.candidates + more)
    read = np.union1d(by_keyword, near.slots)
    vectors, cosines = _read_vectors(connection, visible, read, query.vector)
    similar = np.isin(read, near.slots, assume_unique=True)
    kept = np.isin(read, by_keyword, assume_unique=True)
    kept[np.flatnonzero(similar)[best(cosines[similar], query.candidates)]] = True
    keys = read[kept]
    return Candidates(
        keys=keys,
        keyword_scores=matches.scores_of(keys),
        vector_scores=cosines[kept],
        vectors=vectors[kept],
        statistics=ScoreStatistics(
            chunks=visible.chunks,
            keyword_mean=keyword_mean,
            keyword_deviation=keyword_deviation,
            vectors=visible.vectors,
            vector_mean=near.mean,
            vector_deviation=near.deviation,
        ),
        group_frequencies=matches.frequencies,
    )


def _read_vectors(
    connection: Connection,
    visible: Visible,
    keys: NDArray[np.int64],
    query: NDArray[np.float32] | None,
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Vectors of ``keys`` and their cosines with ``query``: zeros and NaN where there is none."""
    cosines = np.full(len(keys), np.nan)
    vectors = np.zeros((len(keys), 0 if query is None else len(query)), np.float32)
    if query is None or not len(keys):
        return vectors, cosines
    found = connection.execute(
        "SELECT slot, vector FROM chunks WHERE slot = ANY (%s::bigint[]) "
        "AND class = ANY (%s::integer[]) AND vector IS NOT NULL ORDER BY slot",
        (keys.tolist(), visible.classes),
        binary=True,
    ).fetchall()
    present = np.searchsorted(keys, np.array([slot for slot, _ in found], np.int64))
    blobs = b"".join(blob for _, blob in found)
    vectors[present] = np.frombuffer(blobs, "<f4").reshape(len(found), len(query))
    cosines[present] = exact_cosines(vectors[present], query)
    return vectors, cosines
