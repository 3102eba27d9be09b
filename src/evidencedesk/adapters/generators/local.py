"""A GGUF model on this machine, run in this process by llama.cpp (``xllamacpp``).

The model is held to the schema by llama.cpp's constrained decoding. It is loaded at the first call
and kept until it is closed.
"""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import xllamacpp

from evidencedesk.adapters.generators.completions import read_stream
from evidencedesk.adapters.generators.configuration import ModelConfiguration
from evidencedesk.adapters.generators.prompting import system_message
from evidencedesk.errors import ModelMissingError, ProviderError
from evidencedesk.model import CallBounds, Reply, Request

_POLL_S = 0.05
_Chunk = dict[str, object]


class LocalProvider:
    """The ``Provider`` port over llama.cpp. Safe for threads; calls are answered one after another."""

    name = "local"
    connects = False

    def __init__(self, configuration: ModelConfiguration) -> None:
        """Hold the configuration; the model is loaded at the first call.

        Raises:
            ModelMissingError: there is no such file.
        """
        self._path = Path(configuration.model).expanduser()
        if not self._path.is_file():
            raise ModelMissingError(
                f"There is no model file {str(self._path)!r}.",
                hint="[generation] model is the path of a GGUF file when the generator is `local`.",
            )
        self.model = self._path.name
        self._configuration = configuration
        self._server: xllamacpp.Server | None = None
        self._calls: list[_Call] = []
        self._lock = threading.Lock()

    def call(
        self, request: Request, bounds: CallBounds, *, stream: bool
    ) -> Generator[str | Reply, None, None]:
        """One attempt; see the port. Ends at the token after the deadline or the cancellation."""
        call = _Call(self._loaded(), self._body(request))
        with self._lock:
            self._calls = [each for each in self._calls if each.is_alive()] + [call]
        call.start()
        try:
            for item in read_stream(call.chunks(bounds)):
                if stream or isinstance(item, Reply):
                    yield item
        except ValueError:
            raise ProviderError("llama.cpp answered something else than a completion") from None
        finally:
            call.stop.set()

    def close(self) -> None:
        """Stop what runs and unload the model."""
        with self._lock:
            calls, self._calls, self._server = self._calls, [], None
        for call in calls:
            call.stop.set()
            call.join()

    def _loaded(self) -> xllamacpp.Server:
        with self._lock:
            if self._server is None:
                self._server = xllamacpp.Server(self._parameters())
            return self._server

    def _parameters(self) -> xllamacpp.CommonParams:
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(self._path)
        parameters.n_ctx = self._configuration.context_tokens
        parameters.n_parallel = 1
        parameters.verbosity = 0
        # llama.cpp also listens on a loopback port; nobody else on this machine is to use it
        parameters.api_keys = [secrets.token_hex(32)]
        if self._configuration.threads:
            parameters.cpuparams.n_threads = self._configuration.threads
            parameters.cpuparams_batch.n_threads = self._configuration.threads
        return parameters

    def _body(self, request: Request) -> _Chunk:
        schema = {"name": "reply", "strict": True, "schema": request.schema}
        return {
            "messages": [
                {"role": "system", "content": system_message(request, with_schema=True)},
                {"role": "user", "content": request.prompt},
            ],
            "max_tokens": request.max_output_tokens,
            "temperature": self._configuration.temperature or 0.0,
            "response_format": {"type": "json_schema", "json_schema": schema},
            "stream": True,
            "stream_options": {"include_usage": True},
        }


class _Call(threading.Thread):
    """One completion, in a thread of its own because llama.cpp calls back from inside the call."""

    def __init__(self, server: xllamacpp.Server, body: _Chunk) -> None:
        super().__init__(name="evidencedesk-local-model")
        self.stop = threading.Event()
        self._server = server
        self._body = body
        self._queue: queue.SimpleQueue[_Chunk | None] = queue.SimpleQueue()

    def run(self) -> None:
        """Hand every chunk over; a true result of the callback ends the completion."""
        try:
            self._server.handle_chat_completions(self._body, self._receive)
        finally:
            self._queue.put(None)

    def _receive(self, chunk: _Chunk) -> bool:
        self._queue.put(chunk)
        return self.stop.is_set()

    def chunks(self, bounds: CallBounds) -> Iterator[_Chunk]:
        """The chunks as they come, within ``bounds``.

        Raises:
            ProviderError: llama.cpp refused the request, or it took too long.
            CallCancelledError: whoever asked has gone.
        """
        while True:
            try:
                chunk = self._queue.get(timeout=min(_POLL_S, bounds.remaining()))
            except queue.Empty:
                continue
            if chunk is None:
                return
            if "error" in chunk:
                raise ProviderError(f"llama.cpp refused the request ({_kind(chunk['error'])}).")
            yield chunk


def _kind(error: object) -> str:
    kind = error.get("type") if isinstance(error, dict) else None
    return kind if isinstance(kind, str) and kind.replace("_", "").isalnum() else "unknown"
