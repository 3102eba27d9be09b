"""Reading a reply: what a generator wrote becomes a draft, or the reason why it is not believed.

A reply is one JSON object in the shape of behaviour 8, alone or as the only content of one fenced
code block, with nothing before or after it. Nothing is repaired and nothing is guessed: an unknown
or repeated key, a number that JSON has not (``NaN``), half of a surrogate pair or a value of another
type makes the whole reply invalid. ``insufficient`` may be left out and then is false; ``claims``
may be left out only where ``insufficient`` is true.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evidencedesk.model import (
    Draft,
    DraftCitation,
    DraftClaim,
    Reason,
    Reply,
    StopReason,
)

MAX_REPLY_CHARS = 1_000_000
"""A reply longer than this is not read at all."""

MAX_DEPTH = 16
"""Brackets nested deeper than this are not read; the schema needs five."""

_MAX_CLAIMS = 200
_MAX_CITATIONS = 50
_MAX_TEXT_CHARS = 20_000
_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(?P<body>.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")

_STOPPED = {
    StopReason.LENGTH: (Reason.TRUNCATED, "the output limit was hit"),
    StopReason.REFUSED: (Reason.REFUSED, "the provider refused"),
    StopReason.TIMEOUT: (Reason.TIMEOUT, "the generator did not answer in time"),
    StopReason.ERROR: (Reason.MODEL_ERROR, "the generator failed"),
}


@dataclass(frozen=True, slots=True)
class RejectedReply:
    """A reply that is not believed.

    Attributes:
        reason: ``truncated``, ``refused``, ``timeout``, ``model_error``, ``invalid_json`` or
            ``invalid_schema``.
        detail: what is wrong with it, for a person; holds no text of the reply.
    """

    reason: Reason
    detail: str


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Citation(_Strict):
    source: Annotated[str, Field(max_length=200)]
    quote: Annotated[str, Field(max_length=_MAX_TEXT_CHARS)]


class _Claim(_Strict):
    text: Annotated[str, Field(min_length=1, max_length=_MAX_TEXT_CHARS, pattern=r"\S")]
    citations: Annotated[list[_Citation], Field(max_length=_MAX_CITATIONS)]


class _Reply(_Strict):
    insufficient: bool = False
    claims: Annotated[list[_Claim], Field(max_length=_MAX_CLAIMS)] = []

    @model_validator(mode="after")
    def _has_claims(self) -> _Reply:
        if not self.insufficient and "claims" not in self.model_fields_set:
            raise ValueError("claims is missing")
        return self


class _InvalidJSONError(ValueError):
    """Ours, so that the detail never holds text of the reply."""


def parse_reply(reply: Reply) -> Draft | RejectedReply:
    """The draft in ``reply``, or why there is none. Looks at the stop reason before the text.

    Never raises for anything a generator may write, and its cost is linear in the reply's length.
    """
    stopped = _STOPPED.get(reply.stop_reason)
    if stopped is not None:
        reason, detail = stopped
        return RejectedReply(reason, reply.detail or detail)
    try:
        value = _load(reply.text)
    except _InvalidJSONError as error:
        return RejectedReply(Reason.INVALID_JSON, str(error))
    try:
        parsed = _Reply.model_validate(value)
    except ValidationError as error:
        return RejectedReply(Reason.INVALID_SCHEMA, _first_error(error))
    return _draft(parsed)


def _load(text: str) -> object:
    if len(text) > MAX_REPLY_CHARS:
        raise _InvalidJSONError(f"longer than {MAX_REPLY_CHARS} characters")
    stripped = text.strip().removeprefix("\ufeff")
    fenced = _FENCED.fullmatch(stripped)
    body = fenced["body"] if fenced else stripped
    _check_depth(body)
    try:
        value: object = json.loads(
            body,
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
            parse_int=_whole_number,
        )
    except json.JSONDecodeError as error:
        raise _InvalidJSONError(f"{error.msg} at character {error.pos}") from None
    if _SURROGATE.search(text) or _has_surrogate(value):
        raise _InvalidJSONError("half of a surrogate pair")
    return value


def _check_depth(body: str) -> None:
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", _STRING.sub("", body)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise _InvalidJSONError(f"nested deeper than {MAX_DEPTH} brackets")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise _InvalidJSONError("a key is repeated in one object")
    return mapping


def _no_constant(name: str) -> NoReturn:
    raise _InvalidJSONError(f"{name} is no JSON value")


def _whole_number(digits: str) -> float:
    """The schema has no numbers; as a float even a million digits cost nothing to read."""
    return float(digits)


def _has_surrogate(value: object) -> bool:
    if isinstance(value, str):
        return bool(_SURROGATE.search(value))
    if isinstance(value, dict):
        return any(_has_surrogate(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(_has_surrogate(part) for part in value)


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"] if _is_ours(part)) or "reply"
    return f"{place}: {first['msg']}"


def _is_ours(part: int | str) -> bool:
    return isinstance(part, int) or part in {
        "insufficient",
        "claims",
        "text",
        "citations",
        "source",
        "quote",
    }


def _draft(parsed: _Reply) -> Draft:
    return Draft(
        insufficient=parsed.insufficient,
        claims=tuple(
            DraftClaim(
                text=claim.text,
                citations=tuple(
                    DraftCitation(citation.source, citation.quote) for citation in claim.citations
                ),
            )
            for claim in parsed.claims
        ),
    )
