"""The library: listing, reading, changing and removing documents that the caller may see."""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import json
from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from evidencedesk.access import DEFAULT_STATUSES, Status
from evidencedesk.desk.keeping import Said
from evidencedesk.desk.shapes import document_json, record_json
from evidencedesk.errors import UsageError
from evidencedesk.model import Document, DocumentRecord
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.problems import RequestError
from evidencedesk.server.services import Services
from evidencedesk.server.shapes import Body, as_json, described

Caller = Annotated[Identity, Depends(identity_of)]
Statuses = Annotated[list[Status], Query(max_length=4)]

EVERY_STATUS = frozenset(Status)
CONTENT_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
_HELD_ELSEWHERE = "Backups and exported answers that were made before still hold it."
_VALIDATED = (
    "content_hash",
    "title",
    "source",
    "version",
    "status",
    "lang",
    "owner",
    "roles",
    "deny",
)


class DocumentChange(Body):
    """What is to be said of a document from now on; what is left out stays as it is."""

    status: Annotated[Status, Field(strict=False)] | None = None
    roles: list[str] | None = Field(default=None, max_length=100)
    deny: list[str] | None = Field(default=None, max_length=100)
    owner: str | None = Field(default=None, max_length=500)
    version: str | None = Field(default=None, max_length=200)

    @property
    def said(self) -> Said:
        """The same as the desk takes it."""
        return Said(
            roles=None if self.roles is None else frozenset(self.roles),
            deny=None if self.deny is None else frozenset(self.deny),
            status=None if self.status is None else self.status.value,
            owner=self.owner,
            version=self.version,
        )


def documents_router(services: Services) -> APIRouter:
    """``/v1/documents``, but for uploads."""
    router = APIRouter(tags=["documents"])
    _add_listing(router, services)
    _add_content(router, services)
    _add_reading(router, services)
    _add_changing(router, services)
    return router


def _add_listing(router: APIRouter, services: Services) -> None:
    @router.get(
        "/v1/documents", response_model=None, responses=described(as_json("One page, by id."))
    )
    async def documents(
        caller: Caller,
        status: Statuses = [],  # noqa: B006 - FastAPI copies a default
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        cursor: Annotated[str, Query(max_length=1000)] = "",
    ) -> Response:
        """Documents that the caller may see, by id; ``next_cursor`` leads to the following page."""
        after = _after(cursor)
        list_all = functools.partial(
            services.desk.documents,
            principal=caller.principal,
            statuses=frozenset(status) or DEFAULT_STATUSES,
        )
        records = await run_in_threadpool(list_all)
        page = [record for record in records if after is None or record.id > after][: limit + 1]
        more = _cursor(page[limit - 1].id) if len(page) > limit else None
        shown = [public(record_json(record)) for record in page[:limit]]
        return JSONResponse({"documents": shown, "next_cursor": more})


