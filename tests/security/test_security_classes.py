"""Holes that were found in products of this kind: the same is tried here. docs/security.md lists them.

Classes whose test stands elsewhere (parsers, fetching, pages, tokens) are named there.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import socket
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from asked_of_servers import NOTE, QUESTION, asked, brought

from evidencedesk.server.app import create_app
from evidencedesk.server.identity import Permission
from evidencedesk.server.originals import safe_name
from evidencedesk.server.state.keys import PREFIX

ROOT = Path(__file__).parents[2]


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """An address of this machine, and who connected to it."""
    seen: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        over = threading.Event()

        def accept() -> None:
            while not over.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    seen.append(connection.recv(100).decode("latin-1"))

        thread = threading.Thread(target=accept)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", seen
        over.set()
        thread.join()


def test_class_03_no_route_fetches_an_address(server: Any, listener: Any) -> None:
    address, seen = listener
    headers = server.key("staff")
    for name in ("url", "source", "path", "href"):
        form = server.client.post("/v1/documents", data={name: address}, headers=headers)
        assert form.status_code in {415, 422}
        body = {"question": QUESTION, name: address}
        assert server.client.post("/v1/ask", json=body, headers=headers).status_code == 422
    assert seen == []


def test_class_04_documents_load_nothing_while_they_are_read(server: Any, listener: Any) -> None:
    address, seen = listener
    headers = server.key("staff")
    markdown = f"# A\n\n![x]({address}/a.png) ![y][1]\n\n[1]: {address}/b.png\n"
    page = (
        f'<h1>A</h1><img src="{address}/c"><link rel="stylesheet" href="{address}/d"><p>Text.</p>'
    )
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg"><image href="{address}/e"/></svg>'
    for name, data in (("a.md", markdown), ("a.html", page), ("a.svg", drawing)):
        brought(server, headers, name, data)
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("word/document.xml", f'<!DOCTYPE d SYSTEM "{address}/f"><d/>')
        archive.writestr("[Content_Types].xml", f'<!DOCTYPE d SYSTEM "{address}/g"><d/>')
    brought(server, headers, "a.docx", package.getvalue())
    assert seen == []


def test_class_07_nobody_removes_what_he_does_not_see(server: Any) -> None:
    reply = server.client.delete("/v1/documents/wages", headers=server.key("staff"))
    assert reply.status_code == 404
    assert "31 euros" in asked(server, server.key("board"), "What are instructors paid?").text


def test_class_08_a_foreign_document_cannot_be_attached(server: Any) -> None:
    staff, board = server.key("staff"), server.key("board", "staff")
    outcome = brought(server, board, "secret.md", NOTE, roles="board")
    (foreign,) = outcome["added"]
    reply = server.client.post(
        "/v1/documents",
        files=[("files", ("x.md", b"text"))],
        data={"replaces": foreign},
        headers=staff,
    )
    assert reply.status_code == 404


def test_class_09_an_earlier_version_belongs_to_its_document(server: Any) -> None:
    board, staff = server.key("board", "staff"), server.key("staff")
    foreign = server.client.get("/v1/documents/wages", headers=board).json()["content_hash"]
    reply = server.client.get(
        "/source", params={"document": "kc-returns-v3", "old": foreign}, headers=staff
    )
    absent = server.client.get(
        "/source", params={"document": "kc-returns-v3", "old": "sha256:" + "0" * 64}, headers=staff
    )
    assert reply.status_code == absent.status_code
    assert "31 euros" not in reply.text


def test_class_10_there_is_no_conversation_of_others_to_go_on_with(server: Any) -> None:
    board = server.key("board")
    answer_id = asked(server, board, "What are instructors paid?").json()["answer_id"]
    for name in ("conversation", "conversation_id", "parent", "answer_id"):
        body = {"question": QUESTION, name: answer_id}
        assert (
            server.client.post("/v1/ask", json=body, headers=server.key("staff")).status_code == 422
        )
    follow = {"question": "And per day?", "earlier": ["What are instructors paid?"]}
    reply = server.client.post("/v1/ask", json=follow, headers=server.key("staff"))
    assert "31 euros" not in reply.text


def test_class_11_a_file_needs_more_than_its_id(server: Any) -> None:
    board, staff = server.key("board", "staff"), server.key("staff")
    (document_id,) = brought(server, board, "secret.md", NOTE, roles="board")["added"]
    for path in ("", "/content", "/content?original=true"):
        reply = server.client.get(f"/v1/documents/{document_id}{path}", headers=staff)
        assert reply.status_code == 404
    ids = {brought(server, board, "same.md", NOTE, roles="board")["added"][0] for _ in range(3)}
    assert len(ids) == 3


def test_class_12_a_key_sees_its_own_tenant_only(server: Any) -> None:
    other = server.key("staff", "board", tenant="other", administrator=True)
    assert server.client.get("/v1/documents", headers=other).json()["documents"] == []
    assert server.client.get("/v1/answers", headers=other).json()["answers"] == []
    assert asked(server, other).json()["reason"] == "no_evidence"
    assert server.client.get("/v1/gaps", headers=server.key("staff")).json()["gaps"] == []


def test_class_14_a_key_cannot_be_had_from_what_is_stored_or_told(server: Any) -> None:
    keys = [server.key("staff")["Authorization"].removeprefix("Bearer ") for _ in range(20)]
    secrets = [key.removeprefix(PREFIX).partition("_")[2] for key in keys]
    assert len(set(secrets)) == 20
    assert all(len(secret) == 43 for secret in secrets)
    stored = b"".join(
        path.read_bytes() for path in server.services.state.database.path.parent.glob("server*")
    )
    assert not any(secret.encode() in stored for secret in secrets)
    told = json.dumps([key.to_json() for key in server.services.state.keys.list()])
    assert not any(secret in told for secret in secrets)


def test_class_15_no_reply_holds_a_secret_of_the_server(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_KEY", "planted-9c1f")
    monkeypatch.setenv("OPENAI_API_KEY", "planted-77aa")
    server = serve(tables={"generation": {"api_key_env": "PLANTED_KEY"}})
    headers = server.key("staff")
    paths = [
        *("/", "/library", "/quality", "/activity", "/metrics", "/openapi.json", "/v1/me"),
        *("/v1/documents", "/v1/answers", "/v1/gaps", "/v1/models", "/health/ready"),
    ]
    replies = [server.client.get(path, headers=headers).text for path in paths]
    replies += [asked(server, headers).text, asked(server, headers, "").text]
    secret = headers["Authorization"][-43:]
    for text in (*replies, server.logged.getvalue()):
        for planted in ("planted-", "PLANTED_KEY", secret, str(server.services.desk.path)):
            assert planted not in text


def test_class_16_who_may_write_gives_no_more_than_he_has(server: Any) -> None:
    staff, board = server.key("staff"), server.key("board")
    path = "/v1/documents/kc-returns-v3"
    for roles in (["board"], ["staff", "board"], []):
        reply = server.client.patch(path, json={"roles": roles}, headers=staff)
        expected = 200 if roles == [] else 403
        assert reply.status_code == expected, roles
    assert server.client.patch(path, json={"roles": ["board"]}, headers=board).status_code == 404


def test_class_17_a_closed_document_leaves_the_cache_at_once(serve: Any) -> None:
    server = serve(tables={"generation": {"cached_answers": 100}})
    staff, chief = server.key("staff"), server.key(administrator=True)
    assert "30 days" in asked(server, staff).text
    assert "30 days" in asked(server, staff).text
    server.client.patch("/v1/documents/kc-returns-v3", json={"roles": ["board"]}, headers=chief)
    assert "30 days" not in asked(server, staff).text
    search = server.client.post("/v1/search", json={"query": "return"}, headers=staff)
    assert "kc-returns-v3" not in search.text
    server.client.delete("/v1/documents/kc-returns-v3", headers=chief)
    assert "kc-returns-v3:" not in asked(server, chief).text


HOSTILE = [
    "x' OR '1'='1",
    "x'); DROP TABLE documents;--",
    'a" NEAR/2 "b*',
    "a AND (b OR NOT c)",
    "wages%' --",
    "$.[*]",
    "a\x00b",
    "*",
    "{{7*7}}",
    "../../etc/passwd",
    "\ud800",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_class_18_21_22_23_no_value_or_name_reaches_a_query_language(
    server: Any, text: str
) -> None:
    staff = server.key("staff", permissions=frozenset({Permission.READ, Permission.WRITE}))
    before = server.client.get("/v1/documents?limit=200", headers=staff).text
    for name in ("status", "cursor", "limit", "tenant", text):
        sent = urlencode({name: text}, errors="surrogatepass")
        reply = server.client.get(f"/v1/documents?{sent}", headers=staff)
        assert reply.status_code in {200, 422}
        assert "wages" not in reply.text.replace(text, "")
    body = json.dumps({"question": text}, ensure_ascii=True)
    kind = {"Content-Type": "application/json"}
    reply = server.client.post("/v1/ask", content=body, headers={**staff, **kind})
    assert reply.status_code in {200, 422}
    assert "31 euros" not in reply.text
    named = json.dumps({"question": "x", text: "y"}, ensure_ascii=True)
    reply = server.client.post("/v1/ask", content=named, headers={**staff, **kind})
    assert reply.status_code == 422
    change = json.dumps({"roles": [text]}, ensure_ascii=True)
    path = "/v1/documents/kc-returns-v3"
    reply = server.client.patch(path, content=change, headers={**staff, **kind})
    assert reply.status_code in {403, 422}
    assert server.client.get("/v1/documents?limit=200", headers=staff).text == before


def test_class_24_nothing_is_read_before_the_caller_is_known(server: Any) -> None:
    app = create_app(server.services)
    sent: list[Any] = []

    async def receive() -> Any:
        raise AssertionError("the body was read")

    async def send(message: Any) -> None:
        sent.append(message)

    for path in ("/v1/ask", "/v1/documents", "/v1/chat/completions", "/sign-out"):
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"content-type", b"application/json"), (b"content-length", b"99999999")],
            "client": ("127.0.0.1", 1),
            "scheme": "http",
        }
        asyncio.run(app(scope, receive, send))
    statuses = [message["status"] for message in sent if "status" in message]
    assert statuses == [401] * 4


def test_class_25_28_nothing_stored_or_sent_is_executed_or_unpickled() -> None:
    hostile = re.compile(
        r"\b(pickle|joblib|marshal|shelve|dill)\.|\byaml\.(load|unsafe_load|full_load)\(|torch\.load"
        r"|(?<![\w.])(eval|exec|compile)\(|allow_pickle\s*=\s*True|shell\s*=\s*True|os\.system"
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in (ROOT / "src").rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1)
        if hostile.search(line) and "Loader=_LinedLoader" not in line  # a SafeLoader, with lines
    ]
    assert found == []


def test_class_26_reserved_keys_in_metadata_are_text(server: Any) -> None:
    staff = server.key("staff")
    title = '{"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]}'
    front = f"---\ntitle: '{title}'\nlc: 1\ntype: constructor\n---\n"
    (document_id,) = brought(server, staff, "a.md", front + NOTE)["added"]
    assert server.client.get(f"/v1/documents/{document_id}", headers=staff).json()["title"] == title


def test_hostile_requests_are_refused_in_bounded_time(server: Any) -> None:
    staff = {**server.key("staff"), "Content-Type": "application/json"}
    deep = "[" * 100_000
    bodies = {
        "deep": f'{{"question": {deep}',
        "huge": json.dumps({"question": "a" * 400_000}),
        "numbers": '{"question": ' + "9" * 100_000 + "}",
        "broken": '{"question": "a',
        "no object": "[]",
        "not utf-8": b'{"question": "\xff\xfe"}',
        "duplicates": '{"question": "a", "question": {}}',
    }
    started = time.monotonic()
    statuses = {
        name: server.client.post("/v1/ask", content=body, headers=staff).status_code
        for name, body in bodies.items()
    }
    assert set(statuses.values()) <= {400, 413, 422}, statuses
    assert statuses["huge"] == 413
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=b", b"--c\r\n\r\nx"),
        (
            "multipart/form-data; boundary=b",
            b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--",
        ),
        ("multipart/form-data; boundary=b", b"--b\r\n" + b"A: " + b"a" * 100_000 + b"\r\n\r\nx"),
        ("multipart/form-data; boundary=" + "b" * 5000, b"--b"),
        ("application/x-www-form-urlencoded", b"files=x"),
        ("text/plain", b"x"),
    ],
)
def test_broken_forms_are_problems(server: Any, kind: str, body: bytes) -> None:
    reply = server.client.post(
        "/v1/documents", content=body, headers={**server.key("staff"), "Content-Type": kind}
    )
    assert reply.status_code in {400, 413, 415, 422}, reply.text
    assert reply.headers["content-type"] == "application/problem+json"


def test_a_json_body_of_another_type_is_not_read(server: Any) -> None:
    """A page of another site can send text/plain without asking first; it must not pass for JSON."""
    headers = {**server.key("staff"), "Content-Type": "text/plain"}
    reply = server.client.post(
        "/v1/ask", content=json.dumps({"question": QUESTION}), headers=headers
    )
    assert reply.status_code in {415, 422}


def test_headers_cannot_be_injected(server: Any) -> None:
    staff = server.key("staff")
    name = 'a"\r\nSet-Cookie: x=y\r\n.md'
    (document_id,) = brought(server, staff, "plain.md", NOTE)["added"]
    reply = server.client.get(f"/v1/documents/{document_id}/content", headers=staff)
    assert "set-cookie" not in reply.headers
    assert "\r" not in safe_name(name)
    redirect = server.client.get("/v1/documents/a%0d%0aSet-Cookie:%20x=y", headers=staff)
    assert "set-cookie" not in redirect.headers


LOCAL = {"authentication": ("local",), "tables": {"access": {"local": {"roles": ("staff",)}}}}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"X-Forwarded-For": "10.0.0.1"},
        {"Forwarded": "for=10.0.0.1"},
        {"Via": "1.1 proxy"},
        {"Authorization": "Bearer edk_0123456789abcdef_" + "a" * 43},
        {"Authorization": "Basic YTpi"},
    ],
)
def test_class_19_the_local_reader_is_on_this_machine_and_comes_directly(
    serve: Any, headers: dict[str, str]
) -> None:
    server = serve(**LOCAL)
    assert server.client.get("/v1/me").json()["roles"] == ["staff"]
    assert server.client.get("/v1/me", headers=headers).status_code == 401


def test_class_19_somebody_elsewhere_is_not_the_local_reader(serve: Any) -> None:
    server = serve(**LOCAL, client=("10.1.2.3", 4000))
    assert server.client.get("/v1/me").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
)
def test_pages_of_other_sites_change_nothing_on_this_machine(
    serve: Any, headers: dict[str, str]
) -> None:
    server = serve(**LOCAL)
    sent = {"files": [("files", ("a.md", NOTE.encode()))], "headers": headers}
    reply = server.client.post("/v1/documents", **sent)
    assert (reply.status_code, reply.json()["code"]) == (403, "wrong_origin")
    assert server.client.post("/v1/documents", files=sent["files"]).status_code == 202
