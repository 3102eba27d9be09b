"""BM25 over visible rows only, from our own postings.

PostgreSQL has no BM25, and ``ts_rank_cd`` is another thing. The server finds the postings of the
question's terms in the visible access classes, one index range per term and class, and hands them
over as they are stored; adding up is done here, with the very operations of the embedded store, so
that both give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.placing import ENTRY, signed_hash
from evidencedesk.adapters.stores.postgres.visible import Visible
from evidencedesk.adapters.stores.shared.bm25 import weights

_POSTINGS = """
SELECT term, string_agg(entries, '') FROM postings
WHERE generation = %s AND term = ANY (%s::bigint[]) AND class = ANY (%s::integer[]) GROUP BY term
"""
_NOTHING = np.zeros(0, ENTRY)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Visible chunks that hold a word of the question.

    Attributes:
        slots: which, ascending, int64 of shape (n,).
        scores: their BM25, float64 of shape (n,).
        frequencies: for each group, how many of them hold it, int64.
    """

    slots: NDArray[np.int64]
    scores: NDArray[np.float64]
    frequencies: NDArray[np.int64]

    def scores_of(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """BM25 of these chunks, 0 for those that do not match."""
        at = np.searchsorted(self.slots, slots)
        at[at == len(self.slots)] = 0
        if not len(self.slots):
            return np.zeros(len(slots))
        return np.where(self.slots[at] == slots, self.scores[at], 0.0)


def keyword_matches(
    connection: Connection, visible: Visible, groups: Sequence[Sequence[str]]
) -> Matches:
    """Score every visible chunk that holds a term of ``groups``."""
    hashes = [sorted({signed_hash(term) for term in group}) for group in groups]
    stored = _read(connection, visible, sorted({number for group in hashes for number in group}))
    held = [_summed([stored.get(number, _NOTHING) for number in group]) for group in hashes]
    slots = np.unique(np.concatenate([np.zeros(0, np.int64), *(each["slot"] for each in held)]))
    scores = np.zeros(len(slots))
    for entries in held:
        if len(entries):
            scores[np.searchsorted(slots, entries["slot"])] += weights(
                entries["count"],
                entries["length"],
                found=len(entries),
                chunks=visible.chunks,
                length=visible.length,
            )
    return Matches(slots, scores, np.array([len(each) for each in held], np.int64))


def _read(
    connection: Connection, visible: Visible, terms: Sequence[int]
) -> Mapping[int, NDArray[np.void]]:
    if not terms or not visible.chunks:
        return {}
    rows = connection.execute(
        _POSTINGS, (visible.generation, terms, visible.classes), binary=True
    ).fetchall()
    return {term: np.frombuffer(entries, ENTRY) for term, entries in rows}


def _summed(lists: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """Entries of one group: the frequencies of alternative terms in one chunk add up."""
    present = [entries for entries in lists if len(entries)]
    if len(present) <= 1:
        return present[0] if present else _NOTHING
    every = np.concatenate(present)
    slots, first, places = np.unique(every["slot"], return_index=True, return_inverse=True)
    summed = np.empty(len(slots), ENTRY)
    summed["slot"], summed["length"] = slots, every["length"][first]
    summed["count"] = np.bincount(places, weights=every["count"], minlength=len(slots))
    return summed
