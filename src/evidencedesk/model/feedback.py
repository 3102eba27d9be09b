"""What readers say of answers, and what the documents leave unanswered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from evidencedesk.model.receipt import utc_text

MAX_NOTE_CHARS = 2000
"""A longer note is refused."""


class FeedbackVerdict(StrEnum):
    """What a reader says of an answer.

    ``useful`` it helped (an abstention, too, can be right); ``wrong`` it says what is not so;
    ``missing`` it leaves out what was asked for.
    """

    USEFUL = "useful"
    WRONG = "wrong"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one reader says of one answer; saying something else later replaces it.

    Attributes:
        tenant: whose index was asked.
        answer_id: the answer.
        subject: keyed hash of who says it, hex.
        at: when.
        verdict: what.
        note: in his own words; empty when he wrote none, when content is not recorded, and once it
            is erased.
    """

    tenant: str
    answer_id: str
    subject: str
    at: datetime
    verdict: FeedbackVerdict
    note: str = field(default="", repr=False)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape; the subject's hash stays inside."""
        return {
            "answer_id": self.answer_id,
            "at": utc_text(self.at),
            "verdict": self.verdict.value,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class NearDocument:
    """A document that comes close to a question, visible to whoever looks at the gaps."""

    document_id: str
    title: str
    chunk_id: str
    place: str
    score: float


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions that are alike and were not answered to anybody's satisfaction.

    Attributes:
        questions: their distinct wordings, the newest first.
        count: how often they were asked.
        readers: by how many named readers.
        reasons: how many of the answers have each reason.
        feedback: how many have each verdict.
        notes: what readers wrote of them, the newest first.
        answers: ids of the answers, the newest first.
        first_at: when first asked, as receipts write times.
        last_at: when last asked.
        nearest: the documents that come closest, best first.
    """

    questions: tuple[str, ...]
    count: int
    readers: int
    reasons: Mapping[str, int]
    feedback: Mapping[str, int]
    notes: tuple[str, ...]
    answers: tuple[str, ...]
    first_at: str
    last_at: str
    nearest: tuple[NearDocument, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {
            "questions": list(self.questions),
            "count": self.count,
            "readers": self.readers,
            "reasons": dict(self.reasons),
            "feedback": dict(self.feedback),
            "notes": list(self.notes),
            "answers": list(self.answers),
            "first_at": self.first_at,
            "last_at": self.last_at,
            "nearest": [
                {
                    "document_id": each.document_id,
                    "title": each.title,
                    "chunk_id": each.chunk_id,
                    "place": each.place,
                    "score": each.score,
                }
                for each in self.nearest
            ],
        }


@dataclass(frozen=True, slots=True)
class Gaps:
    """The gaps of a tenant, those asked for most first.

    Attributes:
        groups: the gaps.
        without_text: answers that belong here and whose question is not kept.
    """

    groups: tuple[Gap, ...] = ()
    without_text: int = 0

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {
            "gaps": [each.to_json() for each in self.groups],
            "without_text": self.without_text,
        }
