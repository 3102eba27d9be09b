"""A run as a page that a person reads: HTML with plots, or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from evidencedesk.evaluation.curves import area_under, reliability, risk_coverage, scored
from evidencedesk.evaluation.intervals import Estimate
from evidencedesk.evaluation.outcomes import Outcome, Run
from evidencedesk.evaluation.plots import Axis, Curve, plot
from evidencedesk.evaluation.summary import METRICS, Summary

WORST = 20
GROUP_METRICS = ("answered", "fact_coverage", "wrong_shown", "abstention_recall", "hit_place")

_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:1rem 0}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
svg{max-width:30rem;width:100%}svg text{font:12px system-ui,sans-serif;fill:currentColor}
svg .grid{stroke:#8883}svg .axis{stroke:currentColor}
.bad{color:#c2410c;font-weight:600}blockquote{border-left:3px solid #8886;margin:.3rem 0;padding-left:.8rem}
.plots{display:flex;flex-wrap:wrap;gap:1rem}
"""


def worst(run: Run, limit: int = WORST) -> list[Outcome]:
    """Questions that went wrong, gravest first: leaks, errors, wrong answers, missing answers."""

    def gravity(one: Outcome) -> tuple[float, ...]:
        scores = one.scores
        return (
            float(bool(one.leaked)),
            float(bool(one.error)),
            scores.get("wrong_shown") or 0.0,
            1.0 - (1.0 if (answered := scores.get("answered")) is None else answered),
            1.0 - (1.0 if (hit := scores.get("hit_place")) is None else hit),
            1.0 - (1.0 if (rank := scores.get("mrr")) is None else rank),
        )

    graded = [(gravity(one), one) for one in run.outcomes]
    found = [(grade, one) for grade, one in graded if any(grade)]
    return [one for _, one in sorted(found, key=lambda pair: pair[0], reverse=True)[:limit]]


