"""From labelled questions to a confidence that means what it says, and a threshold with a guarantee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidencedesk.errors import GoldenSetError
from evidencedesk.evaluation.certifying import Threshold, certified_threshold
from evidencedesk.evaluation.curves import (
    Scored,
    area_under,
    auroc,
    calibration_error,
    risk_coverage,
)
from evidencedesk.retrieval import SHIPPED, Calibration, Calibrations, Signals

FEWEST = 20
FOLDS = 5
_EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class Line:
    """``probability = sigmoid(slope * logit(confidence) + intercept)``."""

    slope: float
    intercept: float

    def of(self, confidence: float) -> float:
        """The probability for a confidence of the calibration that was refitted."""
        return _sigmoid(self.slope * _logit(confidence) + self.intercept)


@dataclass(frozen=True, slots=True)
class CalibrationFit:
    """What ``calibrate`` found.

    Attributes:
        calibrations: to store; ways of looking at sentences that were not seen are the shipped ones.
        line: the map from the confidence before to the one after.
        answers: each answer with its cross-validated probability.
        before: each with the confidence before.
        questions: labelled questions asked.
        threshold: see :class:`Threshold`.
    """

    calibrations: Calibrations
    line: Line
    answers: tuple[Scored, ...]
    before: tuple[Scored, ...]
    questions: int
    threshold: Threshold

    def to_json(self) -> dict[str, Any]:
        """Figures; the calibrations themselves are written by whoever stores them."""
        points = risk_coverage(self.answers, self.questions)
        return {
            "questions": self.questions,
            "answers": len(self.answers),
            "right": sum(one.right for one in self.answers),
            "slope": self.line.slope,
            "intercept": self.line.intercept,
            "auroc": auroc(self.before),
            "calibration_error_before": calibration_error(self.before),
            "calibration_error_after": calibration_error(self.answers),
            "risk_coverage_area": area_under(points),
            "threshold": self.threshold.to_json(),
        }


def fit_calibration(
    answers: Sequence[Scored],
    *,
    used: Calibration,
    questions: int,
    name: str,
    target: float = 0.1,
    level: float = 0.9,
    random: np.random.Generator,
) -> CalibrationFit:
    """Refit a calibration on labelled questions that were answered without any threshold.

    Args:
        answers: each answer's confidence by ``used``, and whether it is right.
        used: the calibration that gave those confidences.
        questions: how many questions were asked, those without an answer included.
        name: what the new calibration is called; recorded with every answer.
        target: share of wrong answers among the shown ones to stay under.
        level: confidence of that.
        random: draws the folds.

    Raises:
        GoldenSetError: ``golden_too_few`` below 20 answers; ``golden_one_kind`` when all are right
            or all are wrong; ``golden_no_signal`` when confidence is no higher for right ones.
    """
    known = [one for one in answers if math.isfinite(one.confidence)]
    _check(known)
    x = np.array([_logit(one.confidence) for one in known])
    y = np.array([one.right for one in known], dtype=np.float64)
    line = platt(x, y)
    if line.slope <= 0:
        raise GoldenSetError(
            "Confidence is no higher for right answers than for wrong ones.",
            code="golden_no_signal",
            hint="Check the labels; `evidencedesk eval report` shows the worst questions.",
        )
    return CalibrationFit(
        calibrations=_recalibrated(used, line, name),
        line=line,
        answers=tuple(
            Scored(p, one.right)
            for p, one in zip(_cross_validated(x, y, random), known, strict=True)
        ),
        before=tuple(known),
        questions=questions,
        threshold=certified_threshold(
            [Scored(line.of(one.confidence), one.right) for one in known], target, level
        ),
    )


def platt(x: NDArray[np.float64], y: NDArray[np.float64]) -> Line:
    """Logistic regression of ``y`` on ``x`` with smoothed targets.

    Platt, Probabilistic outputs for support vector machines, 1999; by Newton's method with step
    halving, as Lin, Lin and Weng, A note on Platt's probabilistic outputs, 2007. The targets (n+ + 1) / (n+ + 2) and 1 / (n- + 2) keep the slope finite where a threshold parts
    right from wrong without an error.
    """
    right, wrong = float(y.sum()), float(len(y) - y.sum())
    targets = np.where(y > 0, (right + 1) / (right + 2), 1 / (wrong + 2))
    design = np.stack([x, np.ones_like(x)], axis=1)
    weights = np.array([0.0, math.log((right + 1) / (wrong + 1))])
    loss = _loss(design, targets, weights)
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(design @ weights, -60, 60)))
        gradient = design.T @ (p - targets)
        if np.abs(gradient).max() < 1e-9:
            break
        hessian = (design * (p * (1 - p))[:, None]).T @ design + 1e-12 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-10 and _loss(design, targets, weights - size * step) > loss:
            size /= 2
        weights = weights - size * step
        loss = _loss(design, targets, weights)
    return Line(float(weights[0]), float(weights[1]))


def _check(answers: Sequence[Scored]) -> None:
    if len(answers) < FEWEST:
        raise GoldenSetError(
            f"{len(answers)} answers are too few to calibrate on; {FEWEST} are the least.",
            code="golden_too_few",
            hint="Label more questions: `evidencedesk eval add`.",
        )
    right = sum(one.right for one in answers)
    if right in (0, len(answers)):
        raise GoldenSetError(
            f"All {len(answers)} answers are {'right' if right else 'wrong'}: nothing to tell apart.",
            code="golden_one_kind",
            hint="A set for calibration needs answerable and unanswerable questions.",
        )


def _cross_validated(
    x: NDArray[np.float64], y: NDArray[np.float64], random: np.random.Generator
) -> list[float]:
    """Each answer's probability by a line fitted on the other folds; right and wrong are spread evenly."""
    fold = np.empty(len(x), dtype=int)
    for kind in (0.0, 1.0):
        members = random.permutation(np.flatnonzero(y == kind))
        fold[members] = np.arange(len(members)) % FOLDS
    lines = [platt(x[fold != held], y[fold != held]) for held in range(FOLDS)]
    return [
        _sigmoid(lines[held].slope * value + lines[held].intercept)
        for value, held in zip(x, fold, strict=True)
    ]


def _recalibrated(used: Calibration, line: Line, name: str) -> Calibrations:
    mode = mode_of(used)
    slopes = Signals(
        max_similarity=used.slopes.max_similarity * line.slope,
        cosine=used.slopes.cosine * line.slope,
        coverage=used.slopes.coverage * line.slope,
        chunk_coverage=used.slopes.chunk_coverage * line.slope,
    )
    fitted = Calibration(f"{mode}-{name}", used.intercept * line.slope + line.intercept, slopes)
    return replace(SHIPPED, **{mode: fitted})


def mode_of(calibration: Calibration) -> str:
    """``tokens``, ``stored``, ``cosine`` or ``keywords``: how the sentences it is for were looked at."""
    return calibration.name.partition("-")[0]


def _loss(
    design: NDArray[np.float64], targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> float:
    margin = design @ weights
    return float(np.sum(np.logaddexp(0, margin) - targets * margin))


def _logit(confidence: float) -> float:
    inside = min(max(confidence, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, value))))
