"""Headers of every response: nothing is sniffed, framed, kept or loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STRICT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""Content-Security-Policy of whatever is not a page of ours."""

REQUEST_ID = "x-request-id"
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_UNLESS_SET = {"Content-Security-Policy": STRICT_POLICY, "Cache-Control": "no-store"}
_HSTS = "max-age=31536000"


class Headers:
    """ASGI middleware that adds them, and an id under which the log knows the request."""

    def __init__(self, app: ASGIApp, *, new_request_id: Callable[[], str]) -> None:
        self._app = app
        self._new_request_id = new_request_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["evidencedesk.request_id"] = self._new_request_id()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                complete(MutableHeaders(scope=message), scope, request_id)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def complete(headers: MutableHeaders, scope: Scope, request_id: str) -> None:
    """Add them to those of a response; for responses that are made outside of the middleware, too."""
    for name, value in _ALWAYS.items():
        headers[name] = value
    for name, value in _UNLESS_SET.items():
        headers.setdefault(name, value)
    headers[REQUEST_ID] = request_id
    if scope.get("scheme") == "https":
        headers["Strict-Transport-Security"] = _HSTS
