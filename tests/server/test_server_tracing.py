"""Traces, as a collector on loopback receives them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from evidencedesk.errors import SettingsError

QUESTION = "How long do I have to return a bike?"
TRACE = "0af7651916cd43dd8448eb211c80319c"


class Collector(BaseHTTPRequestHandler):
    received: list[Any]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = ExportTraceServiceRequest.FromString(body)
        self.received.extend(
            span
            for resource in message.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        )
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[tuple[str, list[Any]]]:
    received: list[Any] = []
    handler = type("Handler", (Collector,), {"received": received})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/traces", received
        server.shutdown()
        thread.join()


def facts(span: Any) -> dict[str, Any]:
    values = ((each.key, each.value) for each in span.attributes)
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values}


def asked(serve: Any, collector: Any, **telemetry: Any) -> list[Any]:
    endpoint, received = collector
    server = serve(tables={"telemetry": {"otlp_endpoint": endpoint, **telemetry}})
    headers = {**server.key("staff"), "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    assert server.client.post("/v1/ask", json={"question": QUESTION}, headers=headers).is_success
    server.services.traces.close()
    return received


def test_an_answer_is_a_span_with_its_stages_in_its_request(serve: Any, collector: Any) -> None:
    spans = {span.name: span for span in asked(serve, collector)}
    assert set(spans) == {"POST /v1/ask", "answer", "retrieve", "chat extractive", "verify"}
    request, answer = spans["POST /v1/ask"], spans["answer"]
    assert request.trace_id.hex() == TRACE
    assert answer.parent_span_id == request.span_id
    assert spans["verify"].parent_span_id == answer.span_id
    assert facts(request)["http.response.status_code"] == 200
    assert facts(answer)["evidencedesk.reason"] == "ok"
    assert facts(spans["chat extractive"])["gen_ai.provider.name"] == "extractive"
    for span in spans.values():
        assert span.start_time_unix_nano <= span.end_time_unix_nano


@pytest.mark.parametrize("content", [False, True])
def test_questions_are_in_them_only_where_that_is_wanted(
    serve: Any, collector: Any, content: bool
) -> None:
    text = str(asked(serve, collector, content=content))
    assert (QUESTION in text) is content
    for never in ("30 days", "Returns policy", "kc-returns", "staff", "edk_"):
        assert never not in text


def test_offline_nothing_is_sent(serve: Any) -> None:
    with pytest.raises(SettingsError) as caught:
        serve(tables={"offline": True, "telemetry": {"otlp_endpoint": "http://127.0.0.1:1"}})
    assert caught.value.code == "bad_telemetry"
