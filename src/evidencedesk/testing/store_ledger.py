"""Conformance of stores: receipts with what readers say of them, the chain, notices that wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from evidencedesk.access import AccessFilter
from evidencedesk.model import LogEntry
from evidencedesk.model.feedback import Feedback, FeedbackVerdict
from evidencedesk.model.notice import NEVER, LapsedCitation, Notice, NoticeEvent
from evidencedesk.model.receipt import AuditEvent, Receipt
from evidencedesk.protocols import Store
from evidencedesk.testing.store_case import AS_STAFF, StoreCase, put

_AT = datetime(2026, 1, 2, tzinfo=UTC)
_KEY = b"k" * 32


def _receipt(answer_id: str, *, subject: str = "anna", document_id: str = "a") -> Receipt:
    pieces = {"quote:0": {"documents": [document_id], "commitment": ""}}
    record: dict[str, Any] = {"pieces": pieces, "citations": [], "abstained": False}
    content = {"quote:0": "a quote", "question": "a question"}
    return Receipt("default", answer_id, subject, _AT, "ok", record, content, (document_id,))


def _event(action: str, *, tenant: str = "default") -> AuditEvent:
    return AuditEvent(tenant, _AT, action)


def _feedback(answer_id: str, subject: str = "anna", note: str = "a note") -> Feedback:
    return Feedback("default", answer_id, subject, _AT, FeedbackVerdict.WRONG, note)


def _keep(store: Store, *receipts: Receipt) -> None:
    ledger = store.ledger()
    for receipt in receipts:
        key = ledger.subject_key("default", receipt.subject, _KEY)
        ledger.append(_event("ask"), receipt, key=key)


class LedgerContract(StoreCase):
    """Receipts, feedback, the audit chain and the outbox."""

    def test_feedback_is_kept_by_answer_and_subject_and_the_last_word_counts(
        self, store: Store
    ) -> None:
        _keep(store, _receipt("x"), _receipt("y"))
        ledger = store.ledger()
        for each in (_feedback("x"), _feedback("x", "ben"), _feedback("y")):
            assert ledger.add_feedback(_event("feedback"), each)
        later = Feedback("default", "x", "anna", _AT + timedelta(1), FeedbackVerdict.USEFUL, "")
        assert ledger.add_feedback(_event("feedback"), later)
        assert ledger.feedback("default", "x") == (later, _feedback("x", "ben"))
        assert ledger.feedback("default")[0] == later
        assert len(ledger.feedback("default")) == 3
        assert ledger.feedback("other") == ()

    def test_feedback_on_no_answer_is_not_kept_and_not_in_the_chain(self, store: Store) -> None:
        ledger = store.ledger()
        assert not ledger.add_feedback(_event("feedback"), _feedback("x"))
        assert list(ledger.chain("default")) == []

    def test_notes_go_with_document_subject_and_age(self, store: Store) -> None:
        put(store, "a", "Rain falls.")
        put(store, "b", "Snow falls.")
        _keep(store, _receipt("x"), _receipt("y", subject="ben", document_id="b"))
        ledger = store.ledger()
        for each in (_feedback("x"), _feedback("y"), _feedback("y", "ben")):
            ledger.add_feedback(_event("feedback"), each)
        with store.write() as writer:
            writer.remove_document("default", "a")
        assert {each.note for each in ledger.feedback("default", "x")} == {""}
        ledger.erase_subject(_event("erase_subject"), "anna", "anna")
        notes = {each.subject: each.note for each in ledger.feedback("default", "y")}
        assert notes == {"anna": "", "ben": "a note"}
        assert ledger.expire(_event("expire"), _AT + timedelta(1)) == 2
        assert ledger.feedback("default") == ()

    def test_the_newest_entries_of_the_chain_come_in_order(self, store: Store) -> None:
        ledger = store.ledger()
        for action in ("one", "two", "three"):
            ledger.append(_event(action))
        assert [entry.event["action"] for entry in ledger.chain("default", newest=2)] == [
            "two",
            "three",
        ]
        assert [entry.number for entry in ledger.chain("default", newest=9)] == [1, 2, 3]
        assert [entry.number for entry in ledger.chain("default")] == [1, 2, 3]

    def test_an_auditor_sees_the_log_of_what_he_may_see(self, store: Store) -> None:
        put(store, "a", "Rain falls.")
        with store.write() as writer:
            entries = [LogEntry(_AT, "default", "file", name, "added") for name in ("a", "")]
            writer.append_log(entries)
        auditor = AccessFilter(auditor=True)
        staff = AccessFilter(roles=AS_STAFF.roles, auditor=True)

        def seen(access: AccessFilter) -> set[str]:
            with store.read(access=access) as snapshot:
                return {entry.document_id for entry in snapshot.log()}

        assert (seen(AS_STAFF), seen(auditor), seen(staff)) == (set(), {""}, {"a", ""})

    def test_a_notice_waits_for_each_channel_until_it_is_sent(self, store: Store) -> None:
        outbox = store.outbox()
        lapsed = (LapsedCitation("x", 0, "a", "source_changed"),)
        notice = Notice("id", "default", NoticeEvent.LAPSED, _AT, lapsed=lapsed, answers=1)
        outbox.put(notice, ("webhook", "email"), _AT)
        first, second = outbox.waiting()
        assert (first.notice, first.channel, second.channel) == (notice, "webhook", "email")
        assert (first.due, first.attempts, first.failure) == (_AT, 0, "")
        assert outbox.lease(first, _AT + timedelta(minutes=5))
        assert not outbox.lease(first, _AT + timedelta(minutes=5))
        outbox.failed(first.number, NEVER, "no")
        outbox.sent(second.number)
        (left,) = store.outbox().waiting()
        assert (left.number, left.attempts, left.due, left.failure) == (
            first.number,
            1,
            NEVER,
            "no",
        )
        assert outbox.lease(left, _AT)
