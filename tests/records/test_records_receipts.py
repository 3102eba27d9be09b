"""A receipt of every answer, and who may read what of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from records_library import ANNA, BEN, CHIEF, GIFT, NONSENSE, RETURN, SALARY, OpenDesk

from evidencedesk.access import Principal
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.desk import Desk
from evidencedesk.errors import IndexUnavailableError, UsageError
from evidencedesk.model import Answer, Reason, Reply, Request, Retrieval, StopReason
from evidencedesk.model.receipt import AuditEvent
from evidencedesk.pipeline import AnswerEvent
from evidencedesk.records import UNAVAILABLE, Occasion, Recorder
from evidencedesk.settings import Settings
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.testing.recorded import RecordedGenerator

GIFT_REPLY = {
    "insufficient": False,
    "claims": [
        {
            "text": "Gift cards expire 36 months after purchase.",
            "citations": [{"source": "S1", "quote": "Gift cards expire 36 months after purchase."}],
        }
    ],
}


def denial(
    call: Callable[..., object], *arguments: object, **named: object
) -> dict[str, dict[str, str]]:
    with pytest.raises(UsageError) as caught:
        call(*arguments, **named)
    return caught.value.to_json()


def stored_content(folder: Path) -> str:
    with sqlite3.connect(folder / "index.sqlite3") as connection:
        rows = connection.execute(
            "SELECT record || content FROM receipts UNION ALL SELECT event FROM audit"
        )
        return "\n".join(row[0] for row in rows)


def test_an_answer_has_a_receipt_with_all_that_led_to_it(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    receipt = desk.answers.show(answer.answer_id, principal=ANNA)
    shown = answer.to_json()
    for name in ("question", "text", "claims", "checks", "retrieved", "usage", "timing_ms"):
        assert receipt[name] == shown[name], name
    for name in ("reason", "confidence", "threshold", "generator", "model", "attempts", "degraded"):
        assert receipt[name] == shown[name], name
    (cited,) = receipt["citations"]
    assert {**shown["citations"][0], "available": True, "note": ""} == cited
    assert (receipt["tenant"], receipt["roles"], receipt["asked_by"]) == (
        "default",
        ["everyone"],
        "anna",
    )
    assert receipt["prompt_version"] == "1"
    assert receipt["settings"]["retrieval.k"] == 8
    assert (receipt["position"], receipt["content"]) == (1, "recorded")


def test_abstentions_and_refusals_have_receipts_too(open_desk: OpenDesk) -> None:
    refused = Reply("", stop_reason=StopReason.REFUSED, generator="recorded")
    desk = open_desk(generator=RecordedGenerator({GIFT: refused}))
    for question, reason in ((NONSENSE, "no_evidence"), (GIFT, "refused")):
        answer = desk.ask(question, principal=ANNA)
        receipt = desk.answers.show(answer.answer_id, principal=ANNA)
        assert (receipt["reason"], receipt["abstained"]) == (reason, True)
        assert receipt["text"] == answer.text
    assert [row["reason"] for row in desk.answers.list(principal=ANNA)] == [
        "refused",
        "no_evidence",
    ]


def test_a_streamed_answer_has_a_receipt_before_it_is_seen(desk: Desk) -> None:
    for event in desk.ask_stream(RETURN, principal=ANNA):
        if isinstance(event, AnswerEvent):
            receipt = desk.answers.show(event.answer.answer_id, principal=ANNA)
            assert receipt["text"] == event.answer.text
            return
    pytest.fail("no answer came")


def test_the_receipt_of_another_looks_like_none(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    others = (
        BEN,
        Principal(roles=frozenset({"everyone"})),
        Principal(tenant="other", subject="anna", administrator=True),
        Principal(roles=frozenset({"everyone"}), subject="Anna"),
    )
    for other in others:
        desk.ask(GIFT, principal=other)
        for look in (desk.answers.show, desk.answers.replay, desk.answers.export):
            there = denial(look, answer.answer_id, principal=other)
            missing = denial(look, "0" * 32, principal=other)
            assert str(there).replace(answer.answer_id, "0" * 32) == str(missing)
        assert "not_found" in str(
            denial(desk.answers.recheck, principal=other, answer_id=answer.answer_id)
        )
        assert answer.answer_id not in str(desk.answers.list(principal=other))
    assert desk.answers.show(answer.answer_id, principal=CHIEF)["asked_by"] == "anna"
    assert len(desk.answers.list(principal=CHIEF)) == 4


def test_the_receipt_of_nobody_is_for_administrators(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=Principal(roles=frozenset({"everyone"})))
    assert desk.answers.list(principal=Principal(subject="")) == ()
    assert desk.answers.show(answer.answer_id, principal=CHIEF)["asked_by"] is None


def test_a_closed_source_is_withheld_with_all_that_repeats_it(
    desk: Desk, edit: Callable[..., object]
) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    edit("returns", "roles: [everyone]", "roles: [staff]")
    receipt = desk.answers.show(answer.answer_id, principal=ANNA)
    assert receipt["citations"] == [{"available": False, "note": UNAVAILABLE}]
    assert (receipt["text"], receipt["claims"][0]["text"]) == (None, None)
    assert "30 days" not in str(receipt)
    assert "Returns policy" not in str(receipt)
    assert [each["chunk_id"] for each in receipt["retrieved"] if "returns" in str(each)] == []
    assert "30 days" in str(desk.answers.show(answer.answer_id, principal=CHIEF))
    edit("returns", "roles: [staff]", "roles: [everyone]")
    assert desk.answers.show(answer.answer_id, principal=ANNA)["text"] == answer.text


def test_only_administrators_are_told_the_state_of_the_index(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    assert desk.answers.show(answer.answer_id, principal=ANNA)["index"] is None
    index = desk.answers.show(answer.answer_id, principal=CHIEF)["index"]
    assert index["generation"] == 1
    assert index["revision"] > 1


def test_a_removed_document_is_blanked_and_its_hashes_stay(desk: Desk, tmp_path: Path) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    kept = desk.ask(GIFT, principal=ANNA)
    before = desk.answers.show(answer.answer_id, principal=CHIEF)
    assert "30 days" in stored_content(desk.path)
    desk.remove("returns")
    assert "30 days" not in stored_content(desk.path)
    after = desk.answers.show(answer.answer_id, principal=CHIEF)
    assert after["citations"] == [{"available": False, "note": UNAVAILABLE}]
    assert (after["question"], after["digest"]) == (RETURN, before["digest"])
    assert desk.answers.show(kept.answer_id, principal=ANNA)["text"] == kept.text
    assert all(finding.ok for finding in desk.answers.audit())


def test_without_content_there_are_hashes_and_no_words(open_desk: OpenDesk) -> None:
    desk = open_desk(privacy={"record_content": False})
    answer = desk.ask(RETURN, principal=ANNA)
    kept = stored_content(desk.path)
    for words in ("30 days", "return a new bike", "Returns policy", "Returning a bike", "anna"):
        assert words not in kept
    receipt = desk.answers.show(answer.answer_id, principal=ANNA)
    assert (receipt["question"], receipt["text"], receipt["content"]) == (
        None,
        None,
        "not recorded",
    )
    assert "not_recorded" in str(denial(desk.answers.replay, answer.answer_id, principal=ANNA))
    again = desk.ask(RETURN, principal=ANNA)
    other = desk.ask(RETURN, principal=BEN)
    hashes = [
        desk.answers.export(each.answer_id, principal=CHIEF)["record"]["question_hash"]
        for each in (answer, again, other)
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_the_chain_holds_no_content(desk: Desk) -> None:
    desk.ask(SALARY, principal=BEN)
    with sqlite3.connect(desk.path / "index.sqlite3") as connection:
        ((event,),) = connection.execute("SELECT event FROM audit").fetchall()
    for word in ("ben", "salaries", "Salaries", "paid", "working"):
        assert word not in event
    assert "roles: everyone, staff" in event


def test_old_receipts_are_deleted_and_the_chain_says_so(open_desk: OpenDesk) -> None:
    desk = open_desk(privacy={"retention_days": 30})
    clock = desk._clock
    assert isinstance(clock, SteppingClock)
    old = desk.ask(RETURN, principal=ANNA)
    clock.move(_days(31))
    new = desk.ask(GIFT, principal=ANNA)
    assert [row["answer_id"] for row in desk.answers.list(principal=ANNA)] == [new.answer_id]
    assert "30 days" not in stored_content(desk.path)
    assert old.answer_id in stored_content(desk.path)
    assert all(finding.ok for finding in desk.answers.audit())


def test_erasing_a_subject_leaves_a_chain_that_verifies(desk: Desk) -> None:
    answer, other = desk.ask(RETURN, principal=ANNA), desk.ask(RETURN, principal=BEN)
    assert desk.answers.erase_subject("anna", tenant="default") == 1
    assert "not_found" in str(denial(desk.answers.show, answer.answer_id, principal=ANNA))
    left = desk.answers.show(answer.answer_id, principal=CHIEF)
    assert (left["asked_by"], left["question"], left["text"], left["content"]) == (
        None,
        None,
        None,
        "erased",
    )
    assert desk.answers.show(other.answer_id, principal=BEN)["text"] == other.text
    assert all(finding.ok for finding in desk.answers.audit())
    assert "not_found" in str(denial(desk.answers.erase_subject, "anna", tenant="default"))
    desk.ask(GIFT, principal=ANNA)
    assert len(desk.answers.list(principal=ANNA)) == 1


def test_erasing_by_document_and_by_age(desk: Desk) -> None:
    answer = desk.ask(RETURN, principal=ANNA)
    assert desk.answers.erase_document("salaries", tenant="default") == 0
    assert desk.answers.erase_document("returns", tenant="default") == 1
    assert desk.answers.show(answer.answer_id, principal=ANNA)["text"] is None
    assert desk.answers.erase_older(1, tenant="default") == 0
    desk._clock.move(_days(2))
    assert desk.answers.erase_older(1, tenant="default") == 1
    assert desk.answers.list(principal=CHIEF) == ()
    assert all(finding.ok for finding in desk.answers.audit())


def test_a_receipt_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    clock = SteppingClock()
    store = SQLiteStore.open(tmp_path / "x.desk", create=True, clock=clock, busy_timeout=0.05)
    recorder = Recorder(store.ledger(), clock, lambda: bytes(32))
    answer = Answer(
        "1", "Why?", "", abstained=True, reason=Reason.NO_EVIDENCE, confidence=0.0, threshold=0.5
    )
    occasion = Occasion(ANNA, frozenset(), Retrieval((), (), 0.0, ""))
    with sqlite3.connect(tmp_path / "x.desk" / "index.sqlite3") as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(IndexUnavailableError, match="written by another process"):
            recorder.record(answer, occasion)
        other.rollback()
    assert recorder.record(answer, occasion) == answer
    store.close()


def test_trials_write_no_receipts(desk: Desk) -> None:
    settings = Settings.model_validate({"embedding": {"model": "none"}, "retrieval": {"k": 3}})
    with desk.trial(settings) as trial:
        assert not trial.ask(RETURN, principal=ANNA).abstained
    assert desk.answers.list(principal=CHIEF) == ()


def _days(count: int) -> timedelta:
    return timedelta(days=count)


@dataclass
class Meanwhile:
    """A generator that does something to the index before it replies."""

    action: Callable[[], object] | None = None
    name: str = "meanwhile"

    def generate(self, request: Request) -> Reply:
        assert request.question == GIFT
        if self.action is not None:
            self.action()
        return Reply(json.dumps(GIFT_REPLY), generator=self.name)


def test_what_was_erased_while_the_answer_was_written_is_not_kept(open_desk: OpenDesk) -> None:
    generator = Meanwhile()
    desk = open_desk(generator=generator)
    desk.ask(GIFT, principal=ANNA)
    generator.action = lambda: desk.answers.erase_subject("anna", tenant="default")
    answer = desk.ask(GIFT, principal=ANNA)
    assert desk.answers.show(answer.answer_id, principal=CHIEF)["content"] == "recorded"
    assert len(desk.answers.list(principal=ANNA)) == 1
    generator.action = lambda: desk.remove("gift-cards")
    gone = desk.ask(GIFT, principal=ANNA)
    assert gone.reason is Reason.SOURCE_CHANGED
    assert "36 months" not in stored_content(desk.path)
    assert all(finding.ok for finding in desk.answers.audit())


def test_a_ledger_keeps_no_content_under_a_key_that_was_erased(desk: Desk) -> None:
    desk.ask(GIFT, principal=ANNA)
    ledger = desk._index.store().ledger()
    (receipt,) = ledger.receipts("default")
    key = ledger.known_key("default", "anna")
    assert key is not None
    desk.answers.erase_subject("anna", tenant="default")
    event = AuditEvent("default", receipt.at, "ask")
    ledger.append(event, replace(receipt, answer_id="late"), key=key)
    kept = ledger.receipt("default", "late")
    assert kept is not None
    assert dict(kept.content) == {}


def test_a_ledger_keeps_no_quote_of_a_document_that_has_gone(desk: Desk) -> None:
    desk.ask(GIFT, principal=ANNA)
    ledger = desk._index.store().ledger()
    (receipt,) = ledger.receipts("default")
    desk.remove("gift-cards")
    event = AuditEvent("default", receipt.at, "ask")
    key = ledger.known_key("default", "anna")
    assert key is not None
    ledger.append(event, replace(receipt, answer_id="late"), key=key)
    kept = ledger.receipt("default", "late")
    assert kept is not None
    assert "36 months" not in str(dict(kept.content))
    assert kept.content["question"] == GIFT
