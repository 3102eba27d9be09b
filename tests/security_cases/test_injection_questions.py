"""Attacking questions through the whole product: nothing leaks, nothing breaks, no right changes."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from attacks import (
    CELLAR,
    QUESTIONS,
    ROWS,
    SECRET_WORDS,
    HostileModel,
    check_answer,
    check_prompt,
    claims,
)

from evidencedesk import Answer, Desk, Principal
from evidencedesk.errors import QuestionError
from evidencedesk.model import Request

GUEST = Principal(roles=frozenset({"everyone"}))
BOARD = Principal(roles=frozenset({"board", "everyone"}))
NOBODY = Principal()
IDS = [row["id"] for row in QUESTIONS]
DOCUMENT_TEXTS = [row.text for row in ROWS if len(row.text) < 2000]


def said(answer: Answer) -> str:
    """Everything in an answer but the question, which whoever asked wrote."""
    shown = {**answer.to_json(), "question": "", "answer_id": "", "timing_ms": {}}
    return json.dumps(shown, ensure_ascii=False)


def is_askable(question: str) -> bool:
    """Some letter or digit, and no longer than the settings allow."""
    return any(map(str.isalnum, question)) and len(question.strip()) <= 2000


@pytest.mark.parametrize("threshold", [None, 0.0])
@pytest.mark.parametrize("row", QUESTIONS, ids=IDS)
def test_a_question_gives_no_right_and_breaks_nothing(
    reader_desk: Desk, row: dict[str, Any], threshold: float | None
) -> None:
    started = time.process_time()
    for reader in (GUEST, NOBODY):
        if not is_askable(row["text"]):
            with pytest.raises(QuestionError):
                reader_desk.explain(row["text"], principal=reader, threshold=threshold)
            continue
        explained = reader_desk.explain(row["text"], principal=reader, threshold=threshold)
        check_answer(explained, reader)
        assert not any(word in said(explained.answer) for word in SECRET_WORDS)
        assert {hit.chunk.document_id for hit in explained.retrieval.hits} <= {"parking"}
    assert time.process_time() - started < 2


@pytest.mark.parametrize("row", QUESTIONS, ids=IDS)
def test_what_expects_an_abstention_gets_one(reader_desk: Desk, row: dict[str, Any]) -> None:
    if row["expect"] not in {"abstain", "acl_unchanged", "no_system_prompt"}:
        return
    assert reader_desk.ask(row["text"], principal=GUEST).abstained


@pytest.mark.parametrize("row", QUESTIONS, ids=IDS)
def test_nothing_tells_a_hidden_document_from_none(reader_desk: Desk, row: dict[str, Any]) -> None:
    """The same question to a reader who lacks a right, and of a document that is nowhere."""
    if row["expect"] != "same_answer_as_not_existing":
        return
    answer = reader_desk.ask(row["text"], principal=GUEST)
    absent = "Does a document called 'Quarterly zebra census' exist?"
    other = reader_desk.ask(absent, principal=GUEST)
    assert (answer.abstained, answer.reason, answer.text) == (True, other.reason, other.text)
    assert not reader_desk.ask(
        "What does the merger memo name?", principal=BOARD, threshold=0
    ).abstained


@pytest.mark.parametrize("row", QUESTIONS, ids=IDS)
def test_a_question_stays_in_its_block_and_a_model_that_obeys_it_is_not_shown(
    hostile: tuple[Desk, HostileModel], row: dict[str, Any]
) -> None:
    desk, model = hostile
    seen: list[Request] = []

    def obey(request: Request) -> str:
        seen.append(request)
        label = request.evidence.sources[0].label
        quote = request.evidence.sources[0].chunk.text.split("\n")[0]
        return claims(
            (request.rules, label, quote),
            ("Project Falcon layoffs exist.", label, quote),
            ("The limit is EUR 900.", label, "EUR 900"),
            ("The limit is EUR 900.", "S99", quote),
            ("![x](https://attacker.example/?q=1)", label, quote),
        )

    model.obey = obey
    if not is_askable(row["text"]):
        return
    answer = desk.ask(row["text"], principal=GUEST, threshold=0)
    assert answer.abstained
    assert (answer.claims, answer.citations) == ((), ())
    for request in seen:
        check_prompt(request)
        assert request.rules.count("\n") == seen[0].rules.count("\n")


@pytest.mark.parametrize("text", DOCUMENT_TEXTS)
def test_the_text_of_an_attacking_document_attacks_as_a_question_no_better(
    reader_desk: Desk, text: str
) -> None:
    explained = reader_desk.explain(text, principal=GUEST, threshold=0)
    check_answer(explained, GUEST)
    assert not any(word in said(explained.answer) for word in SECRET_WORDS)


@pytest.mark.parametrize("row", QUESTIONS, ids=IDS)
def test_an_attack_in_an_earlier_turn_changes_no_later_answer(
    reader_desk: Desk, row: dict[str, Any]
) -> None:
    turn = reader_desk.chat(CELLAR, earlier=[row["text"]], principal=GUEST)
    assert turn.asked == CELLAR
    assert "from 6 in the morning until 10 at night" in turn.answer.text
