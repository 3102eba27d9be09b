"""The Model Context Protocol over HTTP, behind the same gate as every other route."""

from __future__ import annotations

import functools
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from evidencedesk.model import Answer
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.mcp import mcp_server, serve_request
from evidencedesk.server.services import Services

Caller = Annotated[Identity, Depends(identity_of)]


def mcp_router(services: Services) -> APIRouter:
    """``POST /mcp``: one message in, its answer out; sessions and streams are not offered."""
    router = APIRouter(tags=["mcp"])

    @router.post("/mcp", include_in_schema=False)
    async def message(caller: Caller) -> Response:
        """Answer one message of the protocol, as the caller."""
        services.tokens.check(caller.credential)
        return _Exchange(services, caller)

    return router


class _Exchange(Response):
    """A response that the protocol's own code writes, while it holds a turn like any answer."""

    def __init__(self, services: Services, caller: Identity) -> None:
        super().__init__()
        self._services = services
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the message and write the answer."""
        services, caller = self._services, self._caller
        server = mcp_server(
            services.desk,
            lambda _: caller.principal,
            answered=functools.partial(_observe, services, caller),
        )
        most = services.settings.server.limits.body_kb << 10
        async with services.turns.turn():
            await serve_request(server, scope, receive, send, max_body_bytes=most)


def _observe(services: Services, caller: Identity, answer: Answer) -> None:
    services.observe_answer(answer, caller)
