"""Anthropic's messages, through the official client."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

import anthropic
from pydantic import BaseModel

from evidencedesk.adapters.generators.connection import connection
from evidencedesk.adapters.generators.failures import (
    ClientErrors,
    provider_failures,
    refuses_schema,
)
from evidencedesk.adapters.generators.hosted import HostedProvider, NoSchemaError
from evidencedesk.adapters.generators.prompting import system_message
from evidencedesk.errors import ProviderError
from evidencedesk.model import CallBounds, Reply, Request, StopReason, Usage

DEFAULT_URL = "https://api.anthropic.com"

_ERRORS = ClientErrors(
    status=anthropic.APIStatusError,
    timeout=anthropic.APITimeoutError,
    connection=anthropic.APIConnectionError,
    any=anthropic.AnthropicError,
)
_STOPS = {
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.REFUSED,
}


class _Usage(BaseModel):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def all_input(self) -> int:
        cached = (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)
        return (self.input_tokens or 0) + cached


class _Block(BaseModel):
    type: str = ""
    text: str = ""


class _Message(BaseModel):
    content: list[_Block]
    stop_reason: str | None = None
    usage: _Usage = _Usage()


class _Delta(BaseModel):
    type: str = ""
    text: str = ""
    stop_reason: str | None = None


class _Event(BaseModel):
    type: str
    message: _Message | None = None
    delta: _Delta = _Delta()
    usage: _Usage = _Usage()


class AnthropicProvider(HostedProvider):
    """The ``Provider`` port over messages. Safe for threads: a call shares nothing."""

    name = "anthropic"
    default_url = DEFAULT_URL

    def _call(
        self, request: Request, bounds: CallBounds, *, stream: bool
    ) -> Generator[str | Reply, None, None]:
        with (
            connection(bounds, self._ssl, self._url) as (http, state),
            provider_failures(_ERRORS, lambda: state.failure),
        ):
            client = anthropic.Anthropic(
                api_key=self._configuration.api_key or "none",
                base_url=self._url,
                max_retries=0,
                timeout=None,
                http_client=http,
                open_telemetry=False,
            )
            arguments = self._arguments(request)
            try:
                if stream:
                    events = client.messages.create(**arguments, stream=True)
                    yield from _streamed(event.to_dict() for event in events)
                else:
                    yield _whole(client.messages.with_raw_response.create(**arguments).text())
            except anthropic.APIStatusError as error:
                if self._schema and self._automatic and refuses_schema(error):
                    raise NoSchemaError("the model knows no schemas") from None
                raise

    def _arguments(self, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_output_tokens,
            "system": system_message(request, with_schema=not self._schema),
            "messages": [{"role": "user", "content": request.prompt}],
        }
        if self._configuration.temperature is not None:
            arguments["extra_body"] = {"temperature": self._configuration.temperature}
        if self._schema:
            arguments["output_config"] = {
                "format": {"type": "json_schema", "schema": request.schema}
            }
        return arguments


def _whole(text: str) -> Reply:
    message = _Message.model_validate_json(text)
    said = "".join(block.text for block in message.content if block.type == "text")
    spent = Usage(message.usage.all_input, message.usage.output_tokens or 0)
    return Reply(said, _STOPS.get(message.stop_reason or "", StopReason.END), usage=spent)


def _streamed(events: Iterable[dict[str, object]]) -> Generator[str | Reply, None, None]:
    pieces: list[str] = []
    sent, received = 0, 0
    stop: str | None = None
    for event in map(_Event.model_validate, events):
        if event.message is not None:
            sent = event.message.usage.all_input
        stop = event.delta.stop_reason or stop
        received = event.usage.output_tokens or received
        if event.delta.type == "text_delta" and event.delta.text:
            pieces.append(event.delta.text)
            yield event.delta.text
    if stop is None:
        raise ProviderError("the stream broke off", retryable=True)
    stopped = _STOPS.get(stop, StopReason.END)
    yield Reply("".join(pieces), stopped, usage=Usage(sent, received))
