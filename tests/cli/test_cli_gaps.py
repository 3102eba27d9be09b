"""``answers feedback``, ``gaps``, ``activity`` and ``notices`` as they are typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

QUESTION = "How long do I have to return a new bike?"
NONSENSE = "Which comet did the shop photograph?"
ME = ("--as", "me@example.org", "--role", "everyone")


def test_feedback_and_abstentions_are_gaps(ready: Callable) -> None:
    answer = ready("ask", QUESTION, *ME, "--json").json["answer_id"]
    said = ready("answers", "feedback", answer, "missing", "--note", "The fee.", *ME, "--json").json
    assert (said["answer_id"], said["verdict"], said["note"]) == (answer, "missing", "The fee.")
    ready("ask", NONSENSE, *ME)
    ready("ask", NONSENSE.lower(), *ME)
    comet, bike = ready("gaps", "--json").json["gaps"]
    assert (comet["questions"], comet["count"]) == ([NONSENSE.lower(), NONSENSE], 2)
    assert (bike["notes"], bike["nearest"][0]["document_id"]) == (["The fee."], "returns")
    shown = ready("gaps").out
    for expected in (NONSENSE, "asked 2 times", "no_evidence 2", "“The fee.”", "near: Returns"):
        assert expected in shown
    assert "There is no gap." in ready("gaps", "--tenant", "other").err


def test_feedback_of_somebody_else_or_of_another_kind_is_refused(ready: Callable) -> None:
    answer = ready("ask", QUESTION, *ME, "--json").json["answer_id"]
    for arguments, code in (
        ((answer, "great", *ME), "bad_verdict"),
        ((answer, "wrong", "--as", "you@example.org"), "not_found"),
    ):
        ran = ready("answers", "feedback", *arguments, "--json")
        assert (ran.code, ran.error["code"]) == (2, code)


def test_activity_names_who_did_what_and_no_content(ready: Callable) -> None:
    ready("ask", QUESTION, *ME)
    (entry,) = ready("activity", "--json").json["entries"]
    assert (entry["action"], entry["by"], entry["documents"]) == (
        "ask",
        "me@example.org",
        entry["documents"],
    )
    assert "returns" in entry["documents"]
    shown = ready("activity").out
    assert "me@example.org" in shown
    assert "bike" not in shown


def test_an_auditor_lists_the_answers_of_others(ready: Callable) -> None:
    answer = ready("ask", QUESTION, *ME, "--json").json["answer_id"]
    assert answer in ready("answers", "list", "--as", "carla", "--auditor").out
    assert answer not in ready("answers", "list", "--as", "carla").out


def test_notices_wait_where_nobody_takes_them(
    ready: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No notice waits." in ready("notices", "list").err
    assert ready("notices", "send", "--json").error["code"] == "no_notifier"
    monkeypatch.setenv("EVIDENCEDESK_NOTIFICATIONS__WEBHOOK_URL", "https://127.0.0.1:1/")
    monkeypatch.setenv("EVIDENCEDESK_NOTIFICATIONS__WEBHOOK_SECRET_ENV", "HOOK")
    monkeypatch.setenv("HOOK", "secret")
    asked = ready("ask", NONSENSE, *ME, "--json")
    assert (asked.code, asked.err) == (0, "")
    (waiting,) = ready("notices", "list", "--json").json["notices"]
    assert (waiting["event"], waiting["attempts"]) == ("abstained", 1)
    assert "not public" in waiting["failure"]
    assert waiting["answer_id"] == asked.json["answer_id"]
    assert "not public" in ready("notices", "list").out
    sent = ready("notices", "send", "--json")
    assert (sent.code, sent.json) == (1, {"sent": 0, "failed": 1})
    tested = ready("notices", "test", "--json")
    assert (tested.code, tested.json["outcomes"][0]["channel"]) == (1, "webhook")
    doctor = ready("doctor")
    assert "1 notice could not be sent" in doctor.out + doctor.err
    monkeypatch.setenv("EVIDENCEDESK_OFFLINE", "1")
    assert ready("notices", "test", "--json").error["code"] == "no_notifier"
