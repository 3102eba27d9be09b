"""Notices: that a person should look at an answer, or at answers that no longer hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from evidencedesk.model.receipt import utc_text

MOST_LAPSED = 500
"""Citations that one notice lists; more are only counted."""

NEVER = datetime.max.replace(tzinfo=UTC)
"""When a notice that was given up is tried again by itself."""


class NoticeEvent(StrEnum):
    """What happened: nothing was answered, an answer was called bad, answers no longer hold."""

    ABSTAINED = "abstained"
    FEEDBACK = "feedback"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True)
class LapsedCitation:
    """A citation of a stored answer that no longer holds, and why."""

    answer_id: str
    citation: int
    document_id: str
    lapse: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What is told to a person outside; it holds ids and no content.

    Content that may leave is taken from the receipt when the notice is sent, so that what was erased
    meanwhile stays erased.

    Attributes:
        id: the same at every attempt, so that a receiver can tell a repetition.
        tenant: whose index.
        event: what happened.
        at: when.
        answer_id: the answer; empty for ``lapsed``.
        verdict: what the reader said (``feedback``), else the answer's reason.
        subject: keyed hash of who gave the feedback; stays inside.
        lapsed: the citations that no longer hold, at most :data:`MOST_LAPSED`.
        answers: how many answers no longer hold, listed or not.
    """

    id: str
    tenant: str
    event: NoticeEvent
    at: datetime
    answer_id: str = ""
    verdict: str = ""
    subject: str = ""
    lapsed: tuple[LapsedCitation, ...] = ()
    answers: int = 0

    def to_json(self) -> dict[str, Any]:
        """The shape in which it waits."""
        return {
            "id": self.id,
            "event": self.event.value,
            "at": utc_text(self.at),
            "answer_id": self.answer_id,
            "verdict": self.verdict,
            "subject": self.subject,
            "lapsed": [
                [each.answer_id, each.citation, each.document_id, each.lapse]
                for each in self.lapsed
            ],
            "answers": self.answers,
        }

    @classmethod
    def from_json(cls, tenant: str, stored: Mapping[str, Any]) -> Notice:
        """The notice that was written by :meth:`to_json`."""
        return cls(
            id=stored["id"],
            tenant=tenant,
            event=NoticeEvent(stored["event"]),
            at=datetime.fromisoformat(stored["at"]),
            answer_id=stored["answer_id"],
            verdict=stored["verdict"],
            subject=stored["subject"],
            lapsed=tuple(LapsedCitation(*each) for each in stored["lapsed"]),
            answers=stored["answers"],
        )


@dataclass(frozen=True, slots=True)
class WaitingNotice:
    """A notice on its way through one channel.

    Attributes:
        number: grows with every notice.
        channel: name of the channel, ``webhook`` or ``email``.
        notice: what is told.
        attempts: how often it was tried.
        due: when it is tried next; :data:`NEVER` once it is given up.
        failure: why the last attempt failed; empty before one did.
    """

    number: int
    channel: str
    notice: Notice
    attempts: int
    due: datetime
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A notice as it leaves.

    Attributes:
        id: the notice's.
        at: when it happened.
        payload: the JSON body for programs.
        subject: one line without content, for people.
        text: the whole, for people.
    """

    id: str
    at: datetime
    payload: Mapping[str, Any] = field(repr=False)
    subject: str = ""
    text: str = field(default="", repr=False)
