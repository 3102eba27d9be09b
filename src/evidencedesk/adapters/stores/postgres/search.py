"""One search over what a reader may see: both scores, their statistics, and the best by either."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.keyword import keyword_matches
from evidencedesk.adapters.stores.postgres.similarity import nearest
from evidencedesk.adapters.stores.postgres.visible import Visible
from evidencedesk.adapters.stores.shared.candidates import best_by_either, nearest_wanted
from evidencedesk.adapters.stores.shared.moments import moments
from evidencedesk.adapters.stores.shared.selection import best
from evidencedesk.model import Candidates, ScoreStatistics, StoreQuery

_VECTORS = (
    "SELECT slot, vector FROM chunks WHERE slot = ANY (%s::bigint[]) "
    "AND class = ANY (%s::integer[]) AND vector IS NOT NULL ORDER BY slot"
)


def search(connection: Connection, visible: Visible, query: StoreQuery) -> Candidates:
    """The candidates among the visible chunks."""
    matches = keyword_matches(connection, visible, query.term_groups)
    by_keyword = matches.slots[best(matches.scores, query.candidates)]
    keyword_mean, keyword_deviation = moments(matches.scores, visible.chunks)
    near = nearest(connection, visible, query.vector, nearest_wanted(query.candidates))

    def read(keys: NDArray[np.int64]) -> list[tuple[int, bytes]]:
        return connection.execute(
            _VECTORS, (keys.tolist(), visible.classes), binary=True
        ).fetchall()

    keys, vectors, cosines = best_by_either(
        by_keyword, near.slots, query.vector, read, query.candidates
    )
    return Candidates(
        keys=keys,
        keyword_scores=matches.scores_of(keys),
        vector_scores=cosines,
        vectors=vectors,
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
