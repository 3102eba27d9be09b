"""Any endpoint that speaks OpenAI's chat completions, through the official client.

OpenAI, Azure, Ollama, vLLM, llama.cpp and many more: ``base_url`` says which.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import openai

from evidencedesk.adapters.generators.completions import read_stream, read_whole
from evidencedesk.adapters.generators.connection import connection
from evidencedesk.adapters.generators.failures import (
    ClientErrors,
    provider_failures,
    refuses_schema,
)
from evidencedesk.adapters.generators.hosted import HostedProvider, NoSchemaError
from evidencedesk.adapters.generators.prompting import system_message
from evidencedesk.model import CallBounds, Reply, Request

DEFAULT_URL = "https://api.openai.com/v1"

_ERRORS = ClientErrors(
    status=openai.APIStatusError,
    timeout=openai.APITimeoutError,
    connection=openai.APIConnectionError,
    any=openai.OpenAIError,
)


class OpenAIProvider(HostedProvider):
    """The ``Provider`` port over chat completions. Safe for threads: a call shares nothing."""

    name = "openai"
    default_url = DEFAULT_URL

    def _call(
        self, request: Request, bounds: CallBounds, *, stream: bool
    ) -> Generator[str | Reply, None, None]:
        with (
            connection(bounds, self._ssl, self._url) as (http, state),
            provider_failures(_ERRORS, lambda: state.failure),
        ):
            client = openai.OpenAI(
                api_key=self._configuration.api_key or "none",
                base_url=self._url,
                max_retries=0,
                timeout=None,
                http_client=http,
            )
            completions = client.chat.completions
            arguments = self._arguments(request)
            try:
                if stream:
                    chunks = completions.create(
                        **arguments, stream=True, stream_options={"include_usage": True}
                    )
                    yield from read_stream(chunk.to_dict() for chunk in chunks)
                else:
                    yield read_whole(completions.with_raw_response.create(**arguments).text)
            except openai.APIStatusError as error:
                if self._schema and self._automatic and refuses_schema(error):
                    raise NoSchemaError("the provider knows no schemas") from None
                raise

    def _arguments(self, request: Request) -> dict[str, Any]:
        limit = "max_completion_tokens" if self._url == DEFAULT_URL else "max_tokens"
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": [
                {
                    "role": "system",
                    "content": system_message(request, with_schema=not self._schema),
                },
                {"role": "user", "content": request.prompt},
            ],
            limit: request.max_output_tokens,
        }
        if self._configuration.temperature is not None:
            arguments["temperature"] = self._configuration.temperature
        if self._schema:
            schema = {"name": "reply", "strict": True, "schema": request.schema}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        return arguments
