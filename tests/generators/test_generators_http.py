"""Both hosted adapters against a real server that misbehaves on command."""

from __future__ import annotations

import json
import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evidencedesk.adapters.generators.anthropic import AnthropicProvider
from evidencedesk.adapters.generators.configuration import ModelConfiguration, StructuredOutput
from evidencedesk.adapters.generators.openai import OpenAIProvider
from evidencedesk.errors import CallCancelledError, ProviderError
from evidencedesk.generation import build_request, parse_reply
from evidencedesk.generation.breaker import CircuitBreaker
from evidencedesk.generation.calls import CallSettings, ModelCalls
from evidencedesk.generation.fallback import FallbackChain, stream_of
from evidencedesk.generation.prices import Price, Prices
from evidencedesk.generation.retries import RetryPolicy
from evidencedesk.model import CallBounds, Evidence, Reason, Reply, Request, StopReason, StreamBreak
from evidencedesk.testing.provider import Behaviour, MisbehavingProvider, misbehaving_provider
from evidencedesk.wiring import SystemClock

KEY = "sk-secret-5f1d"
TEXT = '{"insufficient": false, "claims": [{"text": "Thirty days.", "citations": []}]}'
LATE_S = 1.0
TIMEOUT_S = 30.0
REQUEST = build_request("How long?", Evidence(()), max_output_tokens=77)


@pytest.fixture
def server() -> Iterator[MisbehavingProvider]:
    with misbehaving_provider() as provider:
        provider.default = Behaviour(text=TEXT)
        yield provider


@pytest.fixture(params=["openai", "anthropic"])
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["whole", "stream"])
def streamed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "stream")


def calls(
    server: MisbehavingProvider,
    api: str,
    *,
    retries: int = 0,
    timeout_s: float = TIMEOUT_S,
    structured: StructuredOutput = "auto",
) -> ModelCalls:
    url = server.openai_url if api == "openai" else server.url
    configuration = ModelConfiguration("m", base_url=url, api_key=KEY, structured_output=structured)
    make = OpenAIProvider if api == "openai" else AnthropicProvider
    policy = RetryPolicy(retries, first_s=0.01)
    prices = Prices({"m": Price(input_usd=2.0, output_usd=10.0)})
    clock = SystemClock()
    settings = CallSettings(clock, time.sleep, random.random, policy, prices, timeout_s, 5.0)
    return ModelCalls(make(configuration), settings, CircuitBreaker(failures=10_000))


def ask(generator: ModelCalls, request: Request = REQUEST, *, streamed: bool) -> Reply:
    if not streamed:
        return generator.generate(request)
    *before, last = generator.stream(request)
    assert isinstance(last, Reply)
    since = len(before)
    while since and isinstance(before[since - 1], str):
        since -= 1
    assert "".join(str(piece) for piece in before[since:]) == last.text
    return last


def test_a_reply_comes_with_its_tokens_and_its_cost(
    server: MisbehavingProvider, api: str, streamed: bool
) -> None:
    reply = ask(calls(server, api), streamed=streamed)
    assert reply.text == TEXT
    assert reply.stop_reason is StopReason.END
    assert (reply.generator, reply.model, reply.attempts) == (api, "m", 1)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (1000, 50)
    assert reply.usage.cost_usd == pytest.approx((1000 * 2 + 50 * 10) / 1e6)


def test_what_is_sent_is_bounded_structured_and_kept_apart(
    server: MisbehavingProvider, api: str
) -> None:
    calls(server, api).generate(REQUEST)
    body = server.requests[0]
    assert body["max_tokens"] == 77
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    messages = body["messages"]
    assert messages[-1] == {"role": "user", "content": REQUEST.prompt}
    if api == "openai":
        assert messages[0] == {"role": "system", "content": REQUEST.rules}
        assert body["response_format"]["json_schema"]["schema"] == REQUEST.schema
    else:
        assert body["system"] == REQUEST.rules
        assert body["output_config"]["format"]["schema"] == REQUEST.schema