def _add_content(router: APIRouter, services: Services) -> None:
    @router.get(
        "/v1/documents/{document_id:path}/content",
        response_model=None,
        responses=described(
            {
                "description": "The text, or the file.",
                "content": {"text/plain": {}, "application/octet-stream": {}},
            },
            304,
            404,
        ),
    )
    async def content(
        document_id: str, request: Request, caller: Caller, *, original: bool = False
    ) -> Response:
        """The canonical text of a document; with ``original`` the very file, where it is kept."""
        document = await _document(services, document_id, caller)
        headers = {
            "ETag": etag_of(document_json(document)),
            "Content-Security-Policy": CONTENT_POLICY,
        }
        if _is_known(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        if not original:
            headers["Content-Disposition"] = attachment(f"{document.source or document.id}.txt")
            return Response(document.text.encode("utf-8"), headers=headers, media_type="text/plain")
        data = await run_in_threadpool(_original, services, document, caller)
        headers["Content-Disposition"] = attachment(document.source)
        return Response(data, headers=headers, media_type="application/octet-stream")


def _original(services: Services, document: Document, caller: Identity) -> bytes:
    if document.masked and not caller.principal.administrator:
        raise UsageError(
            f"The file of {document.id!r} holds what is masked here.",
            code="no_original",
            hint="An administrator can open it, where it is kept.",
        )
    data = services.originals.read(document)
    if data is None:
        raise UsageError(f"The file of {document.id!r} is not kept here.", code="no_original")
    return data


def _add_reading(router: APIRouter, services: Services) -> None:
    @router.get(
        "/v1/documents/{document_id:path}",
        response_model=None,
        responses=described(as_json("The document with its text."), 304, 404),
    )
    async def document(document_id: str, request: Request, caller: Caller) -> Response:
        """A document with its text and metadata."""
        found = public(document_json(await _document(services, document_id, caller)))
        headers = {"ETag": etag_of(found)}
        if _is_known(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return JSONResponse(found, headers=headers)


def _add_changing(router: APIRouter, services: Services) -> None:
    @router.patch(
        "/v1/documents/{document_id:path}",
        response_model=None,
        responses=described(as_json("The document without its text."), 404, 412),
    )
    async def change(
        document_id: str, body: DocumentChange, request: Request, caller: Caller
    ) -> Response:
        """Change status, rights, owner or version, at once."""
        await _check_unchanged(services, document_id, request, caller)
        update = functools.partial(
            services.desk.update, document_id, body.said, principal=caller.principal
        )
        record = await run_in_threadpool(update)
        return JSONResponse(public(record_json(record)))

    @router.delete(
        "/v1/documents/{document_id:path}",
        response_model=None,
        responses=described(as_json("What was removed, and what still holds it."), 404, 412),
    )
    async def delete(document_id: str, request: Request, caller: Caller) -> Response:
        """Remove a document, its history, its quotes in receipts, and its file if it was uploaded."""
        await _check_unchanged(services, document_id, request, caller)
        record = await run_in_threadpool(remove, services, document_id, caller)
        removed = {"document_id": record.id, "chunks": record.chunks}
        return JSONResponse({"removed": removed, "note": _HELD_ELSEWHERE})


def remove(services: Services, document_id: str, caller: Identity) -> DocumentRecord:
    """Remove a document, and its file once no other document comes from it.

    Raises:
        UsageError: ``not_found``.
    """
    record = services.desk.delete(document_id, principal=caller.principal)
    key = services.originals.key_of(record.root)
    if key is not None:
        from_file = services.desk.brought_from(record.root, tenant=record.tenant)
        if not from_file:
            services.originals.drop(key)
    return record


def public(shape: dict[str, Any]) -> dict[str, Any]:
    """A document's shape without where on the server its file lies."""
    return {name: value for name, value in shape.items() if name != "root"}


def etag_of(shape: dict[str, Any]) -> str:
    """A strong validator of a document: text, metadata and rights."""
    values = [shape[name] for name in _VALIDATED]
    return f'"{hashlib.sha256(json.dumps(values).encode()).hexdigest()[:32]}"'


def attachment(name: str) -> str:
    """Content-Disposition with which no browser shows the file (RFC 6266, RFC 8187)."""
    last = name.rpartition("/")[2]
    return f"attachment; filename*=UTF-8''{quote(last, safe='')}"


async def _document(services: Services, document_id: str, caller: Identity) -> Document:
    find = functools.partial(
        services.desk.document, document_id, principal=caller.principal, statuses=EVERY_STATUS
    )
    return await run_in_threadpool(find)


async def _check_unchanged(
    services: Services, document_id: str, request: Request, caller: Identity
) -> None:
    wanted = request.headers.get("if-match")
    if wanted is None:
        return
    current = etag_of(document_json(await _document(services, document_id, caller)))
    if not _named(wanted, current):
        raise RequestError(
            "The document was changed since you read it.",
            code="etag_mismatch",
            hint="Read it again.",
        )


def _is_known(request: Request, etag: str) -> bool:
    known = request.headers.get("if-none-match")
    return known is not None and _named(known, etag)


def _named(header: str, etag: str) -> bool:
    tags: Iterable[str] = (tag.strip().removeprefix("W/") for tag in header.split(","))
    return header.strip() == "*" or etag in tags


def _cursor(document_id: str) -> str:
    return base64.urlsafe_b64encode(document_id.encode("utf-8", "surrogatepass")).decode()


def _after(cursor: str) -> str | None:
    if not cursor:
        return None
    try:
        return base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode(
            "utf-8", "surrogatepass"
        )
    except (ValueError, binascii.Error):
        raise RequestError(
            "The cursor is none of ours.", code="bad_cursor", hint="Begin without one."
        ) from None
