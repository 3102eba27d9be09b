"""The room Library: documents, files that were not read, and where new ones are dropped."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from evidencedesk.access import Status
from evidencedesk.model import DocumentRecord, LogEntry
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.services import Services
from evidencedesk.server.ui.rendering import Pages

Caller = Annotated[Identity, Depends(identity_of)]

PAGE = 100
_LOG_ENTRIES = 500
_PROBLEMS = ("failed", "refused")


def library_router(services: Services, pages: Pages) -> APIRouter:
    """``GET /library``."""
    router = APIRouter()

    @router.get("/library")
    def library(
        request: Request,
        caller: Caller,
        q: Annotated[str, Query(max_length=200)] = "",
        status: Annotated[
            str, Query(pattern="^(current|superseded|draft|archived|any)$")
        ] = "current",
        after: Annotated[str, Query(max_length=1_000)] = "",
    ) -> Response:
        """The documents that the caller may see."""
        statuses = frozenset(Status) if status == "any" else frozenset({Status(status)})
        records = services.desk.documents(principal=caller.principal, statuses=statuses)
        matching = [record for record in records if _matches(record, q)]
        page = [record for record in matching if record.id > after][: PAGE + 1]
        return pages.page(
            request,
            caller,
            "library.html",
            room="library",
            records=page[:PAGE],
            total=len(matching),
            after=page[PAGE - 1].id if len(page) > PAGE else "",
            first=not after,
            q=q,
            status=status,
            statuses=[each.value for each in Status],
            problems=_problems(services.desk.log(principal=caller.principal, limit=_LOG_ENTRIES)),
            default_roles=services.settings.access.default_roles,
        )

    return router


def _matches(record: DocumentRecord, wanted: str) -> bool:
    found = f"{record.title}\n{record.id}\n{record.source}".casefold()
    return all(word in found for word in wanted.casefold().split())


def _problems(entries: tuple[LogEntry, ...]) -> list[LogEntry]:
    """Files whose newest entry in the log says that they were not read; newest first."""
    newest: dict[str, LogEntry] = {}
    for entry in entries:
        newest.setdefault(entry.source, entry)
    return [entry for entry in newest.values() if entry.outcome in _PROBLEMS]
