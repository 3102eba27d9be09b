"""``evidencedesk chat``, typed into and piped into."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest


@pytest.fixture
def chat(ready: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Runs ``chat`` with lines on standard input."""

    def call(*lines: str, options: tuple[str, ...] = ()):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return ready("chat", *options)

    return call


def test_a_follow_up_is_filled_in_and_says_so(chat: Callable) -> None:
    ran = chat("How long do I have to return a new bike?", "And opened helmets?")
    assert ran.code == 0
    assert "within 30 days of delivery" in ran.out
    assert "Asked as: How long do I have to return opened helmets?" in ran.out
    assert "Opened helmets cannot be returned." in ran.out


def test_json_is_one_line_a_turn(chat: Callable) -> None:
    ran = chat(
        "How long do I have to return a new bike?", "And opened helmets?", options=("--json",)
    )
    first, second = map(json.loads, ran.out.splitlines())
    assert ran.err == ""
    assert (first["asked"], first["rewritten_by"]) == (first["question"], "nobody")
    assert second["question"] == "And opened helmets?"
    assert second["rewritten_by"] == "rules"
    assert {"answer_id", "claims", "citations", "reason"} <= set(second)


def test_an_impossible_question_ends_nothing(chat: Callable) -> None:
    ran = chat("?", "How long do I have to return a new bike?")
    assert ran.code == 0
    assert "The question is empty." in ran.err
    assert "within 30 days" in ran.out


def test_starting_over_forgets(chat: Callable) -> None:
    ran = chat("How long do I have to return a new bike?", "/new", "And opened helmets?")
    assert "Asked as" not in ran.out


def test_earlier_answers_can_be_shown_again(chat: Callable) -> None:
    ran = chat("How long do I have to return a new bike?", "/again", "/nonsense", "", "/quit", "x")
    assert ran.out.count("within 30 days of delivery") == 4
    assert ran.out.count("> How long") == 1


def test_the_reader_options_hold_in_every_turn(chat: Callable) -> None:
    question = "Who approves a refund above 500 euros?"
    guest = chat(question, "and that?", options=("--role", "everyone", "--threshold", "0"))
    assert "shop manager" not in guest.out
    assert "shop manager" in chat(question, options=("--role", "staff", "--threshold", "0")).out
