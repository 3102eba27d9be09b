"""Ranking metrics; each takes one question's ranking, best first, and gives a number in [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np


def recall_at_k(retrieved: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Share of ``relevant`` among the first ``k`` of ``retrieved``; 0.0 when nothing is relevant.

    Raises:
        ValueError: ``k`` is below 1.
    """
    wanted = set(relevant)
    found = wanted.intersection(retrieved[: _positive(k)])
    return len(found) / len(wanted) if wanted else 0.0


def ndcg_at_k(retrieved: Sequence[str], relevance: Mapping[str, float], k: int) -> float:
    """Normalised discounted cumulative gain of the first ``k`` (Järvelin and Kekäläinen, 2002).

    Gains are linear and discounted by log2(rank + 1), as trec_eval does it; an item listed twice
    counts once, a negative gain as 0. 0.0 when nothing has gain.

    Raises:
        ValueError: ``k`` is below 1.
    """
    distinct = list(dict.fromkeys(retrieved))[: _positive(k)]
    gained = _discounted(max(0.0, relevance.get(item, 0.0)) for item in distinct)
    ideal = _discounted(max(0.0, gain) for gain in sorted(relevance.values(), reverse=True)[:k])
    return gained / ideal if ideal else 0.0


def precision_at_k(retrieved: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Share of the first ``k`` that is relevant, of ``k`` and not of what was found.

    Raises:
        ValueError: ``k`` is below 1.
    """
    return len(set(relevant).intersection(retrieved[: _positive(k)])) / k


def trec_order(scores: Mapping[str, float]) -> tuple[str, ...]:
    """Items best first as trec_eval orders them: scores as 32-bit floats, ties by id from z to a.

    A score that is not a number orders last.
    """

    def place(item: str) -> tuple[float, bytes]:
        score = np.float32(scores[item])
        return (-math.inf if np.isnan(score) else float(score), item.encode())

    return tuple(sorted(scores, key=place, reverse=True))


def reciprocal_rank(retrieved: Sequence[str], relevant: Collection[str]) -> float:
    """One over the rank of the first relevant item; 0.0 when there is none."""
    wanted = set(relevant)
    ranks = (rank for rank, item in enumerate(retrieved, start=1) if item in wanted)
    return next((1 / rank for rank in ranks), 0.0)


def mrr(rankings: Iterable[tuple[Sequence[str], Collection[str]]]) -> float:
    """Mean reciprocal rank over (retrieved, relevant) pairs; 0.0 when there are none."""
    values = [reciprocal_rank(retrieved, relevant) for retrieved, relevant in rankings]
    return math.fsum(values) / len(values) if values else 0.0


def _discounted(gains: Iterable[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _positive(k: int) -> int:
    if k < 1:
        raise ValueError(f"k must be 1 or more, not {k!r}.")
    return k
