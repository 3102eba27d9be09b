"""One line in the log, one figure and one trace per request, by route and never by path."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evidencedesk.server.services import Services

_NOT_FOUND = 404
_QUIET = frozenset({"/health", "/health/ready", "/metrics"})


class Observing:
    """ASGI middleware that measures requests."""

    def __init__(self, app: ASGIApp, *, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = self._services.clock.monotonic()
        status = 500

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._services.traces.request(Headers(scope=scope)) as ended:
            try:
                await self._app(scope, receive, send_noted)
            finally:
                method = scope["method"] if scope["method"] in _METHODS else "(other)"
                route = scope.get("evidencedesk.route") or "(none)"
                ended(method, route, status)
                seconds = self._services.clock.monotonic() - started
                self._note(scope, method, route, status, seconds)

    def _note(self, scope: Scope, method: str, route: str, status: int, seconds: float) -> None:
        self._services.metrics.request(method, route, status, seconds)
        caller = scope.get("evidencedesk.identity")
        if status == _NOT_FOUND and caller is not None and scope.get("evidencedesk.route"):
            # Unknown or not permitted: nobody is told which, but whoever tries many shows here.
            self._services.denied("not_found", route, caller)
        level = self._services.log.debug if route in _QUIET else self._services.log.info
        level(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            request=scope.get("evidencedesk.request_id", ""),
        )


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
