"""Holes that were found in products of this kind: names and contents of files, classes 27 to 39."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from asked_of_servers import NOTE, asked, brought
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.server.originals import safe_name

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2f..%2f..%2fpyproject.toml",
        "/static/%2e%2e/rendering.py",
        "/static//etc/passwd",
        "/language/..%2f..%2fen",
        "/v1/documents/..%2f..%2f..%2fetc%2fpasswd",
        "/v1/documents/%2fetc%2fpasswd/content?original=true",
        "/v1/documents/../../index.sqlite3/content",
        "/v1/documents/..%5c..%5cserver.sqlite3/content",
        "/v1/jobs/..%2f..%2fserver.sqlite3",
        "/v1/answers/%2e%2e%2f",
    ],
)
def test_class_27_31_no_name_in_a_request_is_a_path(server: Any, path: str) -> None:
    reply = server.client.get(path, headers=server.key("staff", "board", administrator=True))
    assert reply.status_code in {404, 422, 303}, reply.text
    assert "root:" not in reply.text
    assert "SQLite" not in reply.text


NAMES = [
    "../x.md",
    "/etc/x.md",
    "..\\..\\x.md",
    "%2e%2e%2fx.md",
    ".hidden.md",
    "C:\\x.md",
    "a/../../x.md",
]


@pytest.mark.parametrize("name", NAMES)
def test_class_29_a_file_name_is_no_path(server: Any, index: Path, name: str) -> None:
    staff = server.key("staff")
    before = {path for path in index.parent.rglob("*") if "originals" not in path.parts}
    (document_id,) = brought(server, staff, name, NOTE)["added"]
    after = {path for path in index.parent.rglob("*") if "originals" not in path.parts}
    assert {path.name for path in after - before} <= {"uploads", "server.sqlite3-wal"}
    shown = server.client.get(f"/v1/documents/{document_id}", headers=staff).json()["source"]
    assert "/" not in shown
    assert "\\" not in shown


@given(st.text(max_size=300))
def test_class_29_every_name_is_made_safe(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert safe == safe_name(safe)
    assert Path(safe).name == safe
    assert not safe.startswith(".")
    assert len(safe.encode()) <= 220
    assert safe.isprintable()


def test_class_30_32_members_of_archives_are_written_nowhere(server: Any, index: Path) -> None:
    staff = server.key("staff")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../evil.md", NOTE)
        archive.writestr("/tmp/evil-absolute.md", NOTE)
        link = zipfile.ZipInfo("link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    outcome = brought(server, staff, "a.zip", packed.getvalue())
    assert not list(index.parent.rglob("*evil*"))
    assert not Path("/tmp/evil-absolute.md").exists()
    for document_id in outcome["added"]:
        found = server.client.get(f"/v1/documents/{document_id}", headers=staff).json()
        assert "root:" not in found["text"]
        assert ".." not in found["source"]


def test_class_33_bombs_cost_their_own_upload_only(server: Any) -> None:
    staff = server.key("staff")
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", b"0" * (200 << 20))
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number}.txt", b"")
    started = time.monotonic()
    for name, data in (("bomb.zip", inner.getvalue()), ("many.zip", many.getvalue())):
        assert brought(server, staff, name, data)["state"] == "failed"
    assert time.monotonic() - started < 30
    assert asked(server, staff).status_code == 200


def test_class_34_content_decides_what_a_file_is_and_browsers_show_none(server: Any) -> None:
    staff = server.key("staff")
    page = (
        "<html><body><h1>A</h1><script>alert(1)</script><p>Helmets are red here.</p></body></html>"
    )
    (document_id,) = brought(server, staff, "sly.pdf", page)["added"]
    assert (
        server.client.get(f"/v1/documents/{document_id}", headers=staff).json()["media_type"]
        == "text/html"
    )
    for query in ("", "?original=true"):
        reply = server.client.get(f"/v1/documents/{document_id}/content{query}", headers=staff)
        assert reply.headers["content-disposition"].startswith("attachment")
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["content-type"].partition(";")[0] in {
            "text/plain",
            "application/octet-stream",
        }
        assert "sandbox" in reply.headers["content-security-policy"]


ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def test_class_36_nothing_from_a_document_becomes_markup(server: Any) -> None:
    staff = server.key("staff")
    text = f"# {ATTACK}\n\nVisitors park {ATTACK} behind the workshop, in rows 7 and 8.\n"
    front = f"---\ntitle: 'Parking {ATTACK}'\n---\n"
    outcome = brought(server, staff, f"a{ATTACK.replace('/', '')}.md", front + text)
    (document_id,) = outcome["added"]
    answer = asked(server, staff, "Where do visitors park?").json()
    pages = [
        server.client.get("/library", headers=staff),
        server.client.get("/source", params={"document": document_id}, headers=staff),
        server.client.get(f"/answers/{answer['answer_id']}", headers=staff),
        server.client.get("/activity", headers=staff),
        server.client.get("/quality/gaps", headers=staff),
    ]
    assert [page.status_code for page in pages] == [200] * len(pages)
    for page in pages[:2]:
        assert "&lt;script&gt;alert(1)" in page.text
    for page in pages:
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text


def test_class_38_pages_may_load_from_this_server_only(server: Any) -> None:
    staff = server.key("staff")
    for path in ("/", "/library", "/source?document=kc-returns-v3", "/activity"):
        policy = server.client.get(path, headers=staff).headers["content-security-policy"]
        rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";") if rule.strip())
        assert rules["default-src"] == "'none'"
        for name, sources in rules.items():
            assert "*" not in sources, name
            assert "http" not in sources, name
            assert "unsafe" not in sources, name


def test_class_39_entities_are_neither_read_nor_expanded(server: Any, tmp_path: Path) -> None:
    staff = server.key("staff")
    secret = tmp_path / "secret.txt"
    secret.write_text("planted-41d0", "utf-8")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    entities = f'<!ENTITY f SYSTEM "file://{secret}"><!ENTITY l0 "ha">{laughs}'
    body = f'<?xml version="1.0"?><!DOCTYPE d [{entities}]><d>&f; &l11; text of it</d>'
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("[Content_Types].xml", body)
        archive.writestr("word/document.xml", body)
    started = time.monotonic()
    outcomes = [
        brought(server, staff, "a.docx", package.getvalue()),
        brought(server, staff, "a.html", body.replace("<d>", "<html><p>").replace("</d>", "</p>")),
    ]
    assert time.monotonic() - started < 20
    for outcome in outcomes:
        assert "planted" not in json.dumps(outcome)
        for document_id in outcome["added"]:
            found = server.client.get(f"/v1/documents/{document_id}", headers=staff).text
            assert "planted" not in found
            assert "hahahaha" not in found
