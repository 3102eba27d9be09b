"""What requests may hold, and how their responses are described."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from evidencedesk.access import DEFAULT_STATUSES, Status
from evidencedesk.server.problems import MEDIA_TYPE, TITLES

Text = Annotated[str, StringConstraints(max_length=100_000)]
"""Text whose own limit is a setting; beyond this nobody even counts."""


class Body(BaseModel):
    """A JSON body. A key that is not known is refused: nobody names a principal here."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AskBody(Body):
    """A question."""

    question: Text = Field(description="In any language.", examples=["How long is the warranty?"])
    earlier: list[Text] = Field(
        default=[],
        max_length=20,
        description="Earlier questions of the conversation, oldest first; they give words and nothing else.",
    )
    statuses: list[Annotated[Status, Field(strict=False)]] = Field(
        default=[],
        max_length=4,
        description="Statuses of documents looked at; current ones when empty.",
    )

    @property
    def looked_at(self) -> frozenset[Status]:
        """The statuses asked for."""
        return frozenset(self.statuses) or DEFAULT_STATUSES


class SearchBody(Body):
    """Words or a question."""

    query: Text = Field(examples=["warranty"])
    k: int | None = Field(default=None, ge=1, le=100, description="How many chunks.")
    statuses: list[Annotated[Status, Field(strict=False)]] = Field(default=[], max_length=4)

    @property
    def looked_at(self) -> frozenset[Status]:
        """The statuses asked for."""
        return frozenset(self.statuses) or DEFAULT_STATUSES


_PROBLEM_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "hint"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "hint": {"type": "string"},
        "errors": {"type": "array", "items": {"type": "object"}},
    },
}
_ALWAYS_POSSIBLE = (400, 401, 403, 408, 413, 422, 429, 500, 503)


Responses = dict[int | str, dict[str, Any]]


def described(success: dict[str, Any], *more: int, status: int = 200) -> Responses:
    """Responses of a route for the OpenAPI document: success, the usual problems, and ``more``."""
    found: Responses = {
        problem: {
            "description": TITLES[problem],
            "content": {MEDIA_TYPE: {"schema": _PROBLEM_SCHEMA}},
        }
        for problem in (*_ALWAYS_POSSIBLE, *more)
    }
    return {**found, status: success}


def as_json(description: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """A JSON response as the OpenAPI document describes it."""
    return {
        "description": description,
        "content": {"application/json": {"schema": schema or {"type": "object"}}},
    }
