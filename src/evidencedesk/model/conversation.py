"""A conversation: questions as typed, as they were asked, and what was answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from evidencedesk.model.answer import Answer

RewrittenBy = Literal["nobody", "rules", "model"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation and its answer.

    Attributes:
        question: as typed.
        asked: as it was asked, standing alone; the same where nothing had to be filled in.
        rewritten_by: who filled it in.
        answer: the answer to ``asked``, from this turn's own retrieval and verification.
    """

    question: str
    asked: str
    rewritten_by: RewrittenBy
    answer: Answer

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape: that of the answer, with the question as typed."""
        return {
            **self.answer.to_json(),
            "question": self.question,
            "asked": self.asked,
            "rewritten_by": self.rewritten_by,
        }
