"""The same answers for programs that speak OpenAI's chat completions.

A stream here cannot take a statement back, so it begins when the answer is decided.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response, StreamingResponse

from evidencedesk.model import Answer, Turn
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.origin import own_origin
from evidencedesk.server.permissions import permission_for
from evidencedesk.server.problems import RequestError
from evidencedesk.server.services import Services
from evidencedesk.server.shapes import Text, as_json, described
from evidencedesk.server.sse import MEDIA_TYPE

Caller = Annotated[Identity, Depends(identity_of)]

MODEL = "evidencedesk"
_EARLIER = 20


class TextPart(BaseModel):
    """A part of a message; only text is read."""

    model_config = ConfigDict(extra="ignore")

    type: str = "text"
    text: Text | None = None


class Message(BaseModel):
    """One message. Only what the user wrote is read: instructions to a model have no reader here."""

    model_config = ConfigDict(extra="ignore")

    role: str = Field(max_length=32)
    content: Text | list[TextPart] | None = None

    @property
    def text(self) -> str:
        """Its text."""
        if isinstance(self.content, list):
            return "\n".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class CompletionBody(BaseModel):
    """A chat completion; options of sampling are accepted and have no meaning here."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(default=MODEL, max_length=200, examples=[MODEL])
    messages: list[Message] = Field(min_length=1, max_length=1000)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None


def completions_router(services: Services) -> APIRouter:
    """``POST /v1/chat/completions`` and ``GET /v1/models``."""
    router = APIRouter(tags=["openai"])
    completed = as_json("A completion, or its chunks as events.")
    completed["content"][MEDIA_TYPE] = {"schema": {"type": "string"}}

    @router.post("/v1/chat/completions", response_model=None, responses=described(completed, 404))
    async def complete(body: CompletionBody, request: Request, caller: Caller) -> Response:
        """Answer the last message of the user; those before it give words and nothing else."""
        if body.model != MODEL:
            raise RequestError(
                f"There is no model {body.model!r}.",
                code="model_not_found",
                hint=f"Ask {MODEL!r}.",
            )
        services.tokens.check(caller.credential)
        asked = [message.text for message in body.messages if message.role == "user"]
        async with services.turns.turn():
            turn = await run_in_threadpool(_answered, services, asked, caller)
        created = int(services.clock.now().timestamp())
        link = _Links(own_origin(request, services.settings.server.public_url))
        completion = _Completion(turn, created, link)
        if not body.stream:
            return JSONResponse(completion.whole())
        usage = body.stream_options is not None and body.stream_options.include_usage
        return StreamingResponse(
            _events(completion.chunks(with_usage=usage)), media_type=MEDIA_TYPE
        )

    @router.get("/v1/models", response_model=None, responses=described(as_json("The one model.")))
    async def models(caller: Caller) -> Response:  # noqa: ARG001 - whoever may ask may look
        """The models there are: one, this desk."""
        return JSONResponse({"object": "list", "data": [_MODEL]})

    @router.get(
        "/v1/models/{model}",
        response_model=None,
        responses=described(as_json("The model."), 404),
    )
    async def model(model: str, caller: Caller) -> Response:  # noqa: ARG001
        """One model."""
        if model != MODEL:
            raise RequestError(f"There is no model {model!r}.", code="model_not_found")
        return JSONResponse(_MODEL)

    return router


_MODEL = {"id": MODEL, "object": "model", "created": 0, "owned_by": "evidencedesk"}


def _answered(services: Services, asked: Sequence[str], caller: Identity) -> Turn:
    turn = services.desk.chat(
        asked[-1] if asked else "",
        principal=caller.principal,
        earlier=[text for text in asked[:-1] if text.strip()][-_EARLIER:],
    )
    services.observe_answer(turn.answer, caller)
    return turn


class _Links:
    """Addresses at which a citation can be opened."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._pages = permission_for("GET", "/source") is not None

    def to(self, citation: dict[str, Any]) -> str:
        name = quote(citation["document_id"], safe="")
        if not self._pages:
            return f"{self._origin}/v1/documents/{name}"
        place = citation["quote_location"]
        at = f"{place['start']}-{place['end']}"
        content = quote(citation["content_hash"], safe="")
        return f"{self._origin}/source?document={name}&at={at}&content={content}"


class _Completion:
    """One answer in the shape of a chat completion."""

    def __init__(self, turn: Turn, created: int, links: _Links) -> None:
        self._answer: Answer = turn.answer
        self._shape = turn.to_json()
        self._links = links
        self._head = {
            "id": f"chatcmpl-{turn.answer.answer_id}",
            "created": created,
            "model": MODEL,
        }

    def whole(self) -> dict[str, Any]:
        """The completion at once."""
        message = {
            "role": "assistant",
            "content": self._answer.text,
            "refusal": None,
            "annotations": self._annotations(),
        }
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": self._usage(),
            MODEL: self._shape,
        }

    def chunks(self, *, with_usage: bool) -> Iterator[dict[str, Any]]:
        """The completion piece by piece: a claim each, then citations, then the end."""
        yield self._chunk({"role": "assistant", "content": ""})
        for piece in self._pieces():
            yield self._chunk({"content": piece})
        yield {**self._chunk({"annotations": self._annotations()}), MODEL: self._shape}
        yield self._chunk({}, finish="stop")
        if with_usage:
            yield {**self._chunk({}), "choices": [], "usage": self._usage()}

    def _pieces(self) -> Iterator[str]:
        """The text cut after each claim; nothing is lost where a claim is not found in it."""
        rest = self._answer.text
        for claim in self._answer.claims:
            before, found, after = rest.partition(claim.text)
            if found:
                yield before + found
                rest = after
        if rest:
            yield rest

    def _annotations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        position = 0
        for claim in self._answer.claims:
            start = max(self._answer.text.find(claim.text, position), position)
            position = min(start + len(claim.text), len(self._answer.text))
            for index in claim.citations:
                citation = self._shape["citations"][index]
                found.append(
                    {
                        "type": "url_citation",
                        "url_citation": {
                            "start_index": start,
                            "end_index": position,
                            "title": citation["label"],
                            "url": self._links.to(citation),
                        },
                    }
                )
        return found

    def _usage(self) -> dict[str, int]:
        usage = self._answer.usage
        return {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
        }

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}


async def _events(chunks: Iterator[dict[str, Any]]) -> AsyncIterator[str]:
    for chunk in chunks:
        yield f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"
    yield "data: [DONE]\n\n"
