"""Figures for Prometheus. Labels come from fixed lists: no question, title, file or person is in them."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess

from evidencedesk.model import Answer, IngestReport

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The figures of this process; of all worker processes where they share a folder.

    The folder is ``PROMETHEUS_MULTIPROC_DIR``, which ``serve`` sets for several workers.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._answers = self._counter("answers", "Answers and abstentions.", "reason")
        self._failures = self._counter(
            "verification_failures", "Checks that a reply did not pass.", "check"
        )
        self._tokens = self._counter("tokens", "Tokens of generators.", "generator", "direction")
        self._cost = self._counter("cost_usd", "What generators cost.", "generator")
        self._cached = self._counter("cached_answers", "Answers given again.")
        self._degraded = self._counter("degraded_answers", "Answers given with something missing.")
        self._fallbacks = self._counter("fallbacks", "Answers for which a generator failed.")
        self._denied = self._counter("denied_requests", "Requests refused at the door.", "code")
        self._files = self._counter("ingested_files", "What became of uploads.", "outcome")
        self._requests = self._counter("requests", "Requests.", "method", "route", "status")
        self._feedback = self._counter("feedback", "What readers said.", "verdict")
        self._confidence = Histogram(
            "evidencedesk_retrieval_confidence",
            "Probability that what was found answers the question.",
            buckets=_SHARES,
            registry=self._registry,
        )
        self._stage = self._histogram("stage_duration_seconds", "Time per stage.", "stage")
        self._request = self._histogram("request_duration_seconds", "Time per request.", "route")

    def answer(self, answer: Answer) -> None:
        """Count one answer."""
        self._answers.labels(answer.reason.value).inc()
        self._confidence.observe(answer.confidence)
        for check in answer.checks:
            if not check.passed:
                self._failures.labels(check.check).inc()
        generator = answer.generator or "none"
        self._tokens.labels(generator, "input").inc(answer.usage.input_tokens)
        self._tokens.labels(generator, "output").inc(answer.usage.output_tokens)
        self._cost.labels(generator).inc(answer.usage.cost_usd)
        self._cached.inc(int(bool(answer.generator) and not answer.attempts))
        self._degraded.inc(int(bool(answer.degraded)))
        self._fallbacks.inc(int(bool(answer.fallback_from)))
        for stage, milliseconds in answer.timing_ms:
            self._stage.labels(stage).observe(milliseconds / 1000)

    def ingested(self, report: IngestReport) -> None:
        """Count what became of the files of one upload."""
        outcomes = {
            "added": len(report.added),
            "changed": len(report.changed),
            "metadata": len(report.metadata),
            "unchanged": report.unchanged,
            "failed": len(report.failed),
            "refused": len(report.refused),
        }
        for outcome, count in outcomes.items():
            self._files.labels(outcome).inc(count)

    def denied(self, code: str) -> None:
        """Count one request that was refused at the door."""
        self._denied.labels(code).inc()

    def said(self, verdict: str) -> None:
        """Count what a reader said of an answer."""
        self._feedback.labels(verdict).inc()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request; ``route`` as the table of permissions has it."""
        self._requests.labels(method, route, str(status)).inc()
        self._request.labels(route).observe(seconds)

    def rendered(self) -> bytes:
        """The figures in Prometheus' text format."""
        folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        if folder is None:
            return generate_latest(self._registry)
        shared = CollectorRegistry()
        multiprocess.MultiProcessCollector(shared, path=folder)  # type: ignore[no-untyped-call]
        return generate_latest(shared)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"evidencedesk_{name}", about, labels, registry=self._registry)

    def _histogram(self, name: str, about: str, label: str) -> Histogram:
        return Histogram(
            f"evidencedesk_{name}", about, (label,), buckets=_SECONDS, registry=self._registry
        )
