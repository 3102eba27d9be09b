"""When a person is told: of abstentions, of bad feedback, of stored answers that no longer hold."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

from evidencedesk.desk.courier import LOG, Courier, Route, next_attempt
from evidencedesk.errors import EvidenceDeskError, IndexingError, SettingsError
from evidencedesk.model import Answer, Finding
from evidencedesk.model.feedback import Feedback, FeedbackVerdict
from evidencedesk.model.notice import Message, Notice, NoticeEvent, WaitingNotice
from evidencedesk.notifier_wiring import notifications_finding, notifiers_of
from evidencedesk.protocols import Clock, Notifier, Store
from evidencedesk.records import Lapsed, concerns_documents, lapsed_citations, message_of
from evidencedesk.settings import Settings


class Notifying:
    """Makes notices of what happens in an index, as its settings say.

    Args:
        settings: which events, by which way, with which content.
        clock: when things happen.
        store: the index, opened when it is first needed.
    """

    def __init__(self, settings: Settings, clock: Clock, store: Callable[[], Store]) -> None:
        self._settings = settings
        self._clock = clock
        self._store = store
        self._courier: Courier | None = None

    def abstained(self, tenant: str, answer: Answer) -> None:
        """Tell of an answer that is none, unless a service that is down is all there is to it."""
        if answer.abstained and concerns_documents(answer.reason):
            self._post(self._notice(tenant, NoticeEvent.ABSTAINED, answer.answer_id, answer.reason))

    def given(self, feedback: Feedback) -> None:
        """Tell of feedback that is not content."""
        if feedback.verdict is not FeedbackVerdict.USEFUL:
            notice = self._notice(
                feedback.tenant, NoticeEvent.FEEDBACK, feedback.answer_id, feedback.verdict
            )
            self._post(replace(notice, subject=feedback.subject))

    def lapsed(self, tenant: str, lapsed: Sequence[Lapsed]) -> None:
        """Tell of stored answers that no longer hold."""
        if lapsed:
            listed, answers = lapsed_citations(lapsed)
            notice = self._notice(tenant, NoticeEvent.LAPSED, "", "")
            self._post(replace(notice, lapsed=listed, answers=answers))

    def test(self) -> tuple[tuple[str, str], ...]:
        """Send a message without content by every way, now; each with what went wrong, if anything.

        Raises:
            SettingsError: the settings name a way that cannot be used, or none.
        """
        notice = self._notice("", NoticeEvent.ABSTAINED, "test", "test")
        message = replace(message_of(notice, None, (), ()), subject="EvidenceDesk: a test")
        outcomes = []
        for notifier in self._notifiers():
            try:
                notifier.deliver(message)
                outcomes.append((notifier.name, ""))
            except EvidenceDeskError as error:
                outcomes.append((notifier.name, str(error)))
        return tuple(outcomes)

    def waiting(self) -> tuple[WaitingNotice, ...]:
        """Notices that are not yet taken, those given up included."""
        return self._store().outbox().waiting()

    def send(self) -> tuple[int, int]:
        """Send everything that waits, now; how many were taken and how many failed.

        Raises:
            SettingsError: the settings name a way that cannot be used, or none.
            IndexingError: the index cannot be written.
        """
        self._notifiers()
        courier = self._made()
        return courier.send(all_waiting=True) if courier is not None else (0, 0)

    def start(self) -> None:
        """Have what earlier processes left sent in the background, for a process that lasts.

        Does nothing where the settings name no way out; one that cannot be used is logged.
        """
        courier = self._ready()
        if courier is not None:
            courier.start()

    def findings(self) -> tuple[Finding, ...]:
        """What ``doctor`` says: the ways out, and what waits."""
        configured = notifications_finding(self._settings, self._clock, os.environ)
        found = [configured] if configured else []
        try:
            waiting = self.waiting()
        except IndexingError:
            return tuple(found)
        failed = [each for each in waiting if each.failure]
        if failed:
            last = max(failed, key=lambda each: each.number)
            given_up = sum(next_attempt(each) is None for each in failed)
            what = "1 notice" if len(failed) == 1 else f"{len(failed)} notices"
            message = f"{what} could not be sent ({given_up} given up); the newest: {last.failure}"
            hint = "Mend the cause, then `evidencedesk notices send`."
            found.append(Finding("notifications", ok=False, message=message, hint=hint))
        return tuple(found)

    def close(self) -> None:
        """Wait, in bounded time, for what is being sent."""
        if self._courier is not None:
            self._courier.close()

    def _notice(self, tenant: str, event: NoticeEvent, answer_id: str, verdict: str) -> Notice:
        return Notice(uuid.uuid4().hex, tenant, event, self._clock.now(), answer_id, str(verdict))

    def _post(self, notice: Notice) -> None:
        if notice.event.value not in self._settings.notifications.events:
            return
        courier = self._ready()
        if courier is not None:
            courier.post(notice)

    def _ready(self) -> Courier | None:
        try:
            return self._made()
        except SettingsError as error:
            LOG.warning("nobody can be told (%s): %s", error.code, error.message)
            return None

    def _made(self) -> Courier | None:
        """The courier, made once; None where the settings name no way out."""
        if self._courier is None:
            notifiers = notifiers_of(self._settings, self._clock, os.environ)
            if not notifiers:
                return None
            chosen = self._settings.notifications
            self._courier = Courier(
                Route(
                    outbox=lambda: self._store().outbox(),
                    notifiers=notifiers,
                    compose=self._compose,
                    clock=self._clock,
                    attempts=chosen.max_attempts,
                    timeout_s=chosen.timeout_s,
                )
            )
        return self._courier

    def _notifiers(self) -> tuple[Notifier, ...]:
        notifiers = notifiers_of(self._settings, self._clock, os.environ)
        if not notifiers:
            raise SettingsError(
                "The settings name nobody to tell.",
                code="no_notifier",
                hint="Set webhook_url or email_to in [notifications]; see docs/notifications.md.",
            )
        return notifiers

    def _compose(self, notice: Notice) -> Message:
        include = self._settings.notifications.include
        if not notice.answer_id or not include:
            return message_of(notice, None, (), include)
        ledger = self._store().ledger()
        return message_of(
            notice,
            ledger.receipt(notice.tenant, notice.answer_id),
            ledger.feedback(notice.tenant, notice.answer_id) if "note" in include else (),
            include,
        )
