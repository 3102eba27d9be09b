"""How runs, comparisons and gates are printed."""

from __future__ import annotations

from evidencedesk.cli.terminal import Terminal
from evidencedesk.evaluation.comparing import DECIDING, Comparison
from evidencedesk.evaluation.gate import GateResult
from evidencedesk.evaluation.outcomes import Run
from evidencedesk.evaluation.paired import NO_DIFFERENCE
from evidencedesk.evaluation.summary import METRICS, Summary


def print_summary(terminal: Terminal, run: Run, summary: Summary) -> None:
    """Every metric with its interval, what was left out, leaks."""
    terminal.line((f"{run.conditions.golden_set}: ", "bold"), f"{summary.questions} questions")
    terminal.table(
        ("metric", "value", "low", "high", "scored", "not scored", "what it says"),
        (
            (m.name, e.value, e.low, e.high, e.scored, e.not_scored, m.help)
            for m in METRICS
            if (e := summary.metrics.get(m.name)) is not None
        ),
    )
    p50, p95 = summary.latency_p50.value, summary.latency_p95.value
    if p50 is not None and p95 is not None:
        terminal.line(f"Latency: median {p50:.1f} ms, 95th percentile {p95:.1f} ms.")
    if summary.leaks:
        terminal.line((f"LEAKS: {summary.leaks}", "red"))
        for one in run.outcomes:
            if one.leaked:
                terminal.line(f"{one.id} showed {', '.join(one.leaked)}", indent=2)
    for name, why in run.stale:
        terminal.note(("Stale: ", "yellow"), f"{name}: {why}")
    for one in run.outcomes:
        if one.error:
            terminal.note(("Error: ", "red"), f"{one.id}: {one.error}")
    terminal.note(f"Run {run.id}. `evidencedesk eval report` shows it in full.")


def print_comparison(terminal: Terminal, comparison: Comparison) -> None:
    """What moved, what did not, and which questions changed."""
    terminal.line((comparison.name or comparison.after, "bold"), f"  against {comparison.before}")
    deciding = [d for d in comparison.differences if d.metric in DECIDING]
    others = [
        d
        for d in comparison.differences
        if d.metric not in DECIDING and d.conclusion != NO_DIFFERENCE
    ]
    terminal.table(
        ("metric", "before", "after", "change", "low", "high", "effect", "p", "conclusion"),
        (
            (
                d.metric,
                d.before,
                d.after,
                d.change,
                d.low,
                d.high,
                d.effect,
                d.p_value,
                d.conclusion,
            )
            for d in (*deciding, *others)
        ),
    )
    if not others:
        terminal.line(f"Other metrics: {NO_DIFFERENCE}.")
    for one in comparison.changed:
        terminal.line(
            f"{one.question_id}: {one.metric} {one.before:g} -> {one.after:g}  {one.question}",
            indent=2,
        )
    for warning in comparison.warnings:
        terminal.note(("Note: ", "yellow"), warning)


def print_gate(terminal: Terminal, result: GateResult) -> None:
    """Each threshold with what was measured."""
    terminal.table(
        ("", "measured", "required", "low", "high"),
        (
            (
                f"{'ok' if c.passed else 'FAILED'} {c.name}",
                "not scored" if c.value is None else f"{c.value:.3f}",
                c.required,
                c.low,
                c.high,
            )
            for c in result.checks
        ),
    )
    terminal.line(("The gate is open." if result.passed else "The gate is shut.", "bold"))
