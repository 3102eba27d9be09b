"""Asking and searching."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import closing
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from evidencedesk.desk.shapes import hit_json
from evidencedesk.errors import EvidenceDeskError
from evidencedesk.pipeline import AnswerEvent, ClaimEvent, StreamEvent, turn_of
from evidencedesk.server import sse
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.problems import problem_of
from evidencedesk.server.services import Services
from evidencedesk.server.shapes import AskBody, SearchBody, as_json, described

Caller = Annotated[Identity, Depends(identity_of)]

Told = tuple[str, dict[str, Any]]
"""Name and content of an event."""

_EVENTS = (
    "The answer; with `Accept: text/event-stream` the events `retrieved`, `claim` (verified ones "
    "only), `answer` and `error`. The last event decides: an abstention takes earlier claims back."
)


def asking_router(services: Services) -> APIRouter:
    """``POST /v1/ask`` and ``POST /v1/search``."""
    router = APIRouter(tags=["asking"])
    answered = {**as_json(_EVENTS)}
    answered["content"][sse.MEDIA_TYPE] = {"schema": {"type": "string"}}

    @router.post("/v1/ask", response_model=None, responses=described(answered))
    async def ask(body: AskBody, request: Request, caller: Caller) -> Response:
        """Answer a question from the documents that the caller may see, or say why not."""
        services.tokens.check(caller.credential)
        if wants_events(request):
            return await _events(services, body, caller)
        async with services.turns.turn():
            answer = await run_in_threadpool(answer_of, services, body, caller)
        return JSONResponse(answer)

    @router.post("/v1/search", response_model=None, responses=described(as_json("The chunks.")))
    async def search(body: SearchBody, caller: Caller) -> Response:
        """The best chunks that the caller may see, best first; no threshold."""
        find = functools.partial(
            services.desk.search,
            body.query,
            principal=caller.principal,
            statuses=body.looked_at,
            k=body.k,
        )
        async with services.searches.turn():
            hits = await run_in_threadpool(find)
        return JSONResponse({"query": body.query, "hits": [hit_json(hit) for hit in hits]})

    return router


def wants_events(request: Request) -> bool:
    """Whether the caller reads events."""
    return sse.MEDIA_TYPE in request.headers.get("accept", "")


def answer_of(services: Services, body: AskBody, caller: Identity) -> dict[str, Any]:
    """The answer to ``body`` in its stable shape, counted and charged for."""
    if body.earlier:
        turn = services.desk.chat(
            body.question,
            principal=caller.principal,
            earlier=body.earlier,
            statuses=body.looked_at,
        )
        services.observe_answer(turn.answer, caller)
        return turn.to_json()
    answer = services.desk.ask(body.question, principal=caller.principal, statuses=body.looked_at)
    services.observe_answer(answer, caller)
    return answer.to_json()


def answer_events(
    services: Services, body: AskBody, caller: Identity, gone: Callable[[], bool]
) -> Generator[Told, None, None]:
    """The events of an answer, by name, in their stable shape; the answer is counted and charged for.

    A generator that replies all at once has no claims on the way: they come just before the answer.
    """
    asked = services.desk.stand_alone(body.question, body.earlier) if body.earlier else None
    events = services.desk.ask_stream(
        body.question if asked is None else asked.text,
        principal=caller.principal,
        statuses=body.looked_at,
        cancelled=gone,
    )
    shown = 0
    with closing(cast("Generator[StreamEvent, None, None]", events)) as generator:
        for event in generator:
            shown += isinstance(event, ClaimEvent)
            if not isinstance(event, AnswerEvent):
                yield event.name, event.to_json()
                continue
            turn = None if asked is None else turn_of(body.question, asked, event.answer)
            services.observe_answer(event.answer if turn is None else turn.answer, caller)
            for claim in () if shown else event.answer.claims:
                yield "claim", ClaimEvent(claim, event.answer.citations).to_json()
            yield event.name, {**event.to_json(), **({} if turn is None else turn.to_json())}


async def _events(services: Services, body: AskBody, caller: Identity) -> Response:
    start = functools.partial(answer_events, services, body, caller)
    feed = sse.Feed(start, services.turns.turn())
    first = await feed.first()

    async def written() -> AsyncIterator[str]:
        yield sse.event(*first)
        async for item in feed.rest():
            if isinstance(item, EvidenceDeskError):
                yield sse.event("error", problem_of(item).to_json())
            else:
                yield sse.event(*item)

    return sse.EventResponse(written(), feed)
