"""The gate: thresholds that a run must meet, for a build to go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from evidencedesk.evaluation.outcomes import Run
from evidencedesk.evaluation.summary import Summary
from evidencedesk.settings.evaluating import GateTable


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One threshold and what was measured.

    Attributes:
        name: the metric.
        required: in words, ``at least 0.9``.
        value: what was measured; None when nothing was scored.
        passed: whether it is met; a metric on which nothing was scored is not.
        low: lower end of its interval, None where there is none.
        high: upper end.
    """

    name: str
    required: str
    value: float | None
    passed: bool
    low: float | None = None
    high: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class GateResult:
    """Every check of one run.

    Attributes:
        run: id of the run.
        checks: leaks and errors first.
    """

    run: str
    checks: tuple[GateCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {
            "run": self.run,
            "passed": self.passed,
            "checks": [check.to_json() for check in self.checks],
        }


def judge(run: Run, summary: Summary, thresholds: GateTable) -> GateResult:
    """The run against the thresholds. A single leak fails, whatever they are.

    What is compared is the value measured, not an end of its interval: the same run always gets the
    same verdict, and the interval is shown beside it.
    """
    return GateResult(run.id, tuple(_checks(run, summary, thresholds)))


def junit(run: Run, result: GateResult) -> str:
    """The result as a JUnit file: one test case per check, and one per question that leaked or failed."""
    cases = [(check.name, "" if check.passed else _words(check)) for check in result.checks]
    for one in run.outcomes:
        problem = f"showed {', '.join(one.leaked)}" if one.leaked else one.error
        if problem:
            cases.append((f"question {one.id}", f"{one.question}: {problem}"))
    failures = sum(bool(problem) for _, problem in cases)
    suite = ET.Element(
        "testsuite",
        name=_legal(f"evidencedesk {run.conditions.golden_set}"),
        tests=str(len(cases)),
        failures=str(failures),
        errors="0",
        skipped="0",
        timestamp=run.started_at,
    )
    for name, problem in cases:
        case = ET.SubElement(suite, "testcase", classname="evidencedesk.gate", name=_legal(name))
        if problem:
            ET.SubElement(case, "failure", message=_legal(problem))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def markdown(result: GateResult) -> str:
    """The result as a short table for a pull request."""
    title = "passed" if result.passed else "FAILED"
    lines = [f"### Golden set: {title}", "", "| | measured | required |", "| --- | --- | --- |"]
    for check in result.checks:
        mark = "" if check.passed else "**failed** "
        lines.append(f"| {check.name} | {mark}{_measured(check)} | {check.required} |")
    return "\n".join([*lines, "", f"Run `{result.run}`.", ""])


def _checks(run: Run, summary: Summary, thresholds: GateTable) -> Iterator[GateCheck]:
    yield GateCheck("leaks", "0", float(summary.leaks), summary.leaks == 0)
    yield GateCheck("errors", "0", float(summary.errors), summary.errors == 0)
    yield GateCheck(
        "stale rows",
        f"at most {thresholds.max_stale}",
        float(len(run.stale)),
        len(run.stale) <= thresholds.max_stale,
    )
    for field, bound in thresholds.model_dump().items():
        kind, _, name = field.partition("_")
        metric = _METRICS.get(name, name)
        if bound is None or name == "stale" or (kind, bound) in _ASKS_NOTHING:
            continue
        found = summary.latency_p95 if metric == "latency p95 ms" else summary.metrics.get(metric)
        required = f"at {'least' if kind == 'min' else 'most'} {bound:g}"
        if found is None or found.value is None:
            yield GateCheck(metric, required, None, passed=False)
            continue
        passed = found.value >= bound if kind == "min" else found.value <= bound
        yield GateCheck(metric, required, found.value, passed, found.low, found.high)


_ASKS_NOTHING = {("min", 0.0), ("max", 1.0)}
_METRICS = {
    "recall_at_5": "recall@5",
    "ndcg_at_10": "ndcg@10",
    "p95_ms": "latency p95 ms",
}


def _words(check: GateCheck) -> str:
    return f"{check.name} is {_measured(check)}, required {check.required}"


def _measured(check: GateCheck) -> str:
    if check.value is None:
        return "not scored"
    if check.low is None or check.high is None:
        return f"{check.value:g}"
    return f"{check.value:.3f} [{check.low:.3f}, {check.high:.3f}]"


def _legal(text: str) -> str:
    """``text`` without characters that XML 1.0 cannot hold."""
    return "".join(
        c
        for c in text
        if c in "\t\n\r" or " " <= c < "\ud800" or (c >= "\ue000" and c not in "\ufffe\uffff")
    )
