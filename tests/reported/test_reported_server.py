"""Reported leaks of permissions and between tenants, tried on every route there is.

One document per tenant and role, each with a marker of its own. Every caller knocks at every route with
every name there is, his own and foreign ones; only his own marker may come back, in whatever part.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evidencedesk.desk import Desk
from evidencedesk.server.identity import GRANTABLE, Permission
from evidencedesk.server.pages import PAGES
from evidencedesk.server.permissions import ROUTES, RouteRow
from evidencedesk.testing.serving import ServedDesk, served, settings_for

TENANTS, ROLES = ("north", "south"), ("crew", "office")
WHO = list(itertools.product(TENANTS, ROLES))
QUESTION = "What is the code word of the safe?"
CHANGES = {"POST", "PATCH", "DELETE"}


def marker(tenant: str, role: str) -> str:
    return f"zq{tenant}{role}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    folder = tmp_path_factory.mktemp("tenants")
    index = folder / "index.desk"
    with Desk.open(index, settings=settings_for(index)) as desk:
        for tenant, role in WHO:
            word = marker(tenant, role)
            file = folder / f"{word}.md"
            text = f"---\ntitle: Safe {word}\n---\n# Safe\n\nThe code word of the safe is {word}.\n"
            file.write_text(text, "utf-8")
            desk.ingest(file, roles={role}, tenant=tenant, owner=f"owner-{word}")
    with served(settings_for(index), pages=PAGES) as running:
        yield running


@pytest.fixture(scope="module")
def answers(server: ServedDesk) -> dict[tuple[str, str], str]:
    """An answer of each reader, under a subject of his own."""
    return {who: asked(server, *who)["answer_id"] for who in WHO}


def headers_of(server: ServedDesk, tenant: str, role: str) -> dict[str, str]:
    granted = GRANTABLE - {Permission.AUDIT}
    return server.key(role, tenant=tenant, subject=f"{tenant}-{role}", permissions=granted)


def asked(server: ServedDesk, tenant: str, role: str) -> Any:
    headers = headers_of(server, tenant, role)
    return server.client.post("/v1/ask", json={"question": QUESTION}, headers=headers).json()


def bodies(row: RouteRow, name: str) -> dict[str, Any]:
    if row.path == "/v1/documents" and row.method == "POST":
        return {
            "files": [("files", ("x.md", b"text"))],
            "data": {"replaces": name, "roles": "crew"},
        }
    given: dict[str, Any] = {
        "/v1/ask": {"question": QUESTION},
        "/v1/search": {"query": f"code word safe {name}", "k": 100},
        "/v1/chat/completions": {"messages": [{"role": "user", "content": QUESTION}]},
        "/v1/answers/{answer_id}/feedback": {"verdict": "wrong", "note": name},
        "/v1/documents/{document_id:path}": {"status": "archived", "roles": ["crew", "office"]},
        "/mcp": {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "fetch", "arguments": {"document_id": name}},
        },
    }
    return {"json": given[row.path]} if row.path in given and row.method in CHANGES else {}


def names_matter(row: RouteRow) -> bool:
    """Whether a request of the route holds a name."""
    return "{" in row.path or row.path.startswith("/source") or "x" in str(bodies(row, "x"))


def knocked(server: ServedDesk, row: RouteRow, name: str, headers: dict[str, str]) -> str:
    """Everything that a route replies, but for what the request itself said."""
    path = re.sub(r"\{[^}]*\}", name, row.path)
    query = {"document": name, "page": "1", "at": "0-5"} if path.startswith("/source") else {}
    sent = {**headers, "Accept": "application/json, text/event-stream, text/html"}
    reply = server.client.request(row.method, path, params=query, headers=sent, **bodies(row, name))
    assert reply.status_code < 500, (row, reply.text)
    return f"{reply.text} {dict(reply.headers)}"


@pytest.mark.parametrize(("tenant", "role"), WHO)
def test_open_webui_10116_and_ragflow_15027_a_marker_per_reader_on_every_route(
    server: ServedDesk, answers: dict[tuple[str, str], str], tenant: str, role: str
) -> None:
    headers = headers_of(server, tenant, role)
    own = marker(tenant, role)
    foreign = [marker(*who) for who in WHO if who != (tenant, role)]
    names = [*foreign, *(answer for who, answer in answers.items() if who != (tenant, role))]
    for row in ROUTES:
        for name in names if names_matter(row) else names[:1]:
            told = knocked(server, row, name, headers).replace(name, "")
            assert not [word for word in foreign if word in told], (row, name)
    assert own in str(asked(server, tenant, role)["text"]), "his own is still his"


@pytest.mark.parametrize(("tenant", "role"), WHO)
def test_ragflow_14859_nobody_changed_what_is_not_his_on_any_route(
    server: ServedDesk, answers: dict[tuple[str, str], str], tenant: str, role: str
) -> None:
    """Runs after every route was tried by everybody: each document is as it was."""
    headers = headers_of(server, tenant, role)
    name = marker(tenant, role)
    found = server.client.get(f"/v1/documents/{name}", headers=headers).json()
    assert (found["status"], found["roles"], found["title"]) == ("current", [role], f"Safe {name}")
    receipt = server.client.get(f"/v1/answers/{answers[tenant, role]}", headers=headers)
    assert name in receipt.text
    principal = server.services.state.keys.identify(headers["Authorization"][7:])
    assert principal is not None
    said = server.services.desk.feedback_on(answers[tenant, role], principal=principal.principal)
    assert said == ()


def test_dify_19249_an_administrator_is_one_of_his_tenant_only(server: ServedDesk) -> None:
    chief = server.key(tenant="north", administrator=True)
    for row in (row for row in ROUTES if row.method == "GET"):
        for name in (marker("south", role) for role in ROLES):
            told = knocked(server, row, name, chief).replace(name, "")
            assert "zqsouth" not in told, row


def test_nothing_of_it_is_in_the_log_or_the_figures(server: ServedDesk, tmp_path: Path) -> None:
    figures = server.services.metrics.rendered().decode()
    for word in (marker(*who) for who in WHO):
        assert word not in server.logged.getvalue()
        assert word not in figures
