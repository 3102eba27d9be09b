"""Styles, scripts and the icon: our own files, known by name when the server starts."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from evidencedesk.server.problems import Problem

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def files_router() -> APIRouter:
    """``GET /static/{name}``."""
    router = APIRouter()
    known = {
        file.name: file.read_bytes()
        for file in files("evidencedesk.server.ui").joinpath("static").iterdir()
        if "." in file.name
    }
    tags = {name: f'"{hashlib.sha256(data).hexdigest()[:20]}"' for name, data in known.items()}

    @router.get("/static/{name}")
    async def static(name: str, request: Request) -> Response:
        """One of our own files; a browser asks each time whether it is still the same."""
        if name not in known:
            return Problem(404, "not_found", f"There is no file {name!r}.").response()
        headers = {"ETag": tags[name], "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tags[name]:
            return Response(status_code=304, headers=headers)
        kind = _TYPES["." + name.rpartition(".")[2]]
        return Response(known[name], headers=headers, media_type=kind)

    return router
