"""The OpenAPI document, and whatever can be made from it: no 5xx, nothing that it does not describe.

schemathesis makes requests from the document, good ones and bad ones, and holds every reply to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig

from evidencedesk.server.identity import GRANTABLE, Permission
from evidencedesk.server.permissions import ROUTES

CONFIG = SchemathesisConfig.from_dict(
    {
        "checks": {
            # What fits the document may still make no sense (a question without a letter): 422.
            "positive_data_acceptance": {
                "expected-statuses": ["2xx", "3xx", 401, 403, 404, 412, 422, 429]
            },
            # What does not fit may be too large as well, and is then not even read: 413.
            "negative_data_rejection": {
                "expected-statuses": [400, 401, 403, 404, 405, 408, 412, 413, 415, 422, 429]
            },
        }
    }
)

CALLERS: dict[str, Callable[[Any], dict[str, str]]] = {
    "nobody": lambda _: {},
    "reader": lambda server: server.key("staff", permissions=frozenset({Permission.READ})),
    "writer": lambda server: server.key(
        "staff", permissions=frozenset({Permission.READ, Permission.WRITE})
    ),
    "auditor": lambda server: server.key(permissions=frozenset({Permission.AUDIT})),
    "administrator": lambda server: server.key(administrator=True, permissions=GRANTABLE),
    "other tenant": lambda server: server.key("staff", tenant="other", permissions=GRANTABLE),
}


def test_the_document_is_openapi_31_and_describes_every_route(server: Any) -> None:
    document = server.client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    described = {
        (method.upper(), path.replace(":path}", "}"))
        for path, methods in document["paths"].items()
        for method in methods
    }
    wanted = {
        (row.method, row.path.replace(":path}", "}"))
        for row in ROUTES
        if row.path.startswith(("/v1/", "/health", "/metrics", "/sign-out"))
    }
    assert described == wanted


@pytest.mark.slow
@pytest.mark.parametrize("who", CALLERS)
def test_whatever_fits_or_misses_the_document_is_answered_as_it_says(live: Any, who: str) -> None:
    address, server = live
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json", config=CONFIG)
    answered = _answered(schema, CALLERS[who](server), examples=25)
    assert set(answered) == _operations(server)
    assert 0 not in answered.values(), answered


def test_a_few_requests_of_each_kind_are_answered_as_the_document_says(live: Any) -> None:
    address, server = live
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json", config=CONFIG)
    answered = _answered(schema, CALLERS["administrator"](server), examples=3)
    assert set(answered) == _operations(server)
    assert 0 not in answered.values(), answered


def _operations(server: Any) -> set[str]:
    paths = server.client.get("/openapi.json").json()["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def _answered(schema: Any, headers: dict[str, str], *, examples: int) -> dict[str, int]:
    """How many requests of each operation were answered as the document says."""
    operations = [result.ok() for result in schema.get_all_operations()]
    return {one.label: _probe(one, headers, examples=examples) for one in operations}


def _probe(operation: Any, headers: dict[str, str], *, examples: int) -> int:
    answered = itertools.count()

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(operation.as_strategy())
    def probe(case: Any) -> None:
        case.call_and_validate(headers=headers)
        next(answered)

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def misfit(case: Any) -> None:
        case.call_and_validate(headers=headers)
        next(answered)

    probe()
    # A form holds text only, so that "0.0" where a text is wanted is no misfit.
    if (operation.body or operation.query) and operation.label != "POST /v1/documents":
        misfit()
    return next(answered)
