"""The application: routers behind the gate, and errors as problem documents."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidencedesk import __version__
from evidencedesk.errors import EvidenceDeskError
from evidencedesk.server.answers import answers_router
from evidencedesk.server.asking import asking_router
from evidencedesk.server.completions import completions_router
from evidencedesk.server.documents import documents_router
from evidencedesk.server.gate import Gate
from evidencedesk.server.headers import Headers, complete
from evidencedesk.server.health import health_router
from evidencedesk.server.mcp_http import mcp_router
from evidencedesk.server.observing import Observing
from evidencedesk.server.oidc.signin import signin_router
from evidencedesk.server.problems import TITLES, Problem, RequestError, problem_of
from evidencedesk.server.services import Services
from evidencedesk.server.uploads import too_many_files, uploads_router
from evidencedesk.server.working import JobRunner

Router = Callable[[Services], APIRouter]

ROUTERS: tuple[Router, ...] = (
    health_router,
    asking_router,
    uploads_router,
    documents_router,
    answers_router,
    completions_router,
    signin_router,
    mcp_router,
)


def create_app(services: Services, *, pages: Sequence[Router] = ()) -> FastAPI:
    """The application over ``services``.

    Args:
        services: what its routes work with; closed when the application shuts down.
        pages: makers of further routers (the web page); their routes need rows in the table of
            permissions like any other.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        runner = JobRunner(services, secrets.token_hex(16))
        runner.start()
        services.desk.notifying.start()
        yield
        await run_in_threadpool(runner.stop)
        services.close()

    app = FastAPI(
        title="EvidenceDesk",
        version=__version__,
        summary="Answers from your own documents, each sentence tied to a verbatim quote.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        strict_content_type=True,
    )
    for router in (*ROUTERS, *pages):
        app.include_router(router(services))
    _answer_errors(app, services)
    # The last one added is the first that a request meets.
    app.add_middleware(
        Gate,
        authenticate=services.authenticator.authenticate,
        requests=services.requests,
        settings=services.settings.server,
        signs_in="oidc" in services.settings.server.authentication,
        denied=services.denied,
    )
    app.add_middleware(Observing, services=services)
    app.add_middleware(Headers, new_request_id=lambda: secrets.token_hex(8))
    return app


def _answer_errors(app: FastAPI, services: Services) -> None:
    @app.exception_handler(EvidenceDeskError)
    async def ours(request: Request, error: EvidenceDeskError) -> Response:
        problem = problem_of(error)
        if problem.status in {401, 403} or error.code in _TOLD:
            caller = request.scope.get("evidencedesk.identity")
            services.denied(error.code, request.scope["evidencedesk.route"], caller)
        if problem.status >= 500:
            services.log.error(
                "failed",
                code=error.code,
                route=request.scope["evidencedesk.route"],
                request=request.scope["evidencedesk.request_id"],
                message=error.message,
            )
        return problem.response()

    @app.exception_handler(RequestValidationError)
    async def not_valid(_: Request, error: RequestValidationError) -> Response:
        return _validation_problem(error).response()

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        if isinstance(error.__cause__, RequestError):
            return problem_of(error.__cause__).response()
        if too_many_files(error):
            return Problem(413, "too_many_files", str(error.detail)).response()
        title = TITLES.get(error.status_code, "Error")
        detail = error.detail if error.status_code < 500 else title
        code = _CODES.get(error.status_code, "bad_request")
        return Problem(error.status_code, code, str(detail), "", error.headers or {}).response()

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> Response:
        services.log.error(
            "bug",
            kind=type(error).__name__,
            route=request.scope.get("evidencedesk.route", ""),
            request=request.scope.get("evidencedesk.request_id", ""),
        )
        response = Problem(
            500, "internal", TITLES[500], "Tell whoever runs this server."
        ).response()
        # The framework answers bugs outside of every middleware, also of the one for headers.
        complete(response.headers, request.scope, request.scope.get("evidencedesk.request_id", ""))
        return response


_TOLD = frozenset({"sign_in_failed", "rate_limited", "too_many_answers", "too_many_jobs"})
"""Codes that the security log tells besides refusals: failed sign-ins, unusual volume."""

_CODES = {
    400: "bad_request",
    404: "not_found",
    405: "bad_method",
    413: "too_large",
    415: "unsupported_type",
}


def _validation_problem(error: RequestValidationError) -> Problem:
    """Which fields are wrong and why; what was in them is not repeated."""
    wrong: list[dict[str, Any]] = [
        {"where": [str(part) for part in each["loc"]], "what": each["msg"], "type": each["type"]}
        for each in error.errors()
    ]
    first = wrong[0] if wrong else {"where": [], "what": "not valid"}
    detail = f"{'.'.join(first['where'])}: {first['what']}"
    return Problem(422, "bad_request", detail, "GET /openapi.json describes it.", errors=wrong)