def markdown_report(run: Run, summary: Summary) -> str:
    """The figures and the worst questions in Markdown."""
    lines = [
        f"# {_md(run.conditions.golden_set)}: {summary.questions} questions",
        "",
        *(f"- {_md(label)}: {_md(value)}" for label, value in _facts(run, summary)),
        "",
        "| metric | value | 95 % interval | scored | not scored | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, help_text, estimate in _figures(summary):
        value, interval = _value(estimate), _interval(estimate)
        lines.append(
            f"| {name} | {value} | {interval} | {estimate.scored} | {estimate.not_scored} | {help_text} |"
        )
    lines += ["", "## Worst questions", ""]
    for one in worst(run):
        lines.append(
            f"- **{_md(one.id)}** ({one.label.value}) {_md(one.question)}: {_md(_went(one))}"
        )
    return "\n".join([*lines, ""])


def html_report(run: Run, summary: Summary) -> str:
    """A page without scripts, remote parts or anything unescaped."""
    name = escape(run.conditions.golden_set)
    facts = "".join(f"<li>{escape(a)}: {escape(b)}</li>" for a, b in _facts(run, summary))
    parts = [
        f"<h1>{name}: {summary.questions} questions</h1><ul>{facts}</ul>",
        _metric_table(summary),
        '<h2>Plots</h2><div class="plots">' + "".join(_plots(run)) + "</div>",
        _group_table("By tag", summary.by_tag),
        _group_table("By language", summary.by_lang),
        "<h2>Worst questions</h2>" + "".join(_question(one) for one in worst(run)),
    ]
    return page(run.conditions.golden_set, "".join(parts))


def page(title: str, body: str) -> str:
    """A whole HTML page around ``body``, which is escaped already; ``title`` is not."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


def _facts(run: Run, summary: Summary) -> Iterator[tuple[str, str]]:
    made = run.conditions
    yield "run", f"{run.id} {run.name}".strip()
    yield "leaks", str(summary.leaks)
    yield "errors", str(summary.errors)
    yield "stale rows", "; ".join(f"{name}: {why}" for name, why in run.stale) or "0"
    yield "generator", ", ".join(run.generators) or "none asked"
    yield "prompt version", ", ".join(run.prompt_versions) or "none"
    yield "embedding", made.embedding or "keywords only"
    yield "chunking", made.chunking
    yield "index", f"generation {made.generation}, {made.index[:19]}"
    yield "version", f"{made.version} {made.git_commit[:12]}".strip()
    yield (
        "latency",
        f"median {_value(summary.latency_p50)} ms, 95th percentile {_value(summary.latency_p95)} ms",
    )
    yield "tokens and cost", f"{summary.tokens}, {summary.cost_usd:.4f} USD"


def _figures(summary: Summary) -> Iterator[tuple[str, str, Estimate]]:
    for metric in METRICS:
        if metric.name in summary.metrics:
            yield metric.name, metric.help, summary.metrics[metric.name]


def _metric_table(summary: Summary) -> str:
    head = "".join(
        f'<th class="n">{name}</th>' for name in ("value", "95 % interval", "scored", "not scored")
    )
    body = "".join(
        f'<tr><td>{name}</td><td class="n">{_value(e)}</td><td class="n">{_interval(e)}</td>'
        f'<td class="n">{e.scored}</td><td class="n">{e.not_scored}</td><td>{escape(text)}</td></tr>'
        for name, text, e in _figures(summary)
    )
    return f"<h2>Figures</h2><table><tr><th>metric</th>{head}<th></th></tr>{body}</table>"


def _group_table(title: str, groups: Mapping[str, Mapping[str, Estimate]]) -> str:
    head = "".join(f'<th class="n">{name}</th>' for name in GROUP_METRICS)
    body = "".join(
        f"<tr><td>{escape(name)}</td>"
        + "".join(f'<td class="n">{_brief(found.get(metric))}</td>' for metric in GROUP_METRICS)
        + "</tr>"
        for name, found in groups.items()
    )
    return f"<h2>{title}</h2><table><tr><th></th>{head}</tr>{body}</table>" if groups else ""


def _plots(run: Run) -> Iterator[str]:
    answers = scored(run.outcomes)
    asked = sum(one.abstained is not None for one in run.outcomes)
    if answers:
        points = risk_coverage(answers, asked)
        yield plot(
            f"Risk against coverage, area {area_under(points):.3f}",
            Axis("share of questions answered"),
            Axis("share wrong among answers"),
            [Curve("risk", points)],
        )
        bins = [(mean, share) for mean, share, _ in reliability(answers)]
        yield plot(
            "Reliability of confidence",
            Axis("confidence"),
            Axis("share right"),
            [Curve("answers", bins, markers=True), Curve("ideal", [(0, 0), (1, 1)], dashed=True)],
        )
    times = sorted(one.timing_ms["total"] for one in run.outcomes if "total" in one.timing_ms)
    if times:
        shares = [(ms, (rank + 1) / len(times)) for rank, ms in enumerate(times)]
        yield plot(
            "Latency",
            Axis("milliseconds", 0, times[-1]),
            Axis("share of questions"),
            [Curve("done by then", shares)],
        )


def _question(one: Outcome) -> str:
    quotes = "".join(
        f"<blockquote>{escape(s.quote)}<br><small>{escape(s.place)}</small></blockquote>"
        for s in one.shown
    )
    found = ", ".join(one.found) or "nothing"
    return (
        f"<h3>{escape(one.id)}: {escape(one.question)}</h3>"
        f'<p class="bad">{escape(_went(one))}</p><p>{escape(one.text)}</p>{quotes}'
        f"<p><small>{escape(one.label.value)}; {escape(one.reason)}; found: {escape(found)}</small></p>"
    )


def _went(one: Outcome) -> str:
    if one.leaked:
        return f"showed {', '.join(one.leaked)}, which this reader may not see"
    if one.error:
        return f"ended in the error {one.error}"
    if one.scores.get("wrong_shown"):
        return "the answer shown is wrong" if one.label.value == "answerable" else "was answered"
    if one.scores.get("answered") == 0:
        confidence = "" if one.confidence is None else f", confidence {one.confidence:.2f}"
        return f"was not answered ({one.reason}{confidence})"
    return "the expected place was not found first"


def _value(estimate: Estimate) -> str:
    return "not scored" if estimate.value is None else f"{estimate.value:.3f}"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{estimate.low:.3f} to {estimate.high:.3f}"


def _brief(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return ""
    return f"{estimate.value:.2f} <small>({estimate.scored})</small>"


def _md(text: str) -> str:
    flat = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in flat)