@pytest.mark.parametrize(
    ("openai", "anthropic", "stop"),
    [
        ("length", "max_tokens", StopReason.LENGTH),
        ("length", "model_context_window_exceeded", StopReason.LENGTH),
        ("content_filter", "refusal", StopReason.REFUSED),
        ("stop", "stop_sequence", StopReason.END),
    ],
)
def test_why_a_model_stopped(
    server: MisbehavingProvider,
    api: str,
    streamed: bool,
    openai: str,
    anthropic: str,
    stop: StopReason,
) -> None:
    server.then(Behaviour(text=TEXT, finish=openai if api == "openai" else anthropic))
    assert ask(calls(server, api), streamed=streamed).stop_reason is stop


def test_a_refusal_in_words_is_a_refusal(server: MisbehavingProvider, streamed: bool) -> None:
    server.then(Behaviour(text="", refusal="I cannot help with that."))
    assert ask(calls(server, "openai"), streamed=streamed).stop_reason is StopReason.REFUSED


FAULTS: list[tuple[Behaviour, StopReason, str, int]] = [
    (Behaviour("status", 400, error={"code": "context_length_exceeded"}), StopReason.ERROR, "HTTP 400", 1),
    (Behaviour("status", 401), StopReason.ERROR, "HTTP 401", 1),
    (Behaviour("status", 403), StopReason.ERROR, "HTTP 403", 1),
    (Behaviour("status", 404), StopReason.ERROR, "HTTP 404", 1),
    (Behaviour("status", 307, {"Location": "/elsewhere"}), StopReason.ERROR, "HTTP 307", 1),
    (Behaviour("status", 429), StopReason.ERROR, "HTTP 429", 3),
    (Behaviour("status", 500), StopReason.ERROR, "HTTP 500", 3),
    (Behaviour("status", 529), StopReason.ERROR, "HTTP 529", 3),
    (Behaviour("reset"), StopReason.ERROR, "connection", 3),
    (Behaviour("silent"), StopReason.TIMEOUT, "in time", 1),
    (Behaviour("slow", text=TEXT * 2), StopReason.TIMEOUT, "in time", 1),
    (Behaviour("half", text=TEXT * 3), StopReason.ERROR, "bro", 3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "stop", "detail", "attempts"),
    FAULTS,
    ids=[f"{fault.kind}-{fault.status}" for fault, *_ in FAULTS],
)
def test_a_fault_ends_in_time_with_its_reason(
    server: MisbehavingProvider,
    api: str,
    streamed: bool,
    fault: Behaviour,
    stop: StopReason,
    detail: str,
    attempts: int,
) -> None:
    server.default = fault
    timeout_s = LATE_S if stop is StopReason.TIMEOUT else TIMEOUT_S
    started = time.monotonic()
    reply = ask(calls(server, api, retries=2, timeout_s=timeout_s), streamed=streamed)
    assert time.monotonic() - started < timeout_s + 2.0
    assert reply.stop_reason is stop
    assert detail in reply.detail
    assert reply.detail.startswith(f"{api}: ")
    assert (reply.attempts, len(server.requests)) == (attempts, attempts)
    assert KEY not in repr(reply)


@pytest.mark.parametrize("kind", ["html", "nested", "wrong", "long"])
def test_what_is_no_reply_of_this_api_is_an_error_and_not_asked_for_again(
    server: MisbehavingProvider, api: str, kind: str
) -> None:
    server.default = Behaviour(kind)
    reply = ask(calls(server, api, retries=2), streamed=False)
    assert reply.stop_reason is StopReason.ERROR
    assert reply.detail
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", ["html", "nested", "wrong", "long"])
def test_a_stream_that_is_none_is_an_error_or_is_not_believed(
    server: MisbehavingProvider, api: str, kind: str
) -> None:
    server.default = Behaviour(kind)
    *_, reply = calls(server, api).stream(REQUEST)
    assert isinstance(reply, Reply)
    assert getattr(parse_reply(reply), "reason", None) in {Reason.MODEL_ERROR, Reason.INVALID_JSON}


def test_a_server_that_is_not_there_is_an_error(api: str) -> None:
    with misbehaving_provider() as gone:
        pass
    reply = calls(gone, api).generate(REQUEST)
    assert reply.stop_reason is StopReason.ERROR
    assert "connection" in reply.detail


