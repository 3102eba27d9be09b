"""Gaps: what was asked and not answered well, grouped by what it asks for.

Two questions are alike when their content words are nearly the same, or when their vectors are close.
Each question joins the first group whose newest question it is like (leader clustering: Hartigan,
Clustering Algorithms, 1975); so the grouping is a function of the questions in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import Reason
from evidencedesk.model.feedback import Feedback, FeedbackVerdict, Gap, Gaps
from evidencedesk.model.receipt import Receipt
from evidencedesk.text.analysis import query_groups

ALIKE_WORDS = 0.6
"""Share of content words in common (Jaccard) from which two questions are alike."""

ALIKE_COSINE = 0.72
"""Cosine of two questions' vectors from which they are alike (chosen by looking at nine pairs)."""

PASSING = frozenset(
    {Reason.TIMEOUT, Reason.MODEL_ERROR, Reason.REFUSED, Reason.TRUNCATED, Reason.SOURCE_CHANGED}
)
"""Reasons that say something of a service and nothing of the documents."""

Embed = Callable[[str], NDArray[np.float32]]


def is_gap(receipt: Receipt, said: Sequence[Feedback]) -> bool:
    """Whether an answer was none, or was called wrong or incomplete.

    An abstention that readers call useful was the right answer.
    """
    verdicts = {each.verdict for each in said}
    if verdicts - {FeedbackVerdict.USEFUL}:
        return True
    abstained = bool(receipt.record["abstained"]) and Reason(receipt.reason) not in PASSING
    return abstained and not verdicts


def gaps_of(
    receipts: Iterable[Receipt],
    feedback: Mapping[str, Sequence[Feedback]],
    *,
    languages: Sequence[str],
    anonymous: str = "",
    embed: Embed | None = None,
) -> Gaps:
    """The gaps among stored answers, without the documents that come near.

    Args:
        receipts: stored answers, newest first.
        feedback: what readers said, by id of the answer.
        languages: languages whose stems questions are compared by.
        anonymous: the keyed hash that stands for askers without a name.
        embed: unit vector of a question; None compares by words alone.
    """
    groups: list[_Group] = []
    without_text = 0
    for receipt in receipts:
        said = feedback.get(receipt.answer_id, ())
        if not is_gap(receipt, said):
            continue
        question = receipt.content.get("question")
        if question is None:
            without_text += 1
            continue
        known = next((group for group in groups if question in group.questions), None)
        if known is None:
            asked = _Asked.of(question, languages, embed)
            known = next((group for group in groups if group.leader.like(asked)), None)
            if known is None:
                known = _Group(asked)
                groups.append(known)
        known.add(receipt, question, said)
    found = sorted((each.gap(anonymous) for each in groups), key=_wanted, reverse=True)
    return Gaps(tuple(found), without_text)


def _wanted(gap: Gap) -> tuple[int, str]:
    return gap.count, gap.last_at


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A question as it is compared: the forms of each content word, and its vector."""

    words: tuple[frozenset[str], ...]
    vector: NDArray[np.float32] | None

    @classmethod
    def of(cls, question: str, languages: Sequence[str], embed: Embed | None) -> _Asked:
        groups = tuple(map(frozenset, query_groups(question, languages)))
        return cls(groups, None if embed is None else embed(question))

    def like(self, other: _Asked) -> bool:
        """Whether both ask for the same."""
        common = sum(any(mine & theirs for theirs in other.words) for mine in self.words)
        if common >= ALIKE_WORDS * max(1, len(self.words) + len(other.words) - common):
            return True
        if self.vector is None or other.vector is None:
            return False
        return float(self.vector @ other.vector) >= ALIKE_COSINE


@dataclass(slots=True, eq=False)
class _Group:
    leader: _Asked
    receipts: list[Receipt] = field(default_factory=list)
    questions: dict[str, None] = field(default_factory=dict)
    said: list[Feedback] = field(default_factory=list)

    def add(self, receipt: Receipt, question: str, said: Sequence[Feedback]) -> None:
        self.receipts.append(receipt)
        self.questions[question] = None
        self.said += said

    def gap(self, anonymous: str) -> Gap:
        times = [str(each.record["at"]) for each in self.receipts]
        newest_first = sorted(self.said, key=lambda each: each.at, reverse=True)
        return Gap(
            questions=tuple(self.questions),
            count=len(self.receipts),
            readers=len({each.subject for each in self.receipts} - {anonymous}),
            reasons=dict(Counter(each.reason for each in self.receipts)),
            feedback=dict(Counter(each.verdict.value for each in self.said)),
            notes=tuple(each.note for each in newest_first if each.note),
            answers=tuple(each.answer_id for each in self.receipts),
            first_at=min(times),
            last_at=max(times),
        )
