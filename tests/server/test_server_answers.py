"""Receipts, feedback, rechecks and gaps over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from evidencedesk.server.identity import Permission

QUESTION = "How long do I have to return a bike?"
ABSENT = "0123456789abcdef0123456789abcdef"
READ = frozenset({Permission.READ})


def asked(server: Any, headers: Any, question: str = QUESTION) -> str:
    reply = server.client.post("/v1/ask", json={"question": question}, headers=headers)
    return str(reply.json()["answer_id"])


def test_a_receipt_is_for_whoever_asked(server: Any) -> None:
    own = server.key("staff", permissions=READ)
    answer_id = asked(server, own)
    receipt = server.client.get(f"/v1/answers/{answer_id}", headers=own).json()
    assert receipt["question"] == QUESTION
    assert receipt["citations"][0]["quote"]
    listed = server.client.get("/v1/answers", headers=own).json()["answers"]
    assert [row["answer_id"] for row in listed] == [answer_id]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("POST", "/feedback", {"verdict": "wrong"}),
        ("POST", "/recheck", None),
    ],
)
def test_the_answer_of_another_looks_like_none(
    server: Any, method: str, path: str, body: Any
) -> None:
    answer_id = asked(server, server.key("staff"))
    other = server.key("staff", permissions=READ)
    replies = [
        server.client.request(method, f"/v1/answers/{name}{path}", json=body, headers=other)
        for name in (answer_id, ABSENT)
    ]
    assert [reply.status_code for reply in replies] == [404, 404]
    assert replies[0].text.replace(answer_id, ABSENT) == replies[1].text


def test_a_quote_is_shown_only_while_its_source_may_be_seen(server: Any) -> None:
    own, board = (
        server.key("staff", subject="erika", permissions=READ),
        server.key("staff", "board"),
    )
    answer_id = asked(server, own)
    server.client.patch("/v1/documents/kc-returns-v3", json={"roles": ["board"]}, headers=board)
    receipt = server.client.get(f"/v1/answers/{answer_id}", headers=own)
    assert "30 days" not in receipt.text
    assert receipt.json()["citations"][0]["available"] is False
    checked = server.client.post(f"/v1/answers/{answer_id}/recheck", headers=own).json()
    assert checked["holds"] is False
    assert {(each["document_id"], each["lapse"]) for each in checked["lapsed"]} == {
        ("", "source_gone")
    }


def test_an_answer_holds_until_its_source_changes(server: Any) -> None:
    own = server.key("staff")
    answer_id = asked(server, own)
    assert server.client.post(f"/v1/answers/{answer_id}/recheck", headers=own).json()["holds"]
    server.client.delete("/v1/documents/kc-returns-v3", headers=own)
    assert not server.client.post(f"/v1/answers/{answer_id}/recheck", headers=own).json()["holds"]


def test_bad_feedback_and_abstentions_are_gaps_for_auditors(server: Any) -> None:
    reader = server.key("staff", permissions=READ)
    auditor = server.key(permissions=frozenset({Permission.AUDIT}))
    wrong = asked(server, reader)
    asked(server, reader, "Which colours do helmets have?")
    said = server.client.post(
        f"/v1/answers/{wrong}/feedback",
        json={"verdict": "missing", "note": "And for used ones?"},
        headers=reader,
    )
    assert (said.status_code, said.json()["verdict"]) == (201, "missing")
    gaps = server.client.get("/v1/gaps", headers=auditor).json()["gaps"]
    assert {gap["questions"][0] for gap in gaps} == {QUESTION, "Which colours do helmets have?"}
    assert [gap["notes"] for gap in gaps if gap["notes"]] == [["And for used ones?"]]
    assert all(gap["nearest"] == [] for gap in gaps), "the auditor has no role"
    assert server.client.get("/v1/gaps", headers=reader).status_code == 403


def test_an_auditor_reads_answers_of_others_without_what_he_may_not_see(server: Any) -> None:
    answer_id = asked(server, server.key("staff", permissions=READ))
    auditor = server.key(permissions=frozenset({Permission.AUDIT, Permission.READ}))
    receipt = server.client.get(f"/v1/answers/{answer_id}", headers=auditor)
    assert receipt.status_code == 200
    assert "30 days" not in receipt.text


@pytest.mark.parametrize(
    "body", [{}, {"verdict": "good"}, {"verdict": "wrong", "note": "a" * 2001}, {"verdict": 1}]
)
def test_feedback_that_makes_no_sense_is_refused(server: Any, body: Any) -> None:
    own = server.key("staff")
    answer_id = asked(server, own)
    reply = server.client.post(f"/v1/answers/{answer_id}/feedback", json=body, headers=own)
    assert reply.status_code == 422
