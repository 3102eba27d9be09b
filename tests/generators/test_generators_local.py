"""A real GGUF model run by llama.cpp in this process."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from benchmarks.small_models import MODELS, fetched

from evidencedesk.adapters.generators.configuration import ModelConfiguration
from evidencedesk.adapters.generators.local import LocalProvider
from evidencedesk.errors import CallCancelledError, ProviderError
from evidencedesk.generation import build_request
from evidencedesk.model import CallBounds, Evidence, Reply, Request, StopReason

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def provider() -> Iterator[LocalProvider]:
    path = fetched(MODELS[0])
    made = LocalProvider(
        ModelConfiguration(str(path), threads=1, context_tokens=2048, temperature=0.0)
    )
    yield made
    made.close()
    assert threading.active_count() == 1


def request(question: str = "How long?", tokens: int = 40) -> Request:
    return build_request(question, Evidence(()), max_output_tokens=tokens)


def within(seconds: float, gone: threading.Event | None = None) -> CallBounds:
    end = time.monotonic() + seconds
    return CallBounds(time.monotonic, end, cancelled=gone.is_set if gone else None)


def test_a_reply_follows_the_schema_and_is_cut_at_its_limit(provider: LocalProvider) -> None:
    # The first call fills llama.cpp's prompt cache; reading a prompt in other batches rounds otherwise.
    list(provider.call(request(), within(300), stream=False))
    *pieces, reply = provider.call(request(), within(300), stream=True)
    assert isinstance(reply, Reply)
    assert reply.text == "".join(str(piece) for piece in pieces)
    assert reply.text.replace(" ", "").replace("\n", "").startswith('{"insufficient":')
    assert reply.stop_reason is StopReason.LENGTH or json.loads(reply.text)
    assert reply.usage.input_tokens > 100
    assert 0 < reply.usage.output_tokens <= 40
    (whole,) = provider.call(request(), within(300), stream=False)
    assert isinstance(whole, Reply)
    assert whole.text == reply.text


def test_a_call_ends_at_its_deadline(provider: LocalProvider) -> None:
    started = time.monotonic()
    with pytest.raises(ProviderError) as raised:
        list(provider.call(request(tokens=1000), within(1.0), stream=True))
    assert raised.value.code == "timeout"
    assert time.monotonic() - started < 3.0


def test_a_call_ends_when_the_asker_goes(provider: LocalProvider) -> None:
    gone = threading.Event()
    threading.Timer(0.5, gone.set).start()
    with pytest.raises(CallCancelledError):
        list(provider.call(request(tokens=1000), within(300, gone), stream=True))


def test_a_prompt_beyond_the_context_is_refused(provider: LocalProvider) -> None:
    with pytest.raises(ProviderError, match="exceed_context_size_error"):
        list(provider.call(request("why? " * 3000), within(300), stream=True))


def test_nobody_else_is_let_in_by_its_port(provider: LocalProvider) -> None:
    list(provider.call(request(tokens=1), within(300), stream=False))
    server = provider._server
    assert server is not None
    address = f"{server.listening_address}/v1/chat/completions"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(address, data=b'{"messages": []}', timeout=30)
