"""What the security log tells, and what it never repeats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidencedesk.model import Reply, Request

QUESTION = "How long do I have to return a bike?"


class Replying:
    """A generator that replies with a statement and the source it names."""

    name = "scripted"

    def __init__(self, statement: str, source: str) -> None:
        self._claim = {"text": statement, "citations": [{"source": source, "quote": "30 days"}]}

    def generate(self, _: Request) -> Reply:
        return Reply(json.dumps({"insufficient": False, "claims": [self._claim]}))


def events_of(server: Any, name: str) -> list[dict[str, Any]]:
    lines = map(json.loads, server.logged.getvalue().splitlines())
    return [line for line in lines if line["event"] == name]


@pytest.mark.parametrize(
    ("statement", "source", "check"),
    [
        ("Bikes can be returned within 30 days.", "S99", "source_known"),
        ("See ![30 days](https://evil.example/x.png).", "S1", "safe_output"),
    ],
)
def test_a_reply_that_may_follow_orders_is_told_without_content(
    serve: Any, statement: str, source: str, check: str
) -> None:
    server = serve(generator=Replying(statement, source))
    headers = server.key("staff", subject="erika@example.org")
    reply = server.client.post("/v1/ask", json={"question": QUESTION}, headers=headers).json()
    assert reply["abstained"]
    (told,) = events_of(server, "injection_signal")
    assert (told["level"], told["checks"], told["answer"]) == (
        "warning",
        [check],
        reply["answer_id"],
    )
    assert len(told["caller"]) == 16
    for content in ("bike", "days", "evil", "erika", "kc-"):
        assert content not in json.dumps(told)


def test_an_ordinary_answer_is_no_signal(server: Any) -> None:
    headers = server.key("staff")
    assert not server.client.post("/v1/ask", json={"question": QUESTION}, headers=headers).json()[
        "abstained"
    ]
    assert events_of(server, "injection_signal") == []


@pytest.mark.parametrize(
    "address", ["/v1/documents/{}", "/v1/documents/{}/content", "/source?document={}"]
)
def test_a_document_closed_to_the_caller_and_one_unknown_are_told_alike(
    server: Any, address: str
) -> None:
    headers = server.key("staff")
    told = []
    for name in ("wages", "no-such-document"):
        before = len(events_of(server, "denied"))
        assert server.client.get(address.format(name), headers=headers).status_code == 404
        (event,) = events_of(server, "denied")[before:]
        assert event.pop("timestamp")
        told.append(event)
    assert told[0] == told[1]
    assert told[0]["code"] == "not_found"
    assert "wages" not in server.logged.getvalue()
