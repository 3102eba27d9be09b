"""Whether the process lives and whether it can answer. Says nothing of what it holds."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from evidencedesk.errors import EvidenceDeskError
from evidencedesk.server.metrics import CONTENT_TYPE
from evidencedesk.server.services import Services
from evidencedesk.server.shapes import as_json, described


def health_router(services: Services) -> APIRouter:
    """``GET /health`` and ``GET /health/ready``."""
    router = APIRouter(tags=["operation"])

    @router.get("/health", response_model=None, responses={200: as_json("The process lives.")})
    async def health() -> Response:
        """The process lives."""
        return JSONResponse({"status": "ok"})

    @router.get(
        "/health/ready",
        response_model=None,
        responses={200: as_json("It can answer."), 503: as_json("Not now; the codes say why.")},
    )
    async def ready() -> Response:
        """Whether index, model and the server's own database can be used."""
        missing = await run_in_threadpool(not_ready, services)
        if missing:
            return JSONResponse({"status": "not_ready", "codes": missing}, 503)
        return JSONResponse({"status": "ready"})

    if services.settings.telemetry.metrics:

        @router.get(
            "/metrics",
            response_model=None,
            responses=described({"description": "Figures.", "content": {"text/plain": {}}}),
        )
        async def metrics() -> Response:
            """Figures for Prometheus; no content of any document or question is in them."""
            rendered = await run_in_threadpool(services.metrics.rendered)
            return Response(rendered, headers={"Content-Type": CONTENT_TYPE})

    return router


def not_ready(services: Services) -> list[str]:
    """Codes of what cannot be used now; empty when all can."""
    codes = ["stopping"] if services.stopping.is_set() else []
    for check in (services.desk.generation, services.state.ping):
        try:
            check()
        except EvidenceDeskError as error:
            codes.append(error.code)
    return codes