def through_proxy() -> Reply:
    configuration = ModelConfiguration("m", base_url="http://provider.invalid/v1", api_key=KEY)
    bounds = CallBounds(time.monotonic, time.monotonic() + TIMEOUT_S)
    (reply,) = OpenAIProvider(configuration).call(REQUEST, bounds, stream=False)
    assert isinstance(reply, Reply)
    return reply


def test_the_proxy_of_the_environment_is_used(
    server: MisbehavingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    assert through_proxy().text == TEXT
    assert server.headers[0]["host"] == "provider.invalid"


@pytest.mark.parametrize(
    ("variable", "value"),
    [("http_proxy", "socks5://127.0.0.1:9"), ("no_proxy", "provider.invalid")],
)
def test_a_proxy_is_neither_guessed_nor_gone_around(
    server: MisbehavingProvider, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.setenv(variable, value)
    with pytest.raises(ProviderError):
        through_proxy()
    assert not server.requests


def test_a_retry_succeeds_and_is_counted(server: MisbehavingProvider, api: str) -> None:
    server.then(Behaviour("status", 500), Behaviour("reset"))
    reply = calls(server, api, retries=2).generate(REQUEST)
    assert (reply.text, reply.attempts) == (TEXT, 3)


def test_retry_after_is_waited_for(server: MisbehavingProvider, api: str) -> None:
    server.then(Behaviour("status", 429, {"Retry-After": "1"}))
    started = time.monotonic()
    reply = calls(server, api, retries=1).generate(REQUEST)
    assert reply.text == TEXT
    assert time.monotonic() - started >= 1.0


def test_a_retry_after_beyond_the_deadline_is_not_waited_for(
    server: MisbehavingProvider, api: str
) -> None:
    server.default = Behaviour("status", 503, {"Retry-After": "3600"})
    started = time.monotonic()
    reply = calls(server, api, retries=5).generate(REQUEST)
    assert (reply.stop_reason, reply.attempts) == (StopReason.ERROR, 1)
    assert time.monotonic() - started < 10


def test_a_stream_that_breaks_begins_anew_after_a_break(
    server: MisbehavingProvider, api: str
) -> None:
    server.then(Behaviour("half", text=TEXT))
    items = list(calls(server, api, retries=1).stream(REQUEST))
    kinds = [type(item) for item in items]
    assert kinds.count(StreamBreak) == 1
    broken = next(item for item in items if isinstance(item, StreamBreak))
    assert TEXT.startswith(broken.reply.text)
    assert isinstance(items[-1], Reply)
    assert items[-1].text == TEXT


def test_a_provider_without_schemas_is_asked_with_the_schema_among_the_rules(
    server: MisbehavingProvider, api: str, streamed: bool
) -> None:
    said = {"code": "invalid_value", "message": "response_format output_config: unknown"}
    server.then(Behaviour("status", 400, error=said))
    generator = calls(server, api)
    assert ask(generator, streamed=streamed).text == TEXT
    first, second = server.requests
    assert ("response_format" in first) or ("output_config" in first)
    assert not {"response_format", "output_config"} & second.keys()
    assert json.dumps(REQUEST.schema) in json.dumps(second).replace('\\"', '"')
    generator.generate(REQUEST)
    assert len(server.requests) == 3


def test_a_schema_that_was_asked_for_is_not_given_up(server: MisbehavingProvider, api: str) -> None:
    server.then(Behaviour("status", 400, error={"message": "response_format output_config"}))
    reply = calls(server, api, structured="schema").generate(REQUEST)
    assert reply.stop_reason is StopReason.ERROR
    assert len(server.requests) == 1


def test_cancelling_stops_a_call_that_waits(
    server: MisbehavingProvider, api: str, streamed: bool
) -> None:
    server.default = Behaviour("silent")
    gone = threading.Event()
    threading.Timer(0.2, gone.set).start()
    request = build_request("How long?", Evidence(()))
    cancellable = with_cancel(request, gone.is_set)
    started = time.monotonic()
    with pytest.raises(CallCancelledError):
        ask(calls(server, api), cancellable, streamed=streamed)
    assert time.monotonic() - started < 2.0
    assert connections_left(server) == 0


def test_closing_a_stream_ends_the_connection(server: MisbehavingProvider, api: str) -> None:
    server.default = Behaviour(text=TEXT, pause_s=0.05)
    items = stream_of(calls(server, api), REQUEST)
    assert isinstance(next(items), str)
    items.close()
    assert connections_left(server) == 0


def test_a_chain_falls_back_and_names_who_failed(server: MisbehavingProvider) -> None:
    server.then(Behaviour("status", 500))
    chain = FallbackChain([calls(server, "openai"), calls(server, "anthropic")])
    reply = chain.generate(REQUEST)
    assert (reply.text, reply.generator, reply.fallback_from) == (TEXT, "anthropic", ("openai",))
    assert reply.attempts == 2
    assert "HTTP 500" in reply.detail


def test_neither_key_nor_prompt_nor_what_the_provider_says_is_logged(
    server: MisbehavingProvider, api: str, caplog: pytest.LogCaptureFixture
) -> None:
    secret = {"message": f"Incorrect API key provided: {KEY}", "code": f"bad {KEY}"}
    server.then(Behaviour("status", 401, error=secret))
    with caplog.at_level(logging.INFO):
        reply = calls(server, api).generate(REQUEST)
    assert KEY not in caplog.text + repr(reply)
    assert "<question>" not in caplog.text
    assert "Incorrect" not in reply.detail


def test_a_key_is_not_shown_with_its_configuration() -> None:
    assert KEY not in repr(ModelConfiguration("m", api_key=KEY))


def test_no_connection_and_no_thread_is_left_after_many_calls(
    server: MisbehavingProvider, api: str
) -> None:
    assert left_by(server, api, calls_made=60) == NOTHING
    assert len(server.requests) > MOST_ARRIVE * 60


@pytest.mark.slow
def test_no_connection_and_no_thread_is_left_after_a_thousand_calls(
    server: MisbehavingProvider, api: str
) -> None:
    assert left_by(server, api, calls_made=1000) == NOTHING
    assert len(server.requests) > MOST_ARRIVE * 1000


@dataclass(frozen=True)
class Left:
    """What is there after calls and was not there before them."""

    connections: int = 0
    threads: int = 0
    files: int = 0


NOTHING = Left()
MOST_ARRIVE = 0.9
"""On a busy machine some calls are late before they connect."""


def left_by(server: MisbehavingProvider, api: str, *, calls_made: int) -> Left:
    """All from eight threads at once, half of them streams; every third one fails in its own way."""
    faults = [Behaviour("half", text=TEXT), Behaviour("status", 500), Behaviour("reset")]
    faults += [Behaviour("html"), Behaviour("wrong"), Behaviour("slow", text=TEXT)]
    for index in range(calls_made):
        server.then(*([faults[index % len(faults)]] if index % 3 == 0 else [server.default]))
    generator = calls(server, api, timeout_s=0.3)
    threads, files = threading.active_count(), open_files()
    workers = [
        threading.Thread(target=lambda: [ask_either(generator, n) for n in range(calls_made // 8)])
        for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    connections = connections_left(server)
    # The server's own threads are in this process too, and end a moment after their connections.
    limit = time.monotonic() + 5.0
    while time.monotonic() < limit and threading.active_count() > threads:
        time.sleep(0.02)
    return Left(connections, threading.active_count() - threads, open_files() - files)


def ask_either(generator: ModelCalls, number: int) -> None:
    if number % 2:
        generator.generate(REQUEST)
    else:
        list(generator.stream(REQUEST))


def with_cancel(request: Request, cancelled: Callable[[], bool]) -> Request:
    return Request(
        request.question,
        request.evidence,
        request.rules,
        request.prompt,
        request.schema,
        request.prompt_version,
        cancelled=cancelled,
    )


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def connections_left(server: MisbehavingProvider) -> int:
    """Connections that are still open after a while in which they could close."""
    until = time.monotonic() + 5
    while server.open_connections and time.monotonic() < until:
        time.sleep(0.01)
    return server.open_connections
