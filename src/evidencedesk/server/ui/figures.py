"""Plots of the room Quality, drawn here as SVG; nothing in them is styled inline."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from evidencedesk.evaluation.curves import reliability, scored
from evidencedesk.evaluation.outcomes import Run
from evidencedesk.evaluation.plots import COLOURS, Axis, Curve, plot
from evidencedesk.server.ui.texts import Texts

FOLLOWED = ("answered", "wrong_shown")
"""Metrics that are followed from run to run."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A count with its name and its length, 0 to 100, beside the longest."""

    name: str
    count: int
    length: float


def bars(counts: Sequence[tuple[str, int]], named: Callable[[str], str]) -> list[Bar]:
    """The counts in their order, each with its bar."""
    most = max((count for _, count in counts), default=1)
    return [Bar(named(name), count, round(100 * count / most, 1)) for name, count in counts]


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot and its legend: names with the colours of their curves."""

    svg: Markup
    legend: tuple[tuple[str, str], ...] = ()


def trend(runs: Sequence[Mapping[str, Any]], texts: Texts) -> Figure | None:
    """The followed metrics from run to run, oldest first; None of fewer than two runs."""
    if len(runs) < 2:
        return None
    curves = []
    for name in FOLLOWED:
        values = [each["metrics"][name].value for each in runs]
        points = [(n, value) for n, value in enumerate(values, start=1) if value is not None]
        curves.append(Curve("", points, markers=True))
    last = 1 + 4 * math.ceil((len(runs) - 1) / 4)  # so that the marks of the axis are whole runs
    svg = Markup(  # noqa: S704 - `plot` escapes every text that it is given
        plot(
            texts("quality.run_trend"),
            Axis(texts("quality.run_number"), 1, last),
            Axis(texts("quality.run_share")),
            curves,
        )
    )
    names = [name.replace("_", " ") for name in FOLLOWED]
    return Figure(svg, tuple(zip(names, COLOURS, strict=False)))


def reliability_plot(run: Run, texts: Texts) -> Figure | None:
    """Confidence against what came of it; None when nothing was answered."""
    bins = reliability(scored(run.outcomes))
    if not bins:
        return None
    points = [(mean, share) for mean, share, _ in bins]
    svg = Markup(  # noqa: S704 - `plot` escapes every text that it is given
        plot(
            texts("quality.reliability"),
            Axis(texts("quality.reliability_x")),
            Axis(texts("quality.reliability_y")),
            [Curve("", points, markers=True), Curve("", [(0, 0), (1, 1)], dashed=True)],
        )
    )
    return Figure(svg)
