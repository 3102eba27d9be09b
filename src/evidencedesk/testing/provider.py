"""A provider on loopback that misbehaves on command: a real HTTP server, for tests of real clients.

It speaks chat completions and Anthropic's messages. What it does next is a queue of behaviours, so a
test can say "500, then an answer".
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PIECE_CHARS = 7
_LONG_BYTES = 10_000_000
_SILENCE_S = 30.0


@dataclass(slots=True)
class Behaviour:
    """What the server does with one request.

    Attributes:
        kind: ``answer``, ``status``, ``silent`` (no byte), ``slow`` (a byte at a time), ``half`` (the
            stream, or the body, breaks off), ``reset`` (the connection is cut), ``html``, ``long``
            (ten megabytes), ``nested`` (a thousand brackets) or ``wrong`` (JSON of another shape).
        status: HTTP status of ``status``.
        headers: more headers.
        error: error object of ``status``.
        text: what the model says.
        finish: finish reason as the API writes it; None for the ordinary one.
        refusal: what an OpenAI model says when it refuses.
        pause_s: pause before each piece.
    """

    kind: str = "answer"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] = field(default_factory=dict)
    text: str = '{"insufficient": true, "claims": []}'
    finish: str | None = None
    refusal: str | None = None
    pause_s: float = 0.0


class MisbehavingProvider:
    """The server's state: what it will do, and what it was sent.

    Attributes:
        url: address without a path; chat completions are under ``/v1``.
        requests: bodies received, in order.
        headers: headers received, in order, names in lower case.
        default: what is done when the queue is empty.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.default = Behaviour()
        self._queue: list[Behaviour] = []
        self._lock = threading.Lock()
        self._open = 0
        self._server = _Server(("127.0.0.1", 0), _Handler, self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """``base_url`` for OpenAI's client."""
        return f"{self.url}/v1"

    @property
    def open_connections(self) -> int:
        """Connections that have not been closed."""
        with self._lock:
            return self._open

    def then(self, *behaviours: Behaviour) -> None:
        """Do these next, one per request."""
        with self._lock:
            self._queue += behaviours

    def received(self, body: dict[str, Any], headers: dict[str, str]) -> Behaviour:
        """Note a request; what to do with it."""
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            return self._queue.pop(0) if self._queue else self.default

    def connections(self, change: int) -> None:
        """Count a connection that was opened (1) or closed (-1)."""
        with self._lock:
            self._open += change


@contextmanager
def misbehaving_provider() -> Iterator[MisbehavingProvider]:
    """A running server, stopped at the end with all its connections."""
    provider = MisbehavingProvider()
    thread = threading.Thread(target=provider._server.serve_forever, args=(0.02,))  # noqa: SLF001
    thread.start()
    try:
        yield provider
    finally:
        provider._server.stopping.set()  # noqa: SLF001
        provider._server.shutdown()  # noqa: SLF001
        thread.join()
        provider._server.server_close()  # noqa: SLF001


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[BaseHTTPRequestHandler],
        provider: MisbehavingProvider,
    ) -> None:
        self.provider = provider
        self.stopping = threading.Event()
        super().__init__(address, handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that go away in the middle are what this server is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.provider.connections(1)

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:
            self.close_connection = True
        finally:
            self.server.provider.connections(-1)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        behaviour = self.server.provider.received(body, headers)
        try:
            self._behave(behaviour, body)
        except OSError:
            self.close_connection = True

    def _behave(self, behaviour: Behaviour, body: dict[str, Any]) -> None:
        streamed = bool(body.get("stream"))
        api = _Messages if self.path.endswith("/messages") else _Completions
        match behaviour.kind:
            case "silent":
                self._wait(_SILENCE_S)
                self.close_connection = True
            case "reset":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            case "status":
                error = json.dumps({"type": "error", "error": behaviour.error}).encode()
                self._send(error, behaviour, status=behaviour.status)
            case "html":
                page = b"<html><body>Sign in to the proxy</body></html>"
                self._send(page, behaviour, "text/html")
            case "nested":
                self._send(b'{"choices": ' + b"[" * 1000, behaviour)
            case "wrong":
                self._send(b'{"choices": "none", "content": 3}', behaviour)
            case _ if streamed:
                self._stream(api.events(behaviour), behaviour)
            case _:
                self._send(json.dumps(api.whole(behaviour)).encode(), behaviour)

    def _send(
        self,
        data: bytes,
        behaviour: Behaviour,
        content_type: str = "application/json",
        status: int = 200,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in behaviour.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if behaviour.kind == "slow":
            self._drip(data)
        elif behaviour.kind == "half":
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        else:
            self._wait(behaviour.pause_s)
            self.wfile.write(data)

    def _stream(self, events: list[bytes], behaviour: Behaviour) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if behaviour.kind == "slow":
            self._drip(b"".join(events))
            return
        for event in events[: len(events) // 2] if behaviour.kind == "half" else events:
            self._wait(behaviour.pause_s)
            self.wfile.write(event)
            self.wfile.flush()

    def _drip(self, data: bytes) -> None:
        for byte in data:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if self._wait(0.02):
                return

    def _wait(self, seconds: float) -> bool:
        """Wait, unless the server is being stopped or the other side has gone."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self.server.stopping.wait(min(left, 0.02)) or self._gone():
                return True
        return False

    def _gone(self) -> bool:
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False


def _said(behaviour: Behaviour) -> str:
    return "x" * _LONG_BYTES if behaviour.kind == "long" else behaviour.text


def _pieces(text: str) -> list[str]:
    size = max(_PIECE_CHARS, len(text) // 1000)
    return [text[start : start + size] for start in range(0, len(text), size)]


class _Completions:
    """Chat completions as OpenAI's API writes them."""

    @staticmethod
    def whole(behaviour: Behaviour) -> dict[str, Any]:
        message = {"role": "assistant", "content": _said(behaviour), "refusal": behaviour.refusal}
        return {
            "id": "c1",
            "object": "chat.completion",
            "model": "m-2024-08-06",
            "choices": [
                {"index": 0, "message": message, "finish_reason": behaviour.finish or "stop"}
            ],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
        }

    @staticmethod
    def events(behaviour: Behaviour) -> list[bytes]:
        deltas: list[dict[str, Any]] = [{"content": piece} for piece in _pieces(_said(behaviour))]
        deltas += [{"refusal": behaviour.refusal}] if behaviour.refusal else []
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        finish = behaviour.finish or "stop"
        chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]
        chunks += [
            {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 50}},
        ]
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return [_event({**head, **chunk}) for chunk in chunks] + [b"data: [DONE]\n\n"]


class _Messages:
    """Messages as Anthropic's API writes them."""

    @staticmethod
    def whole(behaviour: Behaviour) -> dict[str, Any]:
        return {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": _said(behaviour)}],
            "stop_reason": behaviour.finish or "end_turn",
            "usage": {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 50},
        }

    @staticmethod
    def events(behaviour: Behaviour) -> list[bytes]:
        whole = _Messages.whole(behaviour)
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
        ]
        events += [
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
            for piece in _pieces(_said(behaviour))
        ]
        events += [
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": whole["stop_reason"]},
                "usage": {"output_tokens": 50},
            },
            {"type": "message_stop"},
        ]
        return [f"event: {each['type']}\n".encode() + _event(each) for each in events]


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
