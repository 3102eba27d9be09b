"""Errors as problem documents (RFC 9457), with our stable code and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from evidencedesk.errors import (
    AccessRuleError,
    CallCancelledError,
    EvidenceDeskError,
    IndexUnavailableError,
    ParseError,
    SettingsError,
    SourceError,
    UsageError,
)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5

TITLES: Mapping[int, str] = {
    304: "Not changed",
    400: "The request is not understood",
    401: "Who is calling is not known",
    403: "Not permitted",
    404: "Not found",
    405: "No such method here",
    406: "Not in this form",
    408: "The request took too long",
    409: "In conflict with what is there",
    412: "Changed meanwhile",
    413: "Too large",
    415: "Not in a form that is read here",
    421: "Not this server",
    422: "The request makes no sense",
    428: "A condition is needed",
    429: "Too much at once",
    500: "A bug of ours",
    502: "Another service failed",
    503: "Not now",
}

_STATUS_OF_CODE = {
    "not_found": 404,
    "no_original": 404,
    "model_not_found": 404,
    "bad_cursor": 422,
    "bad_field": 422,
    "no_files": 422,
    "not_replaceable": 422,
    "bad_idempotency_key": 422,
    "idempotency_conflict": 422,
    "duplicate_id": 409,
    "etag_mismatch": 412,
    "not_permitted": 403,
    "role_not_held": 403,
    "deny_kept": 403,
    "unauthenticated": 401,
    "wrong_origin": 403,
    "too_large": 413,
    "too_many_files": 413,
    "slow_body": 408,
    "unsupported_type": 415,
    "not_recorded": 409,
    "rate_limited": 429,
    "too_many_tokens": 429,
    "too_many_answers": 429,
    "too_many_jobs": 429,
    "sign_in_failed": 400,
    "provider_unreachable": 502,
}
_ELSEWHERE = {
    "not_found": "There is nothing of this name that you may see; GET /v1/documents lists what there is.",
    "question_too_long": "Shorten it.",
}


class RequestError(UsageError):
    """A request that the server itself refuses; its code decides the status."""

    default_code = "bad_request"

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem document.

    Attributes:
        status: HTTP status.
        code: stable code, the same as on the command line.
        detail: what is wrong with this request.
        hint: what to do; may be empty.
        headers: headers of the response.
        errors: one entry per wrong field of the request.
    """

    status: int
    code: str
    detail: str
    hint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[Mapping[str, Any]] = ()

    def to_json(self) -> dict[str, Any]:
        """The document; ``error`` repeats it for clients that know OpenAI's errors only."""
        document: dict[str, Any] = {
            "type": f"urn:evidencedesk:problem:{self.code}",
            "title": TITLES.get(self.status, "Error"),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "hint": self.hint,
            "error": {"message": self.detail, "type": self.code, "code": self.code, "param": None},
        }
        if self.errors:
            document["errors"] = [dict(error) for error in self.errors]
        return document

    def response(self) -> Response:
        """The problem as a response; never kept by a cache."""
        headers = {"Cache-Control": "no-store", **self.headers}
        if self.status == 401:
            headers.setdefault("WWW-Authenticate", 'Bearer realm="evidencedesk"')
        return Response(
            json.dumps(self.to_json(), ensure_ascii=True),
            self.status,
            headers=headers,
            media_type=MEDIA_TYPE,
        )


def problem_of(error: EvidenceDeskError) -> Problem:
    """What a caller is told of an error of ours.

    Of faults that are not the caller's he is told the code and no more: messages for operators name
    paths and services.
    """
    status = _status_of(error)
    headers = _retry_headers(error, status)
    if status >= 500:
        return Problem(
            status,
            error.code,
            "The server cannot answer this now; its log says why.",
            "Try again later, or tell whoever runs it.",
            headers,
        )
    return Problem(
        status, error.code, error.message, _ELSEWHERE.get(error.code, error.hint), headers
    )


def _status_of(error: EvidenceDeskError) -> int:
    if error.code in _STATUS_OF_CODE and isinstance(error, UsageError | SourceError):
        return _STATUS_OF_CODE[error.code]
    if isinstance(error, SettingsError):
        return 500
    if isinstance(error, RequestError):
        return 400
    if isinstance(error, UsageError | AccessRuleError | ParseError | SourceError):
        return 422
    if isinstance(error, CallCancelledError):
        return 408
    return 503 if error.code != "internal" else 500


def _retry_headers(error: EvidenceDeskError, status: int) -> dict[str, str]:
    wait = error.retry_after if isinstance(error, RequestError) else None
    if wait is None and (status == 429 or isinstance(error, IndexUnavailableError)):
        wait = RETRY_SECONDS
    return {} if wait is None else {"Retry-After": str(max(1, round(wait)))}


def not_permitted(permission: str) -> Problem:
    """What somebody is told who is known and has not been granted what a route needs."""
    return Problem(
        403,
        "not_permitted",
        f"This needs the permission {permission!r}.",
        "Ask whoever runs this server for it.",
    )


UNAUTHENTICATED = Problem(
    401,
    "unauthenticated",
    "There is no valid API key, token or session with this request.",
    "Send 'Authorization: Bearer KEY', or sign in.",
)
"""The same for no credentials, wrong ones, expired ones and revoked ones."""
