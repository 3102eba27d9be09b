"""What was found by trying to break a running server, each with the smallest input that showed it."""

from __future__ import annotations

from typing import Any

import pytest

from evidencedesk.access import Principal
from evidencedesk.desk.keeping import Said
from evidencedesk.errors import UsageError
from evidencedesk.server.identity import Permission

OVERSEEN = frozenset({Permission.READ, Permission.AUDIT})
QUESTION = "How much are instructors paid per hour?"
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n# A\r\n'
    b'--b\r\nContent-Disposition: form-data; name="%b"\r\n\r\n%b\r\n--b--\r\n'
)


def sent(server: Any, kind: str, field: bytes = b"owner", text: bytes = b"x") -> Any:
    headers = {**server.key("staff"), "Content-Type": kind}
    return server.client.post("/v1/documents", content=FORM % (field, text), headers=headers)


@pytest.mark.parametrize(
    "charset",
    [
        "charset=undefined",
        "charset=punycode",
        "charset=unicode_escape",
        "Charset = utf-7",
        "charset*=undefined''x",
        "charset=utf-8; charset=undefined",
    ],
)
def test_the_text_of_a_form_is_utf_8(server: Any, charset: str) -> None:
    """Some decoders raise what the form's reader does not expect; others make half a character, which
    no database takes: a 500, or an upload that is tried again and again."""
    refused = sent(server, f"multipart/form-data; boundary=b; {charset}", b"owner", b"\\ud800\xff")
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported_type")
    for plain in ('; Charset="UTF-8"', ""):
        assert sent(server, f"multipart/form-data; boundary=b{plain}").status_code == 202


def test_whoever_oversees_is_not_told_the_name_of_what_he_may_not_see(server: Any) -> None:
    """Which answers lapsed is for auditors; which document that was, is for who may see it."""
    board, auditor = server.key("board"), server.key("staff", permissions=OVERSEEN)
    answer = server.client.post("/v1/ask", json={"question": QUESTION}, headers=board).json()
    (document_id,) = {each["document_id"] for each in answer["citations"]}
    server.client.patch(f"/v1/documents/{document_id}", json={"status": "draft"}, headers=board)
    pages = ("/quality/lapsed", "/quality", "/quality/gaps", "/activity", "/library?status=any")
    replies = [server.client.get(path, headers=auditor) for path in (*pages, "/v1/gaps")]
    replies.append(
        server.client.post(f"/v1/answers/{answer['answer_id']}/recheck", headers=auditor)
    )
    assert [reply.status_code for reply in replies] == [200] * len(replies)
    assert not any(document_id in reply.text for reply in replies)
    assert answer["answer_id"] in replies[0].text
    assert replies[-1].json()["holds"] is False


@pytest.mark.parametrize("name", ["X-Real-IP", "X-Forwarded-Proto", "CF-Connecting-IP", "Via"])
def test_no_proxy_stands_before_the_local_reader(serve: Any, name: str) -> None:
    local = {"access": {"local": {"roles": ("staff",)}}}
    server = serve(authentication=("local",), tables=local)
    assert server.client.get("/v1/me", headers={name: "10.0.0.1"}).status_code == 401
    assert server.client.get("/v1/me").status_code == 200


class Broken:
    """A generator with a bug whose error repeats what it was given."""

    name = "broken"

    def generate(self, request: Any) -> Any:
        raise RuntimeError(str(request))


def test_a_bug_is_answered_like_everything_else_and_tells_nothing(serve: Any) -> None:
    """The framework answers it outside of every middleware, so without their headers."""
    server = serve(generator=Broken())
    reply = server.client.post(
        "/v1/ask",
        json={"question": "How long do I have to return a bike?"},
        headers=server.key("staff"),
    )
    assert (reply.status_code, reply.json()["code"]) == (500, "internal")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert f'"request": "{reply.headers["x-request-id"]}"' in server.logged.getvalue()
    assert "bike" not in reply.text + server.logged.getvalue()


def test_what_can_be_no_id_is_not_there(server: Any) -> None:
    """SQLite takes no half character, PostgreSQL no zero byte (tests/postgres/test_postgres_server.py)."""
    desk, reader = server.services.desk, Principal(roles=frozenset({"staff"}), subject="erika")
    for name in ("\udcff", "kc-returns-v3\0"):
        for ask in (
            lambda name: desk.document(name, principal=reader),
            lambda name: desk.update(name, Said(status="draft"), principal=reader),
            lambda name: desk.delete(name, principal=reader),
            lambda name: desk.answers.show(name, principal=reader),
            lambda name: desk.answers.recheck(answer_id=name, principal=reader),
            lambda name: desk.feedback(name, "wrong", principal=reader),
        ):
            with pytest.raises(UsageError) as refused:
                ask(name)
            assert refused.value.code == "not_found"


def test_earlier_questions_are_read_no_further_than_a_question_may_go(server: Any) -> None:
    """Twenty of 12,000 characters kept a processor busy for five seconds."""
    desk = server.services.desk
    most = server.services.settings.retrieval.max_question_chars
    earlier = "How long is the warranty?"
    assert "warranty" in desk.stand_alone("And for employees?", [earlier]).text
    assert "warranty" not in desk.stand_alone("And for employees?", ["\n" * most + earlier]).text
