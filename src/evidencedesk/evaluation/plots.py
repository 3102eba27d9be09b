"""Plots as SVG, drawn here: a curve, its axes and a legend need no library in a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, MARGIN = 460, 300, 46
COLOURS = ("#0b6bcb", "#c2410c", "#15803d", "#7c3aed")


@dataclass(frozen=True, slots=True)
class Curve:
    """Points to join, in the units of the axes; ``markers`` draws them too."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    markers: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from ``low`` to ``high``."""

    label: str
    low: float = 0.0
    high: float = 1.0


def plot(title: str, x: Axis, y: Axis, curves: Sequence[Curve]) -> str:
    """The curves as an SVG element with a title that a screen reader speaks."""
    body = "\n".join([*_frame(x, y), *_curves(curves, x, y)])
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>\n{body}\n</svg>'
    )


def _frame(x: Axis, y: Axis) -> Iterator[str]:
    left, right, top, bottom = MARGIN, WIDTH - 12, 12, HEIGHT - MARGIN
    for step in range(5):
        share = step / 4
        across, down = left + share * (right - left), bottom - share * (bottom - top)
        yield f'<line class="grid" x1="{left}" x2="{right}" y1="{down:.1f}" y2="{down:.1f}"/>'
        yield _words(across, bottom + 16, _number(x, share), "middle")
        yield _words(left - 6, down + 4, _number(y, share), "end")
    yield f'<line class="axis" x1="{left}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
    yield f'<line class="axis" x1="{left}" x2="{left}" y1="{top}" y2="{bottom}"/>'
    yield _words((left + right) / 2, HEIGHT - 8, x.label, "middle")
    middle = (top + bottom) / 2
    yield (
        f'<text transform="translate(12 {middle:.1f}) rotate(-90)" text-anchor="middle">'
        f"{escape(y.label)}</text>"
    )


def _curves(curves: Sequence[Curve], x: Axis, y: Axis) -> Iterator[str]:
    for index, curve in enumerate(curves):
        colour = COLOURS[index % len(COLOURS)]
        placed = [(_across(x, a), _down(y, b)) for a, b in curve.points]
        joined = " ".join(f"{a:.1f},{b:.1f}" for a, b in placed)
        dash = ' stroke-dasharray="5 4"' if curve.dashed else ""
        yield f'<polyline fill="none" stroke="{colour}" stroke-width="2"{dash} points="{joined}"/>'
        if curve.markers:
            for a, b in placed:
                yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>'
        yield (
            f'<text x="{WIDTH - 18}" y="{26 + 16 * index}" text-anchor="end" '
            f'fill="{colour}">{escape(curve.name)}</text>'
        )


def _across(axis: Axis, value: float) -> float:
    share = (min(max(value, axis.low), axis.high) - axis.low) / ((axis.high - axis.low) or 1)
    return MARGIN + share * (WIDTH - 12 - MARGIN)


def _down(axis: Axis, value: float) -> float:
    share = (min(max(value, axis.low), axis.high) - axis.low) / ((axis.high - axis.low) or 1)
    return HEIGHT - MARGIN - share * (HEIGHT - MARGIN - 12)


def _number(axis: Axis, share: float) -> str:
    return f"{axis.low + share * (axis.high - axis.low):.3g}"


def _words(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
