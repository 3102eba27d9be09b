"""What every request passes before anything of it is read: name, caller, permission, limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evidencedesk.errors import EvidenceDeskError
from evidencedesk.server.auth import Authenticate
from evidencedesk.server.body import BoundedBody, declared_length, too_large
from evidencedesk.server.identity import Identity, Permission
from evidencedesk.server.limits import Allowance
from evidencedesk.server.origin import SAFE, check_meant
from evidencedesk.server.permissions import ROUTES, RouteRow
from evidencedesk.server.problems import UNAUTHENTICATED, Problem, not_permitted, problem_of
from evidencedesk.settings.serving import ServerTable

SIGN_IN = "/sign-in"
_MOST_QUERY = 2000
"""Bytes of a query that is gone back to after signing in; a citation's is far shorter."""

Denied = Callable[[str, str, Identity | None], None]
"""Told of every refusal: its code, the route, and the caller where he is known."""


class Gate:
    """ASGI middleware: lets a request through with its caller, or answers it itself.

    The table of permissions decides which routes there are. A caller who is not known is told so
    whatever he asks for, so that paths cannot be tried out.

    Args:
        app: what lies behind.
        authenticate: finds the caller.
        requests: what each caller may ask for.
        settings: limits and public address.
        signs_in: whether a browser can be sent to sign in.
        denied: told of every refusal.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticate: Authenticate,
        requests: Allowance,
        settings: ServerTable,
        signs_in: bool,
        denied: Denied,
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        self._requests = requests
        self._settings = settings
        self._signs_in = signs_in
        self._denied = denied
        self._routes = _compiled(ROUTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        row, allowed = self._row_of(scope)
        scope["evidencedesk.route"] = row.path if row else ""
        identity: Identity | None = None
        try:
            identity = await self._caller(scope, row)
            refused = self._refusal(scope, row, allowed, identity)
            if refused is None:
                bounded = self._bounded(scope, row, receive)
        except EvidenceDeskError as error:
            refused = problem_of(error).response()
            self._denied(error.code, scope["evidencedesk.route"], identity)
        if refused is not None:
            await refused(scope, receive, send)
            return
        scope["evidencedesk.identity"] = identity
        if scope["method"] == "HEAD":
            await self._app({**scope, "method": "GET"}, bounded, _without_body(send))
        else:
            await self._app(scope, bounded, send)

    async def _caller(self, scope: Scope, row: RouteRow | None) -> Identity | None:
        connection = HTTPConnection(scope)
        if row is not None and row.permission is Permission.PUBLIC:
            return None
        identity = await run_in_threadpool(self._authenticate, connection)
        if identity is not None:
            check_meant(connection, scope["method"], identity, self._settings.public_url)
            self._requests.spend(identity.credential)
        return identity

    def _refusal(
        self, scope: Scope, row: RouteRow | None, allowed: Sequence[str], identity: Identity | None
    ) -> Response | None:
        if row is not None and row.permission is Permission.PUBLIC:
            return None
        if identity is None:
            self._denied(UNAUTHENTICATED.code, scope["evidencedesk.route"], None)
            return self._sent_to_sign_in(scope, row) or UNAUTHENTICATED.response()
        if row is None:
            return _no_such_route(scope, allowed).response()
        if not identity.may(row.permission):
            self._denied("not_permitted", row.path, identity)
            return not_permitted(row.permission.value).response()
        return None

    def _sent_to_sign_in(self, scope: Scope, row: RouteRow | None) -> Response | None:
        if row is None or not row.page or not self._signs_in or scope["method"] not in SAFE:
            return None
        target = quote(scope["path"], safe="/")
        if 0 < len(scope["query_string"]) <= _MOST_QUERY:
            target += "?" + scope["query_string"].decode("latin-1")
        return RedirectResponse(f"{SIGN_IN}?target={quote(target, safe='')}", 303)

    def _bounded(self, scope: Scope, row: RouteRow | None, receive: Receive) -> Receive:
        limits = self._settings.limits
        most = limits.upload_mb << 20 if row is not None and row.upload else limits.body_kb << 10
        length = declared_length(Headers(scope=scope))
        if length is not None and length > most:
            raise too_large(most)
        return BoundedBody(receive, most_bytes=most, seconds=limits.body_timeout_s)

    def _row_of(self, scope: Scope) -> tuple[RouteRow | None, tuple[str, ...]]:
        """The row of the request, or the methods that its path has."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        rows = [row for pattern, row in self._routes if pattern.match(scope["path"])]
        first = next((row for row in rows if row.method == method), None)
        return first, tuple(sorted({row.method for row in rows}))


def _without_body(send: Send) -> Send:
    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return send_head


def _compiled(rows: Sequence[RouteRow]) -> tuple[tuple[re.Pattern[str], RouteRow], ...]:
    return tuple((compile_path(row.path)[0], row) for row in rows)


def _no_such_route(scope: Scope, allowed: Sequence[str]) -> Problem:
    if allowed:
        shown = ", ".join(allowed)
        return Problem(
            405, "bad_method", f"Here is {shown} only.", "GET /openapi.json.", {"Allow": shown}
        )
    return Problem(404, "not_found", f"There is no {scope['path']!r}.", "GET /openapi.json.")
