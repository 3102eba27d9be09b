"""The source of a quote: the document, scrolled to the very words and with these marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from evidencedesk.access import Status
from evidencedesk.adapters.pages.pdf import PageRenderer
from evidencedesk.errors import ParseError, UsageError
from evidencedesk.model import Document, Span
from evidencedesk.server.identity import Identity, identity_of
from evidencedesk.server.problems import Problem
from evidencedesk.server.services import Services
from evidencedesk.server.ui.page_view import pages_view
from evidencedesk.server.ui.rendering import Pages
from evidencedesk.server.ui.text_view import around, text_view

Caller = Annotated[Identity, Depends(identity_of)]


class Wanted(BaseModel):
    """What of which document is to be shown.

    Attributes:
        document: its id.
        at: quoted spans of its text, ``start-end`` in code points.
        content: hash of the text that they are spans of; empty for that of now.
        start: first code point wanted; around the first quote when None.
        page: first page wanted; the one with the first quote when None.
        old: hash of an earlier text to compare with; empty for none.
    """

    document: Annotated[str, Field(max_length=1_000)]
    at: Annotated[
        list[Annotated[str, Field(pattern=r"^\d{1,9}-\d{1,9}$")]], Field(max_length=20)
    ] = []
    content: Annotated[str, Field(max_length=80)] = ""
    start: Annotated[int | None, Field(ge=0, le=1_000_000_000)] = None
    page: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    old: Annotated[str, Field(max_length=80)] = ""


PICTURE_WIDTH = 1240
"""Pixels: sharp on a dense screen beside an answer."""

_PDF = "application/pdf"
_ANY_STATUS = frozenset(Status)
_BESIDE = {"text": 16_000, "pages": 1}
_WHOLE = {"text": 80_000, "pages": 20}
_HISTORY = 20


def sources_router(services: Services, pages: Pages, renderer: PageRenderer) -> APIRouter:
    """``GET /source``, ``/source/part`` and ``/source/page``."""
    router = APIRouter()
    look = _Looking(services)

    @router.get("/source")
    def whole(request: Request, caller: Caller, wanted: Annotated[Wanted, Query()]) -> Response:
        """A document as a page: its text or pages, what is known of it, its earlier versions."""
        try:
            found = look.document(wanted.document, caller)
            beside = look.beside(found, caller, wanted.old)
        except UsageError:
            return pages.missing(request, caller)
        view = _view(services, found, wanted, _WHOLE)
        return pages.page(request, caller, "source.html", room="library", **view, **beside)

    @router.get("/source/part")
    def part(request: Request, caller: Caller, wanted: Annotated[Wanted, Query()]) -> Response:
        """The part of a document around quoted words, to be shown beside an answer."""
        try:
            found = look.document(wanted.document, caller)
        except UsageError:
            return pages.page(request, caller, "source_missing.html", http_status=404)
        view = _view(services, found, wanted, _BESIDE)
        return pages.page(request, caller, "source_part.html", **view)

    @router.get("/source/page")
    def picture(request: Request, caller: Caller, wanted: Annotated[Wanted, Query()]) -> Response:
        """A page of a PDF as a picture; looked up anew each time, since rights may have changed."""
        try:
            found = look.document(wanted.document, caller)
        except UsageError:
            return _NO_PICTURE.response()
        page = wanted.page or 1
        tag = f'"{found.file_hash[7:39]}-{page}-{PICTURE_WIDTH}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        png = _picture(services, renderer, found, page)
        if png is None:
            return _NO_PICTURE.response()
        return Response(png, headers=headers, media_type="image/png")

    return router


_NO_PICTURE = Problem(404, "not_found", "There is no such page that you may see.")


class _Looking:
    """Looks documents up as a caller may see them, whatever their status."""

    def __init__(self, services: Services) -> None:
        self._desk = services.desk

    def document(self, document_id: str, caller: Identity) -> Document:
        """The document.

        Raises:
            UsageError: ``not_found``.
        """
        return self._desk.document(document_id, principal=caller.principal, statuses=_ANY_STATUS)

    def beside(self, document: Document, caller: Identity, old: str) -> dict[str, Any]:
        """Earlier versions, and the difference to the one called ``old``.

        Raises:
            UsageError: ``not_found``.
        """
        reader = caller.principal
        history = self._desk.history(document.id, principal=reader, statuses=_ANY_STATUS)
        lines = None
        if old:
            diff = self._desk.diff(document.id, principal=reader, old=old, statuses=_ANY_STATUS)
            lines = diff.split("\n")[2:]
        return {"history": history[:_HISTORY], "diff": lines}


def _view(
    services: Services, document: Document, wanted: Wanted, sizes: Mapping[str, int]
) -> dict[str, Any]:
    """What the templates show of a document; quotes of another text of it are not marked."""
    changed = bool(wanted.content) and wanted.content != document.content_hash
    at = [] if changed else wanted.at
    hits = _hits(document, at)
    shown: dict[str, Any] = {
        "document": document,
        "changed": changed,
        "at": at,
        "content": wanted.content,
        "pages_view": None,
        "text_view": None,
        "no_original": False,
    }
    if _can_be_drawn(services, document):
        view = pages_view(document, hits, page=wanted.page, most=sizes["pages"])
        return {**shown, "pages_view": view}
    begin = around(hits, sizes["text"]) if wanted.start is None else wanted.start
    text = text_view(document, hits, start=begin, size=sizes["text"])
    return {**shown, "text_view": text, "no_original": document.media_type == _PDF}


def _hits(document: Document, at: Sequence[str]) -> list[Span]:
    spans = (Span(*map(int, place.split("-"))) for place in at)
    return sorted(span for span in spans if span.start < span.end <= len(document.text))


def _can_be_drawn(services: Services, document: Document) -> bool:
    return _is_drawable(document) and services.originals.read(document) is not None


def _is_drawable(document: Document) -> bool:
    """A picture of a page would show what is masked in its text, to whoever it is."""
    return document.media_type == _PDF and bool(document.pages) and not document.masked


def _picture(
    services: Services, renderer: PageRenderer, document: Document, page: int
) -> bytes | None:
    if not _is_drawable(document) or page > len(document.pages):
        return None
    kept = renderer.kept(document.file_hash, page, PICTURE_WIDTH)
    if kept is not None:
        return kept
    data = services.originals.read(document)
    if data is None:
        return None
    try:
        return renderer.render(data, document.file_hash, page, PICTURE_WIDTH)
    except ParseError:
        return None
