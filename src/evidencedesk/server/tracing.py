"""Traces sent by OTLP (OpenTelemetry); attributes of models as in its GenAI conventions.

A span per request and, in it, one per answer with one per stage. No question, answer, quote, title or
file name is in them unless ``[telemetry] content`` lets the question in.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from evidencedesk import __version__
from evidencedesk.model import Answer
from evidencedesk.server.traces import Ended

_NANOSECONDS_PER_MS = 1_000_000


class OtlpTraces:
    """Sends traces in batches; a collector that is not there costs nothing but the traces.

    Args:
        endpoint: where they go, ``http://collector:4318/v1/traces``.
        content: whether questions may stand in them.
    """

    def __init__(self, endpoint: str, *, content: bool) -> None:
        resource = Resource.create({"service.name": "evidencedesk", "service.version": __version__})
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        self._tracer = self._provider.get_tracer("evidencedesk", __version__)
        self._content = content
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def request(self, headers: Mapping[str, str]) -> Iterator[Ended]:
        """A span for a request, in the trace that its sender has begun if he has begun one."""
        parent = self._propagator.extract(dict(headers))
        with self._tracer.start_as_current_span(
            "request", context=parent, kind=SpanKind.SERVER
        ) as span:

            def ended(method: str, route: str, status: int) -> None:
                span.update_name(f"{method} {route}")
                span.set_attribute("http.request.method", method)
                span.set_attribute("http.route", route)
                span.set_attribute("http.response.status_code", status)
                if status >= 500:
                    span.set_status(Status(StatusCode.ERROR))

            yield ended

    def answer(self, answer: Answer) -> None:
        """A span for an answer that was just made, with its stages one after the other."""
        times = dict(answer.timing_ms)
        end = time.time_ns()
        start = end - round(times.pop("total", 0.0) * _NANOSECONDS_PER_MS)
        span = self._tracer.start_span("answer", start_time=start, attributes=self._facts(answer))
        context = trace.set_span_in_context(span)
        for stage, milliseconds in times.items():
            until = start + round(milliseconds * _NANOSECONDS_PER_MS)
            part = self._tracer.start_span(
                _name_of(stage, answer),
                context=context,
                start_time=start,
                attributes=_call(answer) if stage in {"generate", "repair"} else {},
            )
            part.end(until)
            start = until
        span.end(end)

    def close(self) -> None:
        """Send what has not been sent."""
        self._provider.shutdown()

    def _facts(self, answer: Answer) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "evidencedesk.answer_id": answer.answer_id,
            "evidencedesk.reason": answer.reason.value,
            "evidencedesk.confidence": answer.confidence,
            "evidencedesk.retrieved": len(answer.retrieved),
            "evidencedesk.citations": len(answer.citations),
            "evidencedesk.failed_checks": sorted({c.check for c in answer.checks if not c.passed}),
            "evidencedesk.cost_usd": answer.usage.cost_usd,
        }
        return {**facts, "evidencedesk.question": answer.question} if self._content else facts


def _name_of(stage: str, answer: Answer) -> str:
    if stage not in {"generate", "repair"}:
        return stage
    return f"chat {answer.model or answer.generator}"


def _call(answer: Answer) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": answer.generator,
        "gen_ai.request.model": answer.model or answer.generator,
        "gen_ai.usage.input_tokens": answer.usage.input_tokens,
        "gen_ai.usage.output_tokens": answer.usage.output_tokens,
    }
