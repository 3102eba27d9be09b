"""From what was found to the probability that it answers the question.

The shipped calibrations were fitted on XQuAD English (1,190 questions against six halves of its
paragraphs; right means that one of the two best sentences holds the whole gold answer) together with
MTRAG-UN (208 questions that are answerable or not; right means that a gold passage is among the top
three), at our own chunking. Slopes are common to both sets; intercepts are XQuAD's, moved down until
at most 10 % of what :data:`DEFAULT_THRESHOLD` lets through is wrong (9.2 % with token vectors, 9.1 %
with cosines, 9.2 % with keywords; between 7 and 11 % in each half). So the probability is a little
low on corpora like XQuAD and clearly low on conversational questions; refit it on questions of your
own. No such score sees that the topic is right and the fact missing.

Stored token vectors have the slopes of ``tokens`` and an intercept of their own, since cosines of
shortened vectors are higher: on XQuAD 9.7 % of what is shown is wrong (10.9 and 8.5 % in two halves).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DEFAULT_THRESHOLD = 0.5
"""Confidence below which nothing is answered: at most 10 % wrong among the shown (see above)."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What a calibration looks at; what is not known is 0.

    Attributes:
        max_similarity: MaxSim of the question and the best sentence, [0, 1].
        cosine: cosine of the question and the best sentence, [-1, 1].
        coverage: idf share of the question's words in the two best sentences and in the titles and
            headings above them, [0, 1].
        chunk_coverage: idf share of the question's words in the best sentence's chunk, its title
            and heading, [0, 1].
    """

    max_similarity: float = 0.0
    cosine: float = 0.0
    coverage: float = 0.0
    chunk_coverage: float = 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logistic regression from signals to a probability (Platt, 1999).

    Attributes:
        name: name and version, recorded with every answer.
        intercept: constant term.
        slopes: weight of each signal.
    """

    name: str
    intercept: float
    slopes: Signals

    def confidence(self, signals: Signals) -> float:
        """Probability in [0, 1], rounded to six decimals."""
        logit = math.fsum(
            (
                self.intercept,
                self.slopes.max_similarity * signals.max_similarity,
                self.slopes.cosine * signals.cosine,
                self.slopes.coverage * signals.coverage,
                self.slopes.chunk_coverage * signals.chunk_coverage,
            )
        )
        return round(1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit)))), 6)


@dataclass(frozen=True, slots=True)
class Calibrations:
    """One calibration for each way of looking at sentences."""

    tokens: Calibration
    stored: Calibration
    cosine: Calibration
    keywords: Calibration


SHIPPED = Calibrations(
    tokens=Calibration("tokens-1", -10.93, Signals(max_similarity=11.2, cosine=4.8, coverage=3.0)),
    stored=Calibration("stored-1", -11.2, Signals(max_similarity=11.2, cosine=4.8, coverage=3.0)),
    cosine=Calibration("cosine-1", -9.05, Signals(cosine=10.3, coverage=4.95)),
    keywords=Calibration("keywords-1", -5.1, Signals(chunk_coverage=8.0)),
)
"""AUROC on XQuAD and MTRAG-UN: tokens .960 and .907, cosine .953 and .894, keywords .942 and .774."""
