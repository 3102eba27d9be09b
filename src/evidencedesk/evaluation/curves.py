"""Risk against coverage, and confidence against what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evidencedesk.evaluation.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer: its confidence, and whether it is right."""

    confidence: float
    right: bool


def scored(outcomes: Sequence[Outcome]) -> list[Scored]:
    """The answers that were given, with whether each is right; abstentions are none."""
    return [
        Scored(one.confidence, one.scores["wrong_shown"] == 0.0)
        for one in outcomes
        if one.confidence is not None and one.scores.get("wrong_shown") is not None
    ]


def risk_coverage(answers: Sequence[Scored], questions: int) -> list[tuple[float, float]]:
    """(share of questions answered, share wrong among the answered), strictest threshold first.

    Answers of equal confidence are shown together or not at all (El-Yaniv and Wiener, 2010).
    """
    ordered = sorted(answers, key=lambda one: -one.confidence)
    points, wrong = [], 0
    for shown, one in enumerate(ordered, start=1):
        wrong += not one.right
        following = ordered[shown].confidence if shown < len(ordered) else None
        if following != one.confidence:
            points.append((shown / questions, wrong / shown))
    return points


def area_under(points: Sequence[tuple[float, float]]) -> float:
    """Area under a risk-coverage curve over the coverage that it spans; less is better, 0.0 of nothing."""
    if not points:
        return 0.0
    area, last = 0.0, 0.0
    for coverage, risk in points:
        area += (coverage - last) * risk
        last = coverage
    return area / last


def reliability(answers: Sequence[Scored], bins: int = 10) -> list[tuple[float, float, int]]:
    """(mean confidence, share right, answers) of each tenth of [0, 1] that holds any answer."""
    found = []
    for index in range(bins):
        held = [one for one in answers if min(int(one.confidence * bins), bins - 1) == index]
        if held:
            mean = sum(one.confidence for one in held) / len(held)
            found.append((mean, sum(one.right for one in held) / len(held), len(held)))
    return found


def calibration_error(answers: Sequence[Scored]) -> float:
    """Expected calibration error over ten bins (Naeini et al., 2015); 0.0 of nothing."""
    total = sum(count for _, _, count in reliability(answers))
    return sum(abs(m - r) * n for m, r, n in reliability(answers)) / total if total else 0.0


def auroc(answers: Sequence[Scored]) -> float | None:
    """Probability that a right answer has more confidence than a wrong one, ties half; None of one kind."""
    right = [one.confidence for one in answers if one.right]
    wrong = [one.confidence for one in answers if not one.right]
    if not right or not wrong:
        return None
    above = sum((a > b) + (a == b) / 2 for a in right for b in wrong)
    return above / (len(right) * len(wrong))
