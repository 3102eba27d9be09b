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

MOST_EMBEDDED = 400
"""Groups that are compared by vectors; an embedding costs some milliseconds. The rest by words alone."""

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
    groups = _Groups(languages, embed)
    without_text = 0
    for receipt in receipts:
        said = feedback.get(receipt.answer_id, ())
        if not is_gap(receipt, said):
            continue
        question = receipt.content.get("question")
        if question is None:
            without_text += 1
        else:
            groups.of(question).add(receipt, question, said)
    found = sorted((each.gap(anonymous) for each in groups.all), key=_wanted, reverse=True)
    return Gaps(tuple(found), without_text)


def _wanted(gap: Gap) -> tuple[int, str]:
    return gap.count, gap.last_at


class _Groups:
    """The groups so far, found by their newest question, their leader."""

    def __init__(self, languages: Sequence[str], embed: Embed | None) -> None:
        self.all: list[_Group] = []
        self._languages = languages
        self._embed = embed
        self._by_question: dict[str, _Group] = {}
        self._by_word: dict[str, list[int]] = {}
        self._words_of: list[int] = []
        self._vectors: list[NDArray[np.float32]] = []
        self._embedded: list[int] = []

    def of(self, question: str) -> _Group:
        """The group of ``question``; a new one when it is like none."""
        known = self._by_question.get(question)
        if known is None:
            known = self._by_question[question] = self._like(question)
        return known

    def _like(self, question: str) -> _Group:
        words = tuple(map(frozenset, query_groups(question, self._languages)))
        number = self._by_words(words)
        vector = None
        if number is None and self._embed is not None and len(self._vectors) < MOST_EMBEDDED:
            vector = self._embed(question)
            number = self._by_vector(vector)
        if number is not None:
            return self.all[number]
        return self._new(words, vector)

    def _by_words(self, words: tuple[frozenset[str], ...]) -> int | None:
        """The first group whose leader has nearly the same words."""
        common: Counter[int] = Counter()
        for forms in words:
            common.update(frozenset().union(*(self._by_word.get(form, ()) for form in forms)))
        alike = (
            number
            for number, count in common.items()
            if count >= ALIKE_WORDS * (len(words) + self._words_of[number] - count)
        )
        return min(alike, default=None)

    def _by_vector(self, vector: NDArray[np.float32]) -> int | None:
        if not self._vectors:
            return None
        close = np.flatnonzero(np.stack(self._vectors) @ vector >= ALIKE_COSINE)
        return self._embedded[int(close[0])] if len(close) else None

    def _new(self, words: tuple[frozenset[str], ...], vector: NDArray[np.float32] | None) -> _Group:
        number = len(self.all)
        for form in frozenset().union(*words):
            self._by_word.setdefault(form, []).append(number)
        self._words_of.append(len(words))
        if vector is not None:
            self._vectors.append(vector)
            self._embedded.append(number)
        group = _Group()
        self.all.append(group)
        return group


@dataclass(slots=True, eq=False)
class _Group:
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
