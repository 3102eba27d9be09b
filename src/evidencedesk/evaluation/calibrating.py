"""From labelled questions to a confidence that means what it says, and a threshold with a guarantee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidencedesk.errors import GoldenSetError
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
_STARTS = 4
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
class Threshold:
    """A threshold and what it guarantees.

    Attributes:
        value: on the fitted probability; above 1 when no threshold keeps the target.
        target: largest share of wrong answers among the shown ones that is accepted.
        level: with this confidence the share of wrong answers among future shown ones is at most
            ``target``, for questions drawn as the labelled ones were.
        shown: labelled questions that are answered at it.
        wrong: wrong ones among them.
        bound: upper Clopper-Pearson bound at ``level`` for this threshold alone, for orientation;
            the guarantee also pays for having chosen among thresholds.
    """

    value: float
    target: float
    level: float
    shown: int
    wrong: int
    bound: float

    @property
    def found(self) -> bool:
        """Whether any threshold keeps the target."""
        return self.value <= 1.0

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {"found": self.found, **{name: getattr(self, name) for name in self.__slots__}}


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


def certified_threshold(answers: Sequence[Scored], target: float, level: float) -> Threshold:
    """The lowest threshold at which the share of wrong shown answers is under ``target``, guaranteed.

    Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei, 2021): "more than ``target`` wrong
    among the shown" is tested for one threshold after the other, strictest first, with the exact
    binomial tail as p-value, and a walk ends at the first threshold that does not reject (fixed
    sequence testing). Four walks start at counts of shown answers that depend on confidences alone,
    each with a quarter of the error ``1 - level``. Whatever stands on a walk before its end holds
    at once with probability ``level``. The map to probabilities is increasing and so changes which
    answers stand above which threshold not at all: the guarantee needs no second data set.
    """
    ordered = sorted(answers, key=lambda one: -one.confidence)
    cuts = _cuts(ordered)
    wrong = np.cumsum([not one.right for one in ordered])
    error = (1 - level) / _STARTS
    fewest = math.ceil(math.log(error) / math.log(1 - target)) if 0 < target < 1 else 1
    usable = [cut for cut in cuts if cut >= fewest]
    best = 0
    for index in sorted({round(k * (len(usable) - 1) / _STARTS) for k in range(_STARTS)}):
        for cut in usable[max(index, 0) :]:
            if binomial_tail(int(wrong[cut - 1]), cut, target) > error:
                break
            best = max(best, cut)
    if not best:
        return Threshold(math.nextafter(1.0, 2.0), target, level, 0, 0, 1.0)
    count = int(wrong[best - 1])
    value = math.floor(ordered[best - 1].confidence * 1e6) / 1e6
    return Threshold(value, target, level, best, count, upper_bound(count, best, level))


def binomial_tail(wrong: int, shown: int, rate: float) -> float:
    """Probability of at most ``wrong`` in ``shown`` trials of probability ``rate``."""
    if rate <= 0 or wrong >= shown:
        return 1.0
    if rate >= 1:
        return 0.0
    logs = (
        math.lgamma(shown + 1)
        - math.lgamma(k + 1)
        - math.lgamma(shown - k + 1)
        + k * math.log(rate)
        + (shown - k) * math.log1p(-rate)
        for k in range(wrong + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))


def upper_bound(wrong: int, shown: int, level: float) -> float:
    """Upper confidence bound on the share of wrong (Clopper and Pearson, 1934), one-sided."""
    if wrong >= shown:
        return 1.0
    low, high = wrong / shown, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if binomial_tail(wrong, shown, middle) > 1 - level:
            low = middle
        else:
            high = middle
    return high


def _cuts(ordered: Sequence[Scored]) -> list[int]:
    """Counts of answers that a threshold can show: never half of those with equal confidence."""
    following = [*(one.confidence for one in ordered[1:]), None]
    return [
        count
        for count, (one, after) in enumerate(zip(ordered, following, strict=True), start=1)
        if one.confidence != after
    ]


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
    """``tokens``, ``cosine`` or ``keywords``: how the sentences it is for were looked at."""
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
