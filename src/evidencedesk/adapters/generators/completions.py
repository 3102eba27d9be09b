"""Reading chat completions: what OpenAI's API, and everything that imitates it, answers."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from pydantic import BaseModel, Field

from evidencedesk.errors import ProviderError
from evidencedesk.model import Reply, StopReason, Usage

_STOPS = {"length": StopReason.LENGTH, "content_filter": StopReason.REFUSED}


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Piece(BaseModel):
    delta: _Message = _Message()
    finish_reason: str | None = None


class _Chunk(BaseModel):
    choices: list[_Piece] = []
    usage: _Usage | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


def read_whole(text: str) -> Reply:
    """The reply in the body of a response.

    Raises:
        ValueError: it is no chat completion.
    """
    completion = _Completion.model_validate_json(text)
    choice = completion.choices[0]
    return _reply(choice.message, choice.finish_reason, completion.usage)


def read_stream(chunks: Iterable[dict[str, object]]) -> Generator[str | Reply, None, None]:
    """The pieces of text in the events of a stream, then the whole reply.

    Raises:
        ValueError: an event is no chunk of a chat completion.
        ProviderError: the stream ends before the model was done.
    """
    pieces: list[str] = []
    last, refusal = _Chunk(), ""
    finish: str | None = None
    for chunk in map(_Chunk.model_validate, chunks):
        last = chunk if chunk.usage else last
        for choice in chunk.choices[:1]:
            finish = choice.finish_reason or finish
            refusal += choice.delta.refusal or ""
            if choice.delta.content:
                pieces.append(choice.delta.content)
                yield choice.delta.content
    if finish is None:
        raise ProviderError("the stream broke off", retryable=True)
    yield _reply(_Message(content="".join(pieces), refusal=refusal), finish, last.usage)


def _reply(message: _Message, finish: str | None, usage: _Usage | None) -> Reply:
    stop = StopReason.REFUSED if message.refusal else _STOPS.get(finish or "", StopReason.END)
    spent = usage or _Usage()
    return Reply(
        message.content or "",
        stop,
        usage=Usage(spent.prompt_tokens, spent.completion_tokens),
    )
