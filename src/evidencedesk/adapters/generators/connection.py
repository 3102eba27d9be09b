"""A connection whose every wait is bounded: for the official clients, as their HTTP client.

The clients' own timeouts bound each read, so a provider that sends a byte a second is never late.
Here a call ends at its deadline, or when whoever asked has gone, whatever the other side does.
"""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpcore2
import httpx2

from evidencedesk.errors import EvidenceDeskError, ProviderError
from evidencedesk.model import CallBounds

MAX_RESPONSE_BYTES = 8 << 20
"""A longer response is given up; the longest reply that is read has a million characters."""

_POLL_S = 0.1
_SocketOptions = Iterable[
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
]


@dataclass(slots=True)
class CallState:
    """The call that a connection is busy with.

    Attributes:
        bounds: when it must end.
        received: bytes received so far.
        failure: why it was given up here; the clients wrap what is raised, this is not wrapped.
    """

    bounds: CallBounds
    received: int = 0
    failure: EvidenceDeskError | None = None

    def remaining(self) -> float:
        """Seconds left, keeping the error that says there are none."""
        try:
            return self.bounds.remaining()
        except EvidenceDeskError as error:
            self.failure = error
            raise httpcore2.ReadTimeout(error.message) from None

    def receive(self, data: bytes) -> bytes:
        """Count ``data``."""
        self.received += len(data)
        if self.received > MAX_RESPONSE_BYTES:
            self.failure = ProviderError(
                f"the response is longer than {MAX_RESPONSE_BYTES:,} bytes"
            )
            raise httpcore2.ReadError(self.failure.message)
        return data


class _Stream(httpcore2.NetworkStream):
    """A socket that is read in short waits."""

    def __init__(self, inner: httpcore2.NetworkStream, state: CallState) -> None:
        self._inner = inner
        self._state = state

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        while True:
            left = self._state.remaining()
            try:
                return self._state.receive(self._inner.read(max_bytes, min(left, _POLL_S)))
            except httpcore2.ReadTimeout:
                if self._state.failure is not None:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._inner.write(buffer, self._state.remaining())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, timeout)
        return _Stream(inner, self._state)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)


@dataclass(slots=True)
class _Backend(httpcore2.NetworkBackend):
    state: CallState
    inner: httpcore2.NetworkBackend = field(default_factory=httpcore2.SyncBackend)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002
        local_address: str | None = None,
        socket_options: _SocketOptions | None = None,
    ) -> httpcore2.NetworkStream:
        wait = min(self.state.remaining(), self.state.bounds.connect_s)
        stream = self.inner.connect_tcp(host, port, wait, local_address, socket_options)
        return _Stream(stream, self.state)


class _Transport(httpx2.BaseTransport):
    """What httpx2 sends through: one connection whose socket is ours."""

    def __init__(self, state: CallState, ssl_context: ssl.SSLContext, proxy: str | None) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=ssl_context,
            proxy=httpcore2.Proxy(proxy) if proxy else None,
            max_connections=1,
            network_backend=_Backend(state),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.read(),
            extensions={"timeout": {}},
        )
        with _translated():
            response = self._pool.handle_request(sent)
        return httpx2.Response(response.status, headers=response.headers, stream=_Body(response))

    def close(self) -> None:
        self._pool.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _translated():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


@contextmanager
def _translated() -> Iterator[None]:
    """The errors of httpcore2 as those of httpx2, which the clients know."""
    try:
        yield
    except httpcore2.ConnectTimeout as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError) as error:
        raise httpx2.ReadError(str(error)) from error
    except httpcore2.UnsupportedProtocol as error:
        raise httpx2.UnsupportedProtocol(str(error)) from error


@contextmanager
def connection(
    bounds: CallBounds, ssl_context: ssl.SSLContext, base_url: str
) -> Iterator[tuple[httpx2.Client, CallState]]:
    """A client for one call, closed with everything it holds when the call ends, however it ends.

    One connection per call costs a handshake and leaves nothing behind: what is cancelled or late is
    closed without touching another call. The environment's proxy is used, its credentials
    (``.netrc``) are not. Redirects are not followed: they would carry the documents elsewhere.
    """
    state = CallState(bounds)
    transport = _Transport(state, ssl_context, _proxy(base_url))
    with httpx2.Client(transport=transport, trust_env=False, follow_redirects=False) as client:
        yield client, state


def _proxy(base_url: str) -> str | None:
    """The proxy that the environment names for this address.

    Raises:
        ProviderError: it is of a kind that is not spoken here; going around it is no choice of ours.
    """
    url = httpx2.URL(base_url)
    if urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if proxy and not proxy.startswith(("http://", "https://")):
        raise ProviderError("the proxy that the environment names is not an HTTP proxy")
    return proxy
