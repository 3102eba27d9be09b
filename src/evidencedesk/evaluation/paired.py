"""Two runs over the same questions: is the difference more than luck?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PERMUTATIONS = 10_000
_EXACT_UP_TO = 13
ALPHA = 0.05
NO_DIFFERENCE = "no difference shown"


@dataclass(frozen=True, slots=True)
class Difference:
    """How one metric differs between two runs, over the questions that both scored.

    Attributes:
        metric: its name.
        before: mean in the first run; None when no question was scored in both.
        after: mean in the second run.
        change: ``after - before``.
        low: lower end of the 95 % interval of ``change`` (paired bootstrap).
        high: upper end.
        effect: ``change`` over the standard deviation of the questions' differences (Cohen's d_z);
            0 when nothing differs, infinite when all differ alike.
        p_value: of the paired permutation test.
        questions: questions scored in both.
        conclusion: ``better``, ``worse`` or ``no difference shown``.
    """

    metric: str
    before: float | None
    after: float | None
    change: float | None
    low: float | None
    high: float | None
    effect: float | None
    p_value: float
    questions: int
    conclusion: str = NO_DIFFERENCE

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape; an infinite effect is written as null."""
        effect = self.effect if self.effect is not None and math.isfinite(self.effect) else None
        return {
            "metric": self.metric,
            "before": self.before,
            "after": self.after,
            "change": self.change,
            "low": self.low,
            "high": self.high,
            "effect": effect,
            "p_value": self.p_value,
            "questions": self.questions,
            "conclusion": self.conclusion,
        }


def difference_of(
    metric: str,
    before: Sequence[float | None],
    after: Sequence[float | None],
    random: np.random.Generator,
) -> Difference:
    """The difference without a conclusion; scores of one question stand at one position.

    Raises:
        ValueError: the two are not equally long.
    """
    pairs = np.array(
        [
            (a, b)
            for a, b in zip(before, after, strict=True)
            if a is not None and b is not None and math.isfinite(a) and math.isfinite(b)
        ]
    ).reshape(-1, 2)
    if not len(pairs):
        return Difference(metric, None, None, None, None, None, None, 1.0, 0)
    changes = pairs[:, 1] - pairs[:, 0]
    deviation = float(changes.std(ddof=1)) if len(changes) > 1 else 0.0
    change = float(changes.mean())
    low, high = _interval(changes, random)
    return Difference(
        metric=metric,
        before=float(pairs[:, 0].mean()),
        after=float(pairs[:, 1].mean()),
        change=change,
        low=low,
        high=high,
        effect=change / deviation
        if deviation > 0
        else math.copysign(math.inf, change)
        if change
        else 0.0,
        p_value=permutation_p(changes, random),
        questions=len(pairs),
    )


def permutation_p(changes: NDArray[np.float64], random: np.random.Generator) -> float:
    """Two-sided p-value of a mean change of 0, by flipping signs (Fisher, 1935; Pitman, 1937).

    Under the hypothesis that the two runs are alike, each question's change might as well have had
    the other sign. All flips are tried for up to 13 changes, else 10,000 at random with the observed
    one counted in, so that the error rate is at most the level asked for (Phipson and Smyth, 2010).
    """
    moved = changes[changes != 0]
    if not len(moved):
        return 1.0
    observed = abs(moved.sum()) - 1e-12
    if len(moved) <= _EXACT_UP_TO:
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(moved))))
        return float(np.mean(np.abs(signs @ moved) >= observed))
    signs = random.integers(0, 2, (PERMUTATIONS, len(moved)), dtype=np.int8) * np.float32(2) - 1
    reached = int(np.sum(np.abs(signs @ moved) >= observed))
    return (reached + 1) / (PERMUTATIONS + 1)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p-values adjusted for there being several (Holm, 1979): compare each with the level itself."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [1.0] * len(p_values)
    reached = 0.0
    for rank, index in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = reached
    return tuple(adjusted)


def _interval(changes: NDArray[np.float64], random: np.random.Generator) -> tuple[float, float]:
    drawn = changes[random.integers(0, len(changes), (2000, len(changes)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
