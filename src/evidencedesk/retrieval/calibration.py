"""From what was found to the probability that it answers the question."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signals:
    """What a calibration looks at.

    Attributes:
        similarity: of the question and the best sentence: MaxSim for token vectors, the cosine for
            sentence vectors, 0 for keywords only.
        coverage: idf share of the question's words that stand in the two best sentences, [0, 1].
    """

    similarity: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logistic regression from signals to a probability (Platt, 1999).

    Attributes:
        name: recorded with every answer.
        similarity: weight of ``Signals.similarity``.
        coverage: weight of ``Signals.coverage``.
        intercept: constant term.
    """

    name: str
    similarity: float
    coverage: float
    intercept: float

    def confidence(self, signals: Signals) -> float:
        """Probability in [0, 1], rounded to six decimals."""
        logit = (
            self.similarity * signals.similarity + self.coverage * signals.coverage + self.intercept
        )
        return round(1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit)))), 6)


@dataclass(frozen=True, slots=True)
class Calibrations:
    """One calibration for each way of looking at sentences."""

    tokens: Calibration
    cosine: Calibration
    keywords: Calibration


SHIPPED = Calibrations(
    tokens=Calibration("tokens-1", 16.7, 5.2, -12.2),
    cosine=Calibration("cosine-1", 7.2, 7.9, -8.0),
    keywords=Calibration("keywords-1", 0.0, 9.0, -6.0),
)

DEFAULT_THRESHOLD = 0.5
