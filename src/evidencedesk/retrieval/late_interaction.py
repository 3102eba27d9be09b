"""The best candidates reordered by how well their tokens match the question's, one by one.

Late interaction (Khattab and Zaharia, ColBERT, 2020) over stored token vectors, as a last step on
top of the fused score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import TokenVectors
from evidencedesk.retrieval.fusion import ranking
from evidencedesk.retrieval.words import QuestionWords
from evidencedesk.text.analysis import query_groups

REORDERED = 10
"""So many of the best candidates are reordered."""

WEIGHT = 0.42
"""Weight of the match, in deviations of the cosine, beside the fused score."""

_DECIMALS = 9
_RUN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class WeighedTokens:
    """The tokens of a question.

    Attributes:
        vectors: as the index keeps token vectors, shape (tokens, dimensions).
        weights: idf of the word that each token stands in, 0 for one that is not searched for; all 1
            where none is.
    """

    vectors: NDArray[np.float32]
    weights: NDArray[np.float64]

    @classmethod
    def of(
        cls, text: str, tokens: TokenVectors, words: QuestionWords, languages: Sequence[str]
    ) -> WeighedTokens:
        """The tokens of the question ``text`` with the weights of its words."""
        weights = np.zeros(len(tokens.spans))
        starts = np.array([span.start for span in tokens.spans], np.int64)
        ends = np.array([span.end for span in tokens.spans], np.int64)
        for run in _RUN.finditer(text):
            terms = {term for group in query_groups(run[0], languages) for term in group}
            weights[(starts < run.end()) & (ends > run.start())] = words.weight(terms)
        return cls(tokens.vectors, weights if weights.any() else np.ones_like(weights))

    def match(self, chunk: TokenVectors) -> float:
        """Weighted mean over the tokens of the best cosine in the chunk, [0, 1]."""
        if not len(self.weights):
            return 0.0
        # Not by BLAS: on a busy machine its threads wait longer for one another than this takes.
        cosines = np.einsum("td,qd->tq", chunk.vectors, self.vectors).max(axis=0, initial=0.0)
        return float(np.average(cosines.astype(np.float64), weights=self.weights))


def best_rows(scores: NDArray[np.float64]) -> list[int]:
    """The candidates to reorder, best first."""
    return [int(row) for row in ranking(scores)[:REORDERED]]


def reordered(
    scores: NDArray[np.float64],
    rows: Sequence[int],
    chunks: Sequence[TokenVectors],
    question: WeighedTokens,
    *,
    deviation: float,
) -> NDArray[np.float64]:
    """The scores, those of ``rows`` raised by .42 (M - least M) / deviation, M their matches.

    The least match is taken off so that whoever is reordered stays above whoever is not, and
    scores stay comparable with fused ones. As fused where the deviation is 0.

    Args:
        scores: fused scores of all candidates.
        rows: the best of them.
        chunks: their token vectors.
        question: the question's.
        deviation: of the cosine over every visible chunk.
    """
    if deviation <= 0 or not rows:
        return scores
    matches = np.array([question.match(chunk) for chunk in chunks])
    raised = scores.copy()
    raised[list(rows)] += WEIGHT * (matches - matches.min()) / deviation
    return np.round(raised, _DECIMALS)
