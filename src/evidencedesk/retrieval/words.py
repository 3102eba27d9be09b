"""The words of a question, each with what it is worth among what the reader may see."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from evidencedesk.model import Candidates


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question.

    Attributes:
        groups: alternative terms of each word.
        weights: idf of each word, ln(1 + (N - df + .5) / (df + .5)) over visible chunks.
    """

    groups: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, groups: tuple[tuple[str, ...], ...], found: Candidates) -> QuestionWords:
        """The words with the weights that a search reported."""
        visible = found.statistics.chunks
        frequencies = (int(frequency) for frequency in found.group_frequencies)
        return cls(groups, tuple(_idf(visible, frequency) for frequency in frequencies))

    def coverage(self, terms: Iterable[str]) -> float:
        """Share of the words' weight that ``terms`` hold, [0, 1]; 0.0 for a question without words."""
        total = math.fsum(self.weights)
        if total <= 0:
            return 0.0
        return self.weight(terms) / total

    def weight(self, terms: Iterable[str]) -> float:
        """Sum of the weights of the words that ``terms`` hold."""
        return math.fsum(self._weights_of(frozenset(terms)))

    def _weights_of(self, held: frozenset[str]) -> Iterable[float]:
        for group, weight in zip(self.groups, self.weights, strict=True):
            if not held.isdisjoint(group):
                yield weight


def _idf(visible: int, frequency: int) -> float:
    return math.log(1 + (visible - frequency + 0.5) / (frequency + 0.5))
