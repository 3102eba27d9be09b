"""Runs against a first one: which metrics moved, by how much, and whether that is more than luck."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evidencedesk.errors import GoldenSetError
from evidencedesk.evaluation.outcomes import Outcome, Run
from evidencedesk.evaluation.paired import ALPHA, NO_DIFFERENCE, Difference, difference_of, holm
from evidencedesk.evaluation.summary import METRICS

DECIDING = ("fact_coverage", "wrong_shown", "leaked", "ndcg@10")
"""What decides whether a run is worse: p-values are adjusted over these together."""

_LATENCY = "latency_ms"


@dataclass(frozen=True, slots=True)
class Changed:
    """A question whose outcome is another one: metric, value before, value after."""

    question_id: str
    question: str
    metric: str
    before: float
    after: float

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run against the first.

    Attributes:
        before: id of the first run.
        after: id of the other.
        name: what was varied.
        differences: each metric scored in both, with its conclusion.
        changed: questions whose deciding metrics changed.
        settings: settings that differ: before and after.
        warnings: what else differs between the runs.
    """

    before: str
    after: str
    name: str
    differences: tuple[Difference, ...]
    changed: tuple[Changed, ...]
    settings: Mapping[str, tuple[Any, Any]]
    warnings: tuple[str, ...] = ()

    @property
    def worse(self) -> bool:
        """Whether a deciding metric is shown to be worse, or anything leaks that did not."""
        deciding = {one.metric: one for one in self.differences if one.metric in DECIDING}
        leaks = deciding.get("leaked")
        more_leaks = leaks is not None and (leaks.change or 0) > 0
        return more_leaks or any(one.conclusion == "worse" for one in deciding.values())

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {
            "before": self.before,
            "after": self.after,
            "name": self.name,
            "worse": self.worse,
            "differences": [one.to_json() for one in self.differences],
            "changed": [one.to_json() for one in self.changed],
            "settings": {name: list(pair) for name, pair in self.settings.items()},
            "warnings": list(self.warnings),
        }


def compare_runs(
    first: Run, others: Sequence[Run], random: np.random.Generator
) -> list[Comparison]:
    """Each of ``others`` against ``first``, question by question.

    A metric is ``better`` or ``worse`` where the paired permutation test rejects at 5 %, with
    p-values adjusted (Holm) over all comparisons of the same family: the deciding metrics of all
    ``others`` are one family, the other metrics another. Elsewhere the conclusion is "no difference
    shown", which is not "the same".

    Raises:
        GoldenSetError: ``golden_differs`` when the runs share no question.
    """
    pairs = [_paired(first, other) for other in others]
    compared = [_differences(pair, random) for pair in pairs]
    concluded = _concluded(compared)
    return [
        Comparison(
            before=first.id,
            after=other.id,
            name=other.name,
            differences=tuple(found),
            changed=tuple(_changed(pair)),
            settings=_settings(first, other),
            warnings=tuple(_warnings(first, other, len(pair))),
        )
        for other, pair, found in zip(others, pairs, concluded, strict=True)
    ]


def _paired(first: Run, other: Run) -> list[tuple[Outcome, Outcome]]:
    asked = {one.id: one for one in first.outcomes}
    pairs = [
        (asked[one.id], one)
        for one in other.outcomes
        if one.id in asked and asked[one.id].question == one.question
    ]
    if not pairs:
        raise GoldenSetError(
            f"The runs {first.id!r} and {other.id!r} share no question.",
            code="golden_differs",
            hint="Compare runs of one golden set.",
        )
    return pairs


def _differences(
    pairs: Sequence[tuple[Outcome, Outcome]], random: np.random.Generator
) -> list[Difference]:
    found = [
        difference_of(
            metric.name,
            [a.scores.get(metric.name) for a, _ in pairs],
            [b.scores.get(metric.name) for _, b in pairs],
            random,
        )
        for metric in METRICS
    ]
    times = [(a.timing_ms.get("total"), b.timing_ms.get("total")) for a, b in pairs]
    found.append(difference_of(_LATENCY, [a for a, _ in times], [b for _, b in times], random))
    return [one for one in found if one.questions]


def _concluded(compared: Sequence[Sequence[Difference]]) -> list[list[Difference]]:
    flat = [(index, one) for index, listed in enumerate(compared) for one in listed]
    better_up = {metric.name: metric.higher_is_better for metric in METRICS} | {_LATENCY: False}
    concluded: list[list[Difference]] = [[] for _ in compared]
    for deciding in (True, False):
        family = [pair for pair in flat if (pair[1].metric in DECIDING) is deciding]
        adjusted = holm([one.p_value for _, one in family])
        for (index, one), p_value in zip(family, adjusted, strict=True):
            up = (one.change or 0) > 0
            shown = "better" if up is better_up[one.metric] else "worse"
            conclusion = shown if p_value <= ALPHA else NO_DIFFERENCE
            concluded[index].append(replace(one, p_value=p_value, conclusion=conclusion))
    return concluded


def _changed(pairs: Sequence[tuple[Outcome, Outcome]]) -> Iterator[Changed]:
    for one, other in pairs:
        for metric in DECIDING:
            before, after = one.scores.get(metric), other.scores.get(metric)
            if before is not None and after is not None and before != after:
                yield Changed(one.id, one.question, metric, before, after)


def _settings(first: Run, other: Run) -> dict[str, tuple[Any, Any]]:
    before, after = first.conditions.settings, other.conditions.settings
    names = sorted({*before, *after})
    return {
        name: (before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    }


def _warnings(first: Run, other: Run, shared: int) -> Iterator[str]:
    if first.conditions.golden_digest != other.conditions.golden_digest:
        yield f"the golden sets differ; {shared} questions are in both"
    if first.conditions.index != other.conditions.index and not _settings(first, other):
        yield "the documents, their rights or the generation differ"
    if first.conditions.version != other.conditions.version:
        yield f"version {first.conditions.version} against {other.conditions.version}"
    if shared < 20:
        yield f"{shared} questions can show only large differences"
