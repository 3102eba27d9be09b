"""What readers say of answers, the gaps that it shows, and who may see either."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from records_library import ANNA, BEN, CHIEF, GIFT, NONSENSE, RETURN, SALARY, OpenDesk

from evidencedesk.access import Principal
from evidencedesk.desk import Desk
from evidencedesk.errors import UsageError
from evidencedesk.model import Reply, StopReason
from evidencedesk.records import gaps_of
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.testing.recorded import RecordedGenerator

AUDITOR = Principal(subject="carla", roles=frozenset({"everyone"}), auditor=True)


def code_of(call: Callable[..., object], *arguments: object, **named: object) -> str:
    with pytest.raises(UsageError) as caught:
        call(*arguments, **named)
    return caught.value.code


def later(desk: Desk) -> None:
    assert isinstance(desk._clock, SteppingClock)
    desk._clock.move(timedelta(hours=1))


def test_feedback_is_kept_with_its_answer_and_the_last_word_counts(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    desk.feedback(answer.answer_id, "useful", principal=ANNA)
    desk.feedback(answer.answer_id, "wrong", principal=ANNA, note="It was 14 days in May.")
    desk.feedback(answer.answer_id, "useful", principal=CHIEF)
    (own,) = desk.feedback_on(answer.answer_id, principal=ANNA)
    assert (own.verdict, own.note) == ("wrong", "It was 14 days in May.")
    everybody = desk.feedback_on(answer.answer_id, principal=CHIEF)
    assert sorted(each.verdict for each in everybody) == ["useful", "wrong"]
    assert all(finding.ok for finding in desk.answers.audit())
    done = [(row["action"], row["verdict"], row["by"]) for row in desk.activity(principal=CHIEF)]
    assert done[:2] == [("feedback", "useful", "chief"), ("feedback", "wrong", "anna")]


def test_only_who_may_read_an_answer_can_say_something_of_it(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    for call in (
        lambda name: desk.feedback(name, "wrong", principal=BEN),
        lambda name: desk.feedback_on(name, principal=BEN),
    ):
        assert code_of(call, answer.answer_id) == code_of(call, "0" * 32) == "not_found"
    assert desk.feedback_on(answer.answer_id, principal=CHIEF) == ()


def test_feedback_that_makes_no_sense_is_refused(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA).answer_id
    assert code_of(desk.feedback, answer, "great", principal=ANNA) == "bad_verdict"
    long = "x" * 2001
    assert code_of(desk.feedback, answer, "wrong", principal=ANNA, note=long) == "note_too_long"
    kept = desk.feedback(answer, "wrong", principal=ANNA, note="\ud800 half a letter")
    assert kept.note == "half a letter"


def test_notes_go_with_their_writer_their_document_and_their_age(desk: Desk) -> None:
    def notes() -> list[str]:
        with sqlite3.connect(desk.path / "index.sqlite3") as connection:
            rows = connection.execute("SELECT note FROM feedback ORDER BY note")
            return [note for (note,) in rows]

    returned, gift = (desk.ask(each, principal=ANNA).answer_id for each in (RETURN, GIFT))
    desk.feedback(returned, "wrong", principal=ANNA, note="anna on returns")
    desk.feedback(gift, "wrong", principal=ANNA, note="anna on gifts")
    desk.feedback(gift, "wrong", principal=CHIEF, note="chief on gifts")
    desk.remove("returns")
    assert notes() == ["", "anna on gifts", "chief on gifts"]
    desk.answers.erase_subject("anna", tenant="default")
    assert notes() == ["", "", ""]
    later(desk)
    desk.answers.erase_older(0, tenant="default")
    assert notes() == []


def test_without_recorded_content_no_note_is_kept(open_desk: OpenDesk) -> None:
    desk = open_desk(privacy={"record_content": False})
    answer = desk.ask(RETURN, principal=ANNA).answer_id
    desk.feedback(answer, "missing", principal=ANNA, note="the fee")
    assert [each.note for each in desk.feedback_on(answer, principal=ANNA)] == [""]
    found = desk.gaps(principal=CHIEF)
    assert (found.groups, found.without_text) == ((), 1)


def test_gaps_are_abstentions_and_bad_feedback_grouped(desk: Desk) -> None:
    for question in (NONSENSE, "Which comets did the shops photograph?"):
        desk.ask(question, principal=ANNA)
    later(desk)
    desk.ask(NONSENSE, principal=BEN)
    wrong = desk.ask(GIFT, principal=BEN)
    desk.feedback(wrong.answer_id, "wrong", principal=BEN, note="not for paper cards")
    good = desk.ask(RETURN, principal=ANNA)
    desk.feedback(good.answer_id, "useful", principal=ANNA)
    comet, gift = desk.gaps(principal=CHIEF).groups
    assert comet.questions == (NONSENSE, "Which comets did the shops photograph?")
    assert (comet.count, comet.readers, comet.reasons) == (3, 2, {"no_evidence": 3})
    assert (gift.questions, gift.feedback, gift.notes) == (
        (GIFT,),
        {"wrong": 1},
        ("not for paper cards",),
    )
    assert gift.answers == (wrong.answer_id,)
    assert gift.nearest[0].document_id == "gift-cards"
    assert comet.first_at < comet.last_at


def test_an_abstention_that_was_right_and_an_outage_are_no_gaps(open_desk: OpenDesk) -> None:
    refused = Reply("", stop_reason=StopReason.REFUSED, generator="recorded")
    desk = open_desk(generator=RecordedGenerator({GIFT: refused}))
    assert desk.ask(GIFT, principal=ANNA).reason == "refused"
    right = desk.ask(NONSENSE, principal=ANNA)
    assert len(desk.gaps(principal=CHIEF).groups) == 1
    desk.feedback(right.answer_id, "useful", principal=ANNA)
    assert desk.gaps(principal=CHIEF).groups == ()


def test_gaps_and_activity_are_for_who_oversees(desk: Desk) -> None:
    desk.ask(SALARY, principal=ANNA)
    desk.ask(SALARY, principal=BEN)
    for reader in (ANNA, BEN, replace(CHIEF, administrator=False)):
        assert desk.gaps(principal=reader).groups == ()
        assert desk.activity(principal=reader) == ()
    assert desk.gaps(principal=replace(CHIEF, tenant="other")).groups == ()
    assert desk.activity(principal=replace(CHIEF, tenant="other")) == ()
    assert len(desk.activity(principal=CHIEF, limit=1)) == 1


def test_an_auditor_reads_answers_and_no_document_that_is_not_his(desk: Desk) -> None:
    answer = desk.ask(SALARY, principal=BEN)
    assert not answer.abstained
    listed = desk.answers.list(principal=AUDITOR)
    assert [(row["answer_id"], row["asked_by"], row["question"]) for row in listed] == [
        (answer.answer_id, "ben", SALARY)
    ]
    receipt = desk.answers.show(answer.answer_id, principal=AUDITOR)
    assert receipt["question"] == SALARY
    assert "working day" not in str(receipt)
    assert "salaries" not in str(receipt).replace(SALARY, "")
    assert receipt["index"] is None
    exported = desk.answers.export(answer.answer_id, principal=AUDITOR)
    assert "working day" not in str(exported)
    asked = next(row for row in desk.activity(principal=AUDITOR) if row["action"] == "ask")
    assert (asked["by"], asked["documents"]) == ("ben", [])
    assert next(row for row in desk.activity(principal=CHIEF) if row["action"] == "ask")[
        "documents"
    ] == ["salaries"]
    assert desk.documents(principal=AUDITOR) == desk.documents(principal=ANNA)
    assert desk.ask(SALARY, principal=AUDITOR).abstained


def test_an_auditor_finds_what_he_would_find_without_being_one(desk: Desk) -> None:
    plain = replace(AUDITOR, auditor=False)
    for look in (
        lambda reader: desk.search("salaries paid month", principal=reader),
        lambda reader: desk.documents(principal=reader),
        lambda reader: desk.document("returns", principal=reader),
        lambda reader: desk.history("returns", principal=reader),
        lambda reader: desk.unrecorded().ask(GIFT, principal=reader).retrieved,
    ):
        assert look(AUDITOR) == look(plain)
    for look in (desk.document, desk.history, desk.diff):
        assert code_of(look, "salaries", principal=AUDITOR) == "not_found"
    assert code_of(desk.chunk, "salaries:c0", principal=AUDITOR) == "not_found"


def test_an_auditor_reads_the_log_of_what_he_may_see(desk: Desk) -> None:
    entries = desk.log(principal=AUDITOR)
    assert {entry.document_id for entry in entries} == {"returns", "gift-cards"}
    assert {entry.document_id for entry in desk.log(principal=CHIEF)} == {
        "returns",
        "gift-cards",
        "salaries",
    }
    assert desk.log(principal=replace(AUDITOR, auditor=False)) == ()


def test_an_auditor_learns_which_answers_lapsed_and_not_why(
    desk: Desk, edit: Callable[..., object]
) -> None:
    paid = desk.ask(SALARY, principal=BEN)
    returned = desk.ask(RETURN, principal=ANNA)
    edit("salaries", "last working day", "first working day")
    edit("returns", "30 days", "60 days")
    lapsed = {each.answer_id: each.lapse for each in desk.answers.recheck(principal=AUDITOR)}
    assert lapsed == {paid.answer_id: "source_gone", returned.answer_id: "source_changed"}


def test_questions_that_say_the_same_in_other_words_are_one_gap(desk: Desk) -> None:
    vectors = {
        "When are we paid?": (1.0, 0.0),
        "What is pay day?": (0.8, 0.6),
        NONSENSE: (0.0, 1.0),
    }
    for question in vectors:
        desk.ask(question, principal=ANNA)
    receipts = desk.answers._receipts.all(CHIEF, None)

    def grouped(embed: Callable[[str], object] | None) -> list[tuple[str, ...]]:
        return [
            each.questions for each in gaps_of(receipts, {}, languages=["en"], embed=embed).groups
        ]

    assert sorted(map(len, grouped(None))) == [1, 1, 1]
    together = grouped(lambda question: np.array(vectors[question], np.float32))
    assert together == [("What is pay day?", "When are we paid?"), (NONSENSE,)]


def test_an_index_of_before_there_was_feedback_is_brought_up_to_date(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    desk.close()
    with sqlite3.connect(desk.path / "index.sqlite3") as connection:
        connection.execute("DROP TABLE feedback")
        connection.execute("DROP TABLE notices")
        connection.execute("DROP TABLE tokens")
        connection.execute("PRAGMA user_version = 2")
    desk.feedback(answer.answer_id, "wrong", principal=ANNA)
    assert [gap.answers for gap in desk.gaps(principal=CHIEF).groups] == [(answer.answer_id,)]
    assert desk.notifying.waiting() == ()
    assert desk.answers.show(answer.answer_id, principal=ANNA)["text"] == answer.text
