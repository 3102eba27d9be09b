"""Receipts: what was answered, what readers say of it, whether it still holds, what is missing."""

from __future__ import annotations

import functools
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from evidencedesk.model.feedback import MAX_NOTE_CHARS, FeedbackVerdict
from evidencedesk.records import Lapsed
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.services import Services
from evidencedesk.server.shapes import Body, as_json, described

Caller = Annotated[Identity, Depends(identity_of)]
Limit = Annotated[int, Query(ge=1, le=500)]


class FeedbackBody(Body):
    """What a reader says of an answer."""

    verdict: Annotated[FeedbackVerdict, Field(strict=False)]
    note: str = Field(default="", max_length=MAX_NOTE_CHARS)


def answers_router(services: Services) -> APIRouter:
    """``/v1/answers`` and ``/v1/gaps``."""
    router = APIRouter(tags=["answers"])
    _add_reading(router, services)
    _add_judging(router, services)
    return router


def _add_reading(router: APIRouter, services: Services) -> None:
    @router.get(
        "/v1/answers", response_model=None, responses=described(as_json("Rows, newest first."))
    )
    async def answers(caller: Caller, limit: Limit = 100) -> Response:
        """Stored answers that the caller may read: his own, or all for who oversees."""
        list_them = functools.partial(
            services.desk.answers.list, principal=caller.principal, limit=limit
        )
        return JSONResponse({"answers": list(await run_in_threadpool(list_them))})

    @router.get(
        "/v1/answers/{answer_id}",
        response_model=None,
        responses=described(as_json("The receipt."), 404),
    )
    async def answer(answer_id: str, caller: Caller) -> Response:
        """The receipt of an answer; what the caller may not see now is left out."""
        show = functools.partial(services.desk.answers.show, answer_id, principal=caller.principal)
        return JSONResponse(await run_in_threadpool(show))

    @router.get(
        "/v1/gaps",
        response_model=None,
        responses=described(as_json("Groups of questions, the most asked first.")),
    )
    async def gaps(caller: Caller, limit: Limit = 50) -> Response:
        """Questions that ended in an abstention or in bad feedback, grouped."""
        find = functools.partial(services.desk.gaps, principal=caller.principal, limit=limit)
        return JSONResponse((await run_in_threadpool(find)).to_json())


def _add_judging(router: APIRouter, services: Services) -> None:
    @router.post(
        "/v1/answers/{answer_id}/feedback",
        response_model=None,
        status_code=201,
        responses=described(as_json("Kept."), 404, status=201),
    )
    async def feedback(answer_id: str, body: FeedbackBody, caller: Caller) -> Response:
        """Say of an answer that it is useful, wrong, or leaves something out."""
        say = functools.partial(
            services.desk.feedback,
            answer_id,
            body.verdict.value,
            principal=caller.principal,
            note=body.note,
        )
        kept = await run_in_threadpool(say)
        services.metrics.said(kept.verdict.value)
        return JSONResponse(kept.to_json(), 201)

    @router.post(
        "/v1/answers/{answer_id}/recheck",
        response_model=None,
        responses=described(as_json("Whether it holds, and what does not."), 404),
    )
    async def recheck(answer_id: str, caller: Caller) -> Response:
        """Whether an answer still holds with the documents, and the caller's rights, of now."""
        check = functools.partial(
            services.desk.answers.recheck, principal=caller.principal, answer_id=answer_id
        )
        lapsed = await run_in_threadpool(check)
        return JSONResponse(
            {
                "answer_id": answer_id,
                "holds": not lapsed,
                "lapsed": [lapsed_json(each) for each in lapsed],
            }
        )


def lapsed_json(lapsed: Lapsed) -> dict[str, object]:
    """A citation that no longer holds, in its stable shape."""
    return {
        "citation": lapsed.citation,
        "document_id": lapsed.document_id,
        "lapse": lapsed.lapse.value,
        "detail": lapsed.detail,
    }
