"""A run in figures: each metric over all questions, per language and per tag, with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evidencedesk.evaluation.intervals import Estimate, mean_of, quantile_of
from evidencedesk.evaluation.outcomes import Outcome, Run


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric.

    Attributes:
        name: stable name, the key of ``Outcome.scores``.
        help: what it says, in words for a person.
        higher_is_better: which way is up.
    """

    name: str
    help: str
    higher_is_better: bool = True


METRICS = (
    Metric("answered", "answerable questions that got an answer"),
    Metric("fact_coverage", "expected facts and quotes that were shown"),
    Metric("answer_place", "answers that cite the expected place"),
    Metric(
        "wrong_shown",
        "answers that are wrong or that nobody should have got",
        higher_is_better=False,
    ),
    Metric("abstention_precision", "abstentions that were right"),
    Metric("abstention_recall", "questions nobody should answer that were not answered"),
    Metric("quote_validity", "citations whose quote stands at its place"),
    Metric("citation_recall", "statements that their citations bear out (ALCE)"),
    Metric("citation_precision", "citations that are needed or suffice (ALCE)"),
    Metric("leaked", "questions that showed what the reader may not see", higher_is_better=False),
    Metric("hit_place", "expected quotes and places among the chunks found"),
    Metric("hit_place@1", "expected quotes and places in the first chunk"),
    Metric("ndcg@10", "order of the documents found"),
    Metric("mrr", "one over the rank of the first expected document"),
    *(Metric(f"recall@{k}", f"expected documents among the first {k}") for k in (1, 3, 5, 10)),
    *(Metric(f"precision@{k}", f"first {k} that were expected") for k in (1, 3, 5, 10)),
)


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in figures.

    Attributes:
        questions: how many were asked.
        errors: how many ended in an error of their own.
        leaks: how many showed what their reader may not see.
        stale: rows left out.
        metrics: each metric that anything was scored on.
        latency_p50: median milliseconds in total.
        latency_p95: 95th percentile of the same.
        tokens: tokens in and out of all calls.
        cost_usd: cost of all calls.
        by_lang: metrics by language of the question.
        by_tag: metrics by tag; a question counts under each of its tags.
    """

    questions: int
    errors: int
    leaks: int
    stale: int
    metrics: Mapping[str, Estimate]
    latency_p50: Estimate
    latency_p95: Estimate
    tokens: int
    cost_usd: float
    by_lang: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    by_tag: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {
            "questions": self.questions,
            "errors": self.errors,
            "leaks": self.leaks,
            "stale": self.stale,
            "metrics": _estimates(self.metrics),
            "latency_ms": {"p50": self.latency_p50.to_json(), "p95": self.latency_p95.to_json()},
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "by_lang": {name: _estimates(found) for name, found in self.by_lang.items()},
            "by_tag": {name: _estimates(found) for name, found in self.by_tag.items()},
        }


def summarise(run: Run, random: np.random.Generator) -> Summary:
    """The run in figures; ``random`` draws the resamples of the intervals."""
    outcomes = run.outcomes
    total = [one.timing_ms.get("total") for one in outcomes]
    return Summary(
        questions=len(outcomes),
        errors=sum(bool(one.error) for one in outcomes),
        leaks=sum(bool(one.leaked) for one in outcomes),
        stale=len(run.stale),
        metrics=_metrics(outcomes, random),
        latency_p50=quantile_of(total, 0.5, random),
        latency_p95=quantile_of(total, 0.95, random),
        tokens=sum(one.tokens for one in outcomes),
        cost_usd=sum(one.cost_usd for one in outcomes),
        by_lang=_groups(outcomes, lambda one: (one.lang,), random),
        by_tag=_groups(outcomes, lambda one: one.tags, random),
    )


def _metrics(outcomes: Sequence[Outcome], random: np.random.Generator) -> dict[str, Estimate]:
    found = {
        metric.name: mean_of((one.scores.get(metric.name) for one in outcomes), random)
        for metric in METRICS
    }
    return {name: estimate for name, estimate in found.items() if estimate.scored}


def _groups(
    outcomes: Sequence[Outcome],
    names_of: Callable[[Outcome], Iterable[str]],
    random: np.random.Generator,
) -> dict[str, dict[str, Estimate]]:
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        for name in names_of(one):
            groups.setdefault(name, []).append(one)
    return {name: _metrics(groups[name], random) for name in sorted(groups)}


def _estimates(found: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: estimate.to_json() for name, estimate in found.items()}
