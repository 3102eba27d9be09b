"""Asking and searching over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidencedesk.server.identity import Permission

QUESTION = "How long do I have to return a bike?"


def events_of(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_an_answer_has_the_stable_shape_and_a_place(server: Any) -> None:
    reply = server.client.post("/v1/ask", json={"question": QUESTION}, headers=server.key("staff"))
    answer = reply.json()
    assert reply.status_code == 200, answer
    assert answer["abstained"] is False
    assert "30 days" in answer["text"]
    assert answer["citations"][0]["location"]["first_line"] == 11


def test_events_are_what_was_found_then_claims_then_the_answer(server: Any) -> None:
    headers = {**server.key("staff"), "Accept": "text/event-stream"}
    reply = server.client.post("/v1/ask", json={"question": QUESTION}, headers=headers)
    events = events_of(reply.text)
    assert reply.headers["content-type"].startswith("text/event-stream")
    names = [name for name, _ in events]
    assert names[0] == "retrieved"
    assert names[-1] == "answer"
    assert set(names[1:-1]) == {"claim"}
    shown = [data["text"] for name, data in events if name == "claim"]
    assert shown == [claim["text"] for claim in events[-1][1]["claims"]]


def test_what_the_caller_may_not_see_is_no_evidence(server: Any) -> None:
    body = {"question": "What are instructors paid per hour?"}
    staff = server.client.post("/v1/ask", json=body, headers=server.key("staff")).json()
    board = server.client.post("/v1/ask", json=body, headers=server.key("board")).json()
    assert staff["reason"] == "no_evidence"
    assert "31 euros" in board["text"]


@pytest.mark.parametrize("extra", ["principal", "roles", "tenant", "administrator", "threshold"])
def test_nobody_says_in_the_body_who_he_is(server: Any, extra: str) -> None:
    body = {"question": QUESTION, extra: ["board"]}
    reply = server.client.post("/v1/ask", json=body, headers=server.key("staff"))
    assert reply.status_code == 422
    assert reply.json()["code"] == "bad_request"


@pytest.mark.parametrize(
    ("question", "code"),
    [("", "empty_question"), ("?!", "empty_question"), ("a" * 2001, "question_too_long")],
)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_question_that_cannot_be_asked_is_a_problem_and_no_event(
    server: Any, question: str, code: str, accept: str
) -> None:
    headers = {**server.key("staff"), "Accept": accept}
    reply = server.client.post("/v1/ask", json={"question": question}, headers=headers)
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["code"] == code


def test_search_gives_visible_chunks_with_scores(server: Any) -> None:
    reply = server.client.post(
        "/v1/search", json={"query": "return a bike", "k": 3}, headers=server.key("staff")
    )
    hits = reply.json()["hits"]
    assert 0 < len(hits) <= 3
    assert hits[0]["document_id"].startswith("kc-")
    nothing = server.client.post("/v1/search", json={"query": "euros"}, headers=server.key())
    assert nothing.json()["hits"] == []


def test_a_follow_up_question_is_made_to_stand_alone(server: Any) -> None:
    body = {"question": "And for a used one?", "earlier": [QUESTION]}
    reply = server.client.post("/v1/ask", json=body, headers=server.key("staff"))
    assert reply.status_code == 200
    assert reply.json()["question"] == "And for a used one?"
    headers = {**server.key("staff"), "Accept": "text/event-stream"}
    name, last = events_of(server.client.post("/v1/ask", json=body, headers=headers).text)[-1]
    assert name == "answer"
    for key in ("question", "asked", "text", "reason"):
        assert last[key] == reply.json()[key]


def test_no_key_no_question(server: Any) -> None:
    body = {"question": QUESTION}
    assert server.client.post("/v1/ask", json=body).status_code == 401
    only_metrics = server.key("staff", permissions=frozenset({Permission.METRICS}))
    assert server.client.post("/v1/ask", json=body, headers=only_metrics).status_code == 403


def test_the_log_and_the_metrics_hold_no_content(server: Any) -> None:
    headers = server.key("staff", subject="erika@example.org")
    server.client.post("/v1/ask", json={"question": QUESTION}, headers=headers)
    figures = server.client.get("/metrics", headers=headers).text
    assert 'evidencedesk_answers_total{reason="ok"} 1.0' in figures
    for told in (figures, server.logged.getvalue()):
        assert "/v1/ask" in told
        for content in ("bike", "return", "erika", "kc-", "staff", headers["Authorization"][7:]):
            assert content not in told
