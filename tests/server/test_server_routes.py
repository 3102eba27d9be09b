"""Every route, with every kind of caller; what is not there and what is not permitted look alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import BaseRoute

from evidencedesk.server.app import create_app
from evidencedesk.server.identity import GRANTABLE, Permission
from evidencedesk.server.pages import PAGES
from evidencedesk.server.permissions import ROUTES, RouteRow, render_markdown

ROOT = Path(__file__).parents[2]
SIGN_IN = {"/sign-in", "/sign-in/callback"}
NAMED = [row for row in ROUTES if "{document_id" in row.path or "{answer_id" in row.path]
IDENTITY = ["nobody", "wrong secret", "other scheme", "two keys", "expired", "revoked", "suspended"]


def path_of(row: RouteRow, name: str = "kc-returns-v3") -> str:
    query = "?document=" + name if row.path.startswith("/source") else ""
    query += "&page=1" if row.path == "/source/page" else ""
    return re.sub(r"\{[^}]*\}", name, row.path) + query


def declared(routes: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from declared(inner.routes, prefix)
        elif isinstance(route, BaseRoute):
            for method in getattr(route, "methods", None) or ():
                if method != "HEAD":
                    yield method, prefix + str(getattr(route, "path", ""))


def test_each_route_has_its_row_and_each_row_its_route(server: Any) -> None:
    app = create_app(server.services, pages=PAGES)
    routes = sorted(declared(app.routes))
    rows = sorted((row.method, row.path) for row in ROUTES)
    assert rows == sorted(set(rows))
    assert [each for each in routes if each not in rows] == []
    assert {path for method, path in rows if (method, path) not in routes} == SIGN_IN


def test_the_documentation_shows_the_table() -> None:
    assert render_markdown() in (ROOT / "docs" / "server.md").read_text("utf-8")


def caller(server: Any, kind: str, clock: Any) -> dict[str, Any]:
    if kind == "nobody":
        return {}
    headers = server.key("staff", subject="mallory", lifetime=timedelta(days=1))
    text = headers["Authorization"]
    if kind == "wrong secret":
        return {"Authorization": text[:-1] + ("A" if text[-1] != "A" else "B")}
    if kind == "other scheme":
        return {"Authorization": text.replace("Bearer", "Basic")}
    if kind == "two keys":
        return {"headers": [("Authorization", text), ("Authorization", text)]}
    if kind == "expired":
        clock.move(timedelta(days=2))
    elif kind == "revoked":
        server.services.state.keys.revoke(text.split("_")[1])
    else:
        server.services.state.suspensions.add("default", "mallory")
    return headers


@pytest.mark.parametrize("kind", IDENTITY)
def test_whoever_is_not_known_is_told_so_wherever_he_knocks(
    server: Any, clock: Any, kind: str
) -> None:
    headers = caller(server, kind, clock)
    sent = headers.get("headers", headers)
    closed = [row for row in ROUTES if row.permission is not Permission.PUBLIC]
    told = {
        server.client.request(row.method, path_of(row), headers=sent).text for row in closed
    } | {server.client.get(path, headers=sent).text for path in ("/nothing", "/v1", "/docs")}
    assert len(told) == 1
    assert '"code": "unauthenticated"' in told.pop()


@pytest.mark.parametrize("granted", sorted(GRANTABLE))
def test_a_permission_opens_its_routes_and_no_others(server: Any, granted: Permission) -> None:
    headers = server.key("staff", permissions=frozenset({granted}))
    for row in ROUTES:
        reply = server.client.request(row.method, path_of(row, "nothing"), headers=headers)
        if row.permission in {granted, Permission.PUBLIC}:
            assert reply.status_code not in {401, 403}, (row, reply.text)
        else:
            assert (reply.status_code, reply.json()["code"]) == (403, "not_permitted"), row
        assert reply.status_code < 500, (row, reply.text)


CLOSED_OUT: dict[str, Callable[[Any], dict[str, str]]] = {
    "staff": lambda server: server.key("staff", permissions=GRANTABLE - {Permission.AUDIT}),
    "nobody": lambda server: server.key(permissions=GRANTABLE - {Permission.AUDIT}),
    "other tenant": lambda server: server.key("board", tenant="other"),
    "administrator elsewhere": lambda server: server.key(administrator=True, tenant="other"),
}


@pytest.mark.parametrize("who", CLOSED_OUT)
def test_what_is_not_permitted_looks_as_if_it_were_not_there(server: Any, who: str) -> None:
    board, headers = server.key("board"), CLOSED_OUT[who](server)
    question = {"question": "What are instructors paid per hour?"}
    answer_id = server.client.post("/v1/ask", json=question, headers=board).json()["answer_id"]
    for row in NAMED:
        secret = answer_id if "{answer_id" in row.path else "wages"
        absent = "0" * len(secret)
        there, not_there = (_replied(server, row, name, headers) for name in (secret, absent))
        assert there.status_code == not_there.status_code == 404, row
        assert there.text.replace(secret, absent) == not_there.text, row
        heads = [
            {name: value for name, value in reply.headers.items() if name not in VARIABLE}
            for reply in (there, not_there)
        ]
        assert heads[0] == heads[1], row


VARIABLE = {"x-request-id", "date", "content-length"}


def _replied(server: Any, row: RouteRow, name: str, headers: dict[str, str]) -> Any:
    body = {"verdict": "wrong"} if row.path.endswith("feedback") else {"status": "draft"}
    sent = {"json": body} if row.method in {"POST", "PATCH"} else {}
    return server.client.request(row.method, path_of(row, name), headers=headers, **sent)


def test_every_reply_has_the_headers_that_keep_browsers_safe(server: Any) -> None:
    headers = server.key("staff")
    for row in ROUTES:
        reply = server.client.request(row.method, path_of(row), headers=headers)
        assert reply.headers["x-content-type-options"] == "nosniff", row
        assert reply.headers["x-frame-options"] == "DENY", row
        assert "default-src 'none'" in reply.headers["content-security-policy"], row
        assert "server" not in reply.headers, row
        assert "access-control-allow-origin" not in reply.headers, row


def test_other_methods_and_paths_are_problems_too(server: Any) -> None:
    headers = server.key("staff")
    wrong = server.client.put("/v1/ask", headers=headers)
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert wrong.headers["content-type"] == "application/problem+json"
    assert server.client.get("/v2", headers=headers).json()["code"] == "not_found"
    assert server.client.options("/v1/ask", headers=headers).status_code == 405
    head = server.client.head("/v1/documents/kc-returns-v3", headers=headers)
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 0
