"""The tools of the Model Context Protocol server: what they take, what they do, what they give.

Arguments say what is wanted, never who wants it: an argument that names a reader is refused like any
other that is not in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.types import Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from evidencedesk.access import Principal, Status
from evidencedesk.desk import Desk
from evidencedesk.desk.shapes import hit_json
from evidencedesk.errors import UsageError
from evidencedesk.model import Answer, Chunk, Document

FETCHED_CHARACTERS = 20_000
"""How much of a document one ``fetch`` gives unless it asks for less."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A desk as one reader sees it.

    Attributes:
        desk: the desk.
        principal: who reads.
        statuses: statuses of the documents looked at.
        answered: told of every answer; None where nobody counts.
    """

    desk: Desk
    principal: Principal
    statuses: frozenset[Status]
    answered: Callable[[Answer], None] | None = None


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AskArguments(_Arguments):
    """Arguments of ``ask``."""

    question: Annotated[str, Field(description="The question, in any language.")]


class SearchArguments(_Arguments):
    """Arguments of ``search``."""

    query: Annotated[str, Field(description="Words or a question.")]
    k: Annotated[int | None, Field(description="How many passages.", ge=1, le=100)] = None


class FetchArguments(_Arguments):
    """Arguments of ``fetch``."""

    id: Annotated[str, Field(description="A chunk_id or document_id from search or ask.")]
    start: Annotated[
        int, Field(description="First character wanted of a document's text.", ge=0)
    ] = 0
    length: Annotated[
        int, Field(description="How many characters of it.", ge=1, le=FETCHED_CHARACTERS)
    ] = FETCHED_CHARACTERS


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool; ``required`` names the members that its result always has."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Reading, Any], dict[str, Any]]
    required: tuple[str, ...]

    def described(self) -> Tool:
        """The tool as a client sees it. A result may have more members than those promised."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.arguments.model_json_schema(),
            output_schema={"type": "object", "required": list(self.required)},
            annotations=ToolAnnotations(
                read_only_hint=True, idempotent_hint=True, open_world_hint=False
            ),
        )


def _ask(reading: Reading, arguments: AskArguments) -> dict[str, Any]:
    answer = reading.desk.ask(
        arguments.question, principal=reading.principal, statuses=reading.statuses
    )
    if reading.answered is not None:
        reading.answered(answer)
    return answer.to_json()


def _search(reading: Reading, arguments: SearchArguments) -> dict[str, Any]:
    hits = reading.desk.search(
        arguments.query, principal=reading.principal, statuses=reading.statuses, k=arguments.k
    )
    return {"query": arguments.query, "hits": [hit_json(hit) for hit in hits]}


def _fetch(reading: Reading, arguments: FetchArguments) -> dict[str, Any]:
    desk, principal, statuses = reading.desk, reading.principal, reading.statuses
    try:
        chunk = desk.chunk(arguments.id, principal=principal, statuses=statuses)
    except UsageError as error:
        if error.code != "not_found":
            raise
        document = desk.document(arguments.id, principal=principal, statuses=statuses)
        return _fetched_document(document, arguments.start, arguments.length)
    return _fetched_chunk(chunk)


def _fetched_chunk(chunk: Chunk) -> dict[str, Any]:
    return {
        **_described(chunk.document_id, chunk),
        "chunk_id": chunk.id,
        "text": chunk.text,
        "context": chunk.context,
        "location": chunk.location.to_json(),
        "label": f"{chunk.title} ({chunk.location.label})",
    }


def _fetched_document(document: Document, start: int, length: int) -> dict[str, Any]:
    text = document.text[start : start + length]
    return {
        **_described(document.id, document),
        "text": text,
        "start": start,
        "end": start + len(text),
        "characters": len(document.text),
    }


def _described(document_id: str, found: Chunk | Document) -> dict[str, Any]:
    """What any reader of a document may know of it; not where it lies, nor who else may see it."""
    return {
        "document_id": document_id,
        "title": found.title,
        "source": found.source,
        "version": found.version,
        "status": found.status,
        "lang": found.lang,
        "content_hash": found.content_hash,
    }


TOOLS = (
    ToolRow(
        "search",
        "Search the documents",
        "Finds the passages that fit best, with scores and places. Nothing is answered.",
        SearchArguments,
        _search,
        ("query", "hits"),
    ),
    ToolRow(
        "fetch",
        "Read a passage or a document",
        "Gives the verbatim text of a passage (chunk_id) or of a document (document_id, in parts).",
        FetchArguments,
        _fetch,
        ("document_id", "title", "source", "version", "content_hash", "text"),
    ),
    ToolRow(
        "ask",
        "Ask a question",
        "Answers from the documents, each claim with quotes that were found verbatim in its "
        "source; or abstains (abstained: true) with the reason. An abstention is a result: do not "
        "fill it in.",
        AskArguments,
        _ask,
        ("answer_id", "abstained", "reason", "text", "claims", "citations"),
    ),
)
