"""A web server of our own, and fetchers that may connect to it and to nothing else."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from evidencedesk.adapters.sources.addresses import Addresses, IPAddress
from evidencedesk.adapters.sources.fetching import Bounds, Fetcher

Answer = Callable[[BaseHTTPRequestHandler], None]


def only_loopback(address: IPAddress) -> bool:
    return address == ipaddress.ip_address("127.0.0.1")


@dataclass
class Site:
    """A server whose pages are functions; it remembers every request."""

    pages: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    def url(self, path: str, host: str = "site.test") -> str:
        return f"http://{host}:{self.port}{path}"

    def page(
        self,
        path: str,
        body: bytes | str,
        kind: str = "text/html; charset=utf-8",
        status: int = 200,
        **headers: str,
    ) -> None:
        data = body.encode() if isinstance(body, str) else body

        def answer(request: BaseHTTPRequestHandler) -> None:
            validators = {name.replace("_", "-"): value for name, value in headers.items()}
            etag = validators.get("ETag")
            same = etag is not None and request.headers.get("If-None-Match") == etag
            request.send_response(304 if same else status)
            for name, value in validators.items():
                request.send_header(name, value)
            if not same:
                request.send_header("Content-Type", kind)
                request.send_header("Content-Length", str(len(data)))
            request.end_headers()
            if not same:
                request.wfile.write(data)

        self.pages[path] = answer

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        self.page(path, b"", status=status, Location=to)

    def fetcher(
        self,
        *hosts: str,
        resolver: Callable[[str, int], Sequence[str]] = lambda _host, _port: ["127.0.0.1"],
        may_connect: Callable[[IPAddress], bool] = only_loopback,
        bounds: Bounds | None = None,
    ) -> Fetcher:
        named = [host if ":" in host else f"{host}:{self.port}" for host in hosts or ("site.test",)]
        addresses = Addresses(named, resolver=resolver, may_connect=may_connect)
        return Fetcher(addresses, bounds or Bounds(max_bytes=100_000, seconds=5))
