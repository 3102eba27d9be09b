"""The room Ask, stored answers, and the switch of language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from evidencedesk.errors import UsageError
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.services import Services
from evidencedesk.server.ui.rendering import Pages
from evidencedesk.server.ui.texts import COOKIE, LANGUAGES

Caller = Annotated[Identity, Depends(identity_of)]

_LOOKED_AT = 50
_RECENT = 8
_REMEMBERED = 365 * 24 * 3600


def asking_room_router(services: Services, pages: Pages) -> APIRouter:
    """``GET /``, ``/answers/{answer_id}`` and ``/language/{code}``."""
    router = APIRouter()

    @router.get("/")
    def ask(request: Request, caller: Caller) -> Response:
        """The room Ask. The answer itself comes from ``POST /v1/ask``."""
        rows = services.desk.answers.list(principal=caller.principal, limit=_LOOKED_AT)
        return pages.page(
            request,
            caller,
            "ask.html",
            room="ask",
            recent=_recent(rows, caller.principal.subject),
            answer_id="",
            most_chars=services.settings.retrieval.max_question_chars,
        )

    @router.get("/answers/{answer_id}")
    def answer(answer_id: str, request: Request, caller: Caller) -> Response:
        """A stored answer, as its reader may read it now."""
        try:
            services.desk.answers.show(answer_id, principal=caller.principal)
        except UsageError:
            return pages.missing(request, caller)
        return pages.page(
            request,
            caller,
            "ask.html",
            room="ask",
            recent=(),
            answer_id=answer_id,
            most_chars=services.settings.retrieval.max_question_chars,
        )

    @router.get("/language/{code}")
    def language(
        code: str,
        request: Request,
        caller: Caller,
        back: Annotated[str, Query(max_length=2_000)] = "/",
    ) -> Response:
        """Switch to another language and go back to where that was asked for."""
        if code not in LANGUAGES:
            return pages.missing(request, caller)
        response = RedirectResponse(_local(back), 303)
        response.set_cookie(
            COOKIE,
            code,
            max_age=_REMEMBERED,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    return router


def _recent(rows: Sequence[Mapping[str, Any]], subject: str | None) -> list[Mapping[str, Any]]:
    """One's own questions, each once with its newest answer; an overseer's rows hold everybody's."""
    newest: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if row["question"] and row["asked_by"] == subject:
            newest.setdefault(row["question"], row)
    return list(newest.values())[:_RECENT]


def _local(path: str) -> str:
    """``path`` if it leads nowhere but to this server; browsers take a backslash for a slash."""
    starts_here = path.startswith("/") and path[1:2] not in {"/", "\\"}
    plain = path.isprintable() and path.isascii()
    return path if starts_here and plain else "/"
