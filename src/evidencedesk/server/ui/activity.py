"""The room Activity: the audit chain for people, without content."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.services import Services
from evidencedesk.server.ui.rendering import Pages

Caller = Annotated[Identity, Depends(identity_of)]


def activity_router(services: Services, pages: Pages) -> APIRouter:
    """``GET /activity``."""
    router = APIRouter()

    @router.get("/activity")
    def activity(
        request: Request, caller: Caller, limit: Annotated[int, Query(ge=1, le=2_000)] = 100
    ) -> Response:
        """Who did what, the newest first."""
        entries = services.desk.activity(principal=caller.principal, limit=limit)
        return pages.page(
            request,
            caller,
            "activity.html",
            room="activity",
            entries=entries,
            more=min(limit * 2, 2_000) if len(entries) == limit < 2_000 else None,
        )

    return router
