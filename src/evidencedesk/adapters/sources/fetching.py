"""One document over http or https, bounded in size, time and redirects, from a pinned address.

Written on ``http.client``: it connects where it is told to, reads no proxy settings, keeps no cookies and
follows nothing by itself.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection

from evidencedesk.adapters.sources.addresses import Address, Addresses
from evidencedesk.errors import SourceError

USER_AGENT = "evidencedesk"
_BLOCK = 1 << 16
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one document may cost.

    Attributes:
        max_bytes: larger ones are refused, also after unpacking.
        seconds: for all of it, redirects included.
        redirects: how often it may lie elsewhere.
    """

    max_bytes: int = 50 << 20
    seconds: float = 30.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered.

    Attributes:
        address: where the answer came from, after redirects.
        status: the status code.
        headers: by lower-case name.
        data: the body, unpacked; empty unless the status is 200.
    """

    address: Address
    status: int
    headers: Mapping[str, str]
    data: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class Fetcher:
    """Fetches documents that the rule allows.

    Attributes:
        addresses: the rule.
        bounds: what one document may cost.
        tls: how servers prove who they are; the machine's certificates by default.
        monotonic: seconds from an arbitrary start.
    """

    addresses: Addresses
    bounds: Bounds = field(default_factory=Bounds)
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    monotonic: Callable[[], float] = time.monotonic

    def fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Response:
        """The document at ``url``, wherever it is redirected to within the rule.

        Raises:
            SourceError: ``bad_url``, ``host_not_allowed``, ``address_refused``, ``unreachable``,
                ``timeout``, ``too_large``, ``too_many_redirects``, ``downgraded`` (from https to
                http) or ``bad_response``.
        """
        deadline = self.monotonic() + self.bounds.seconds
        address = self.addresses.check(url)
        for _ in range(self.bounds.redirects + 1):
            response = self._exchange(address, headers or {}, deadline)
            if response.status not in _REDIRECTS:
                return response
            address = self._next(address, response.headers.get("location", ""))
        raise SourceError(
            f"{url}: redirected more than {self.bounds.redirects} times.",
            code="too_many_redirects",
            hint="Name the address that it leads to.",
        )

    def _next(self, address: Address, location: str) -> Address:
        if not location:
            raise _unusable(address, "a redirect that leads nowhere")
        found = self.addresses.check(location, base=address.url)
        if address.scheme == "https" and found.scheme != "https":
            raise SourceError(
                f"{address.url}: redirected to {found.url}, which is not encrypted.",
                code="downgraded",
                hint="Name that address if you trust it.",
            )
        return found

    def _exchange(self, address: Address, headers: Mapping[str, str], deadline: float) -> Response:
        try:
            with self._connected(address, deadline) as connection:
                connection.putrequest("GET", address.target, skip_accept_encoding=True)
                sent = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip", **headers}
                for name, value in sent.items():
                    connection.putheader(name, value)
                connection.endheaders()
                with closing(connection.getresponse()) as answer:
                    response = self._response(address, answer)
            if self.monotonic() < deadline:
                return response
        except (OSError, HTTPException, ValueError, _CutOffError) as error:
            if self.monotonic() < deadline and not isinstance(error, TimeoutError):
                raise _unreachable(address, error) from None
        raise SourceError(
            f"{address.url}: not answered within {self.bounds.seconds:g} seconds.",
            code="timeout",
            hint="Try again later, or raise [web] timeout_s.",
        )

    @contextmanager
    def _connected(self, address: Address, deadline: float) -> Iterator[HTTPConnection]:
        """A connection that is cut at the deadline, whatever it is waiting for."""
        remaining = deadline - self.monotonic()
        if remaining <= 0:
            raise TimeoutError
        plain = _connect(self.addresses.pin(address), address.port, remaining)
        with plain, closing(plain.dup()) as twin:  # TLS takes the first one over
            cut = threading.Timer(remaining, _cut, [twin])
            cut.daemon = True
            cut.start()
            try:
                with closing(self._over(plain, address)) as connection:
                    yield connection
            finally:
                cut.cancel()
                cut.join()

    def _over(self, plain: socket.socket, address: Address) -> HTTPConnection:
        if address.scheme == "http":
            connection = HTTPConnection(address.host, address.port)
            connection.sock = plain
            return connection
        secure = HTTPSConnection(address.host, address.port, context=self.tls)
        secure.sock = self.tls.wrap_socket(plain, server_hostname=address.host)
        return secure

    def _response(self, address: Address, answer: HTTPResponse) -> Response:
        headers = {name.lower(): value for name, value in answer.getheaders()}
        data = b"".join(self._body(address, answer, headers)) if answer.status == 200 else b""
        return Response(address, answer.status, headers, data)

    def _body(
        self, address: Address, answer: HTTPResponse, headers: Mapping[str, str]
    ) -> Iterator[bytes]:
        coding = headers.get("content-encoding", "identity").strip().lower()
        if coding not in {"identity", "gzip", "x-gzip", ""}:
            raise _unusable(address, f"packed as {coding!r}, which nobody asked for")
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS) if "gzip" in coding else None
        room = self.bounds.max_bytes
        while block := answer.read(_BLOCK):
            try:
                data = unpacker.decompress(block, room + 1) if unpacker else block
            except zlib.error:
                raise _unusable(address, "said to be packed, and is not") from None
            room -= len(data)
            if room < 0:
                raise SourceError(
                    f"{address.url}: larger than the limit of {self.bounds.max_bytes} bytes.",
                    code=_TOO_LARGE,
                    hint="Raise [ingestion] max_file_mb, or ingest it as a file in parts.",
                )
            yield data
        if answer.length or (unpacker is not None and not unpacker.eof):
            raise _CutOffError("the answer was cut off")


class _CutOffError(Exception):
    """The body ended before its end."""


def _connect(addresses: tuple[str, ...], port: int, seconds: float) -> socket.socket:
    failure: OSError = OSError("there is no address")
    for address in addresses:
        try:
            return socket.create_connection((address, port), timeout=seconds)
        except OSError as error:
            failure = error
    raise failure


def _cut(plain: socket.socket) -> None:
    try:
        plain.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it had been closed meanwhile


def _unreachable(address: Address, error: Exception) -> SourceError:
    return SourceError(
        f"{address.url}: {str(error) or type(error).__name__}.",
        code="unreachable",
        hint="Check the address and the connection.",
    )


def _unusable(address: Address, reason: str) -> SourceError:
    return SourceError(
        f"{address.url}: the answer cannot be used: {reason}.",
        code="bad_response",
        hint="Open it in a browser, save it, and ingest the file.",
    )
