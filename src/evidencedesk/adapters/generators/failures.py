"""What an HTTP failure means: whether trying again can help, and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

import httpx2

from evidencedesk.errors import EvidenceDeskError, ProviderError

_RETRYABLE = frozenset({408, 409, 425, 429})
_FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_CODE = re.compile(r"[a-z][a-z0-9_.-]{0,63}", re.IGNORECASE)
_SCHEMA_STATUSES = frozenset({400, 404, 422, 501})
_SCHEMA_WORDS = re.compile("response_format|json_schema|output_config|output_format|structured")
_HINTS = {
    401: "The key is wrong or missing: see [generation] api_key_env.",
    403: "The key may not use this model.",
    404: "There is no such model or address: see [generation] model and base_url.",
}


def http_failure(status: int, headers: Mapping[str, str], code: object) -> ProviderError:
    """The error for a response that is none.

    Args:
        status: HTTP status.
        headers: of the response, found whatever their case.
        code: the provider's machine-readable code. Kept only when it looks like one, so that no
            text of the provider (which repeats keys and prompts) reaches a log.
    """
    shown = code if isinstance(code, str) and _CODE.fullmatch(code) else ""
    retryable = (status in _RETRYABLE or status >= 500) and shown not in _FINAL_CODES
    return ProviderError(
        f"HTTP {status}{f' ({shown})' if shown else ''}.",
        hint=_HINTS.get(status, ""),
        retryable=retryable,
        retry_after=retry_after(headers),
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait: ``retry-after-ms``, or ``Retry-After`` (RFC 9110).

    A date is taken relative to the response's own ``Date``, so no clock is needed.
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after", "")
    seconds = _seconds(asked)
    if seconds is not None:
        return seconds
    then, now = _date(asked), _date(headers.get("date", ""))
    return max(0.0, (then - now).total_seconds()) if then and now else None


def _seconds(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text.strip()) else None


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class ClientErrors:
    """The exceptions of a client library.

    Attributes:
        status: the provider answered with an error; has ``status_code``, ``response``, ``body``.
        timeout: a connection could not be made, or read from, in time.
        connection: it could not be made, or broke.
        any: every error of the library.
    """

    status: type[Exception]
    timeout: type[Exception]
    connection: type[Exception]
    any: type[Exception]


@contextmanager
def provider_failures(
    errors: ClientErrors, given_up: Callable[[], EvidenceDeskError | None]
) -> Iterator[None]:
    """Errors of a client library as ours, without anything that the provider wrote.

    Args:
        errors: the library's exceptions.
        given_up: why the call was given up on our side, which is behind whatever is raised then.

    Raises:
        ProviderError: the call failed.
        CallCancelledError: whoever asked has gone.
    """
    try:
        yield
    except errors.any as error:
        raise given_up() or _meaning(error, errors) from None
    except httpx2.HTTPError:
        raise given_up() or ProviderError("the connection broke", retryable=True) from None
    except (ValueError, RecursionError):
        raise given_up() or ProviderError("the response is not what this API answers") from None


def _meaning(error: Exception, errors: ClientErrors) -> ProviderError:
    if isinstance(error, errors.status):
        response = getattr(error, "response")  # noqa: B009 - the library's class is a value here
        code = getattr(error, "code", None) or getattr(error, "type", None)
        return http_failure(response.status_code, response.headers, code)
    if isinstance(error, errors.timeout):
        return ProviderError("no connection in time", code="timeout", retryable=True)
    if isinstance(error, errors.connection):
        return ProviderError("no connection, or it broke", retryable=True)
    return ProviderError("the provider broke off with an error", retryable=True)


def refuses_schema(error: Exception) -> bool:
    """Whether the provider says that it cannot hold a model to a schema."""
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", 0)
    return status in _SCHEMA_STATUSES and bool(
        _SCHEMA_WORDS.search(str(getattr(error, "body", "")))
    )
