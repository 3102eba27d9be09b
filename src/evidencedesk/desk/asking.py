"""The readers' side of a desk: questions, conversations, searches, and receipts of what was answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from evidencedesk import wiring
from evidencedesk.access import DEFAULT_STATUSES, Principal, Status
from evidencedesk.desk.answers import StoredAnswers
from evidencedesk.desk.index import OpenIndex
from evidencedesk.desk.overseeing import Overseen
from evidencedesk.desk.recording import Recording
from evidencedesk.model import Answer, Hit, Turn
from evidencedesk.pipeline import (
    Explanation,
    Standalone,
    StreamEvent,
    recall,
    search,
    stand_alone,
    turn_of,
)


class Asking(Overseen):
    """A library that answers. Every method takes the reader, and answers from what he may see."""

    def __init__(self, index: OpenIndex) -> None:
        super().__init__(index)
        self._recording = Recording(index)

    def ask(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
        threshold: float | None = None,
    ) -> Answer:
        """Answer from what ``principal`` may see, or abstain with the reason.

        A receipt is written first. An index that cannot be written gets none, and ``degraded``
        says so.

        Raises:
            QuestionError: ``empty_question`` or ``question_too_long``.
            IndexingError: the index cannot be read, or the receipt cannot be written.
        """
        return self.explain(
            question, principal=principal, statuses=statuses, threshold=threshold
        ).answer

    def ask_stream(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
        threshold: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Iterator[StreamEvent]:
        """What was found, then each claim once it has been verified, then the answer.

        The last event decides: it is what ``ask`` answers, and an abstention takes back what was
        shown. Closing the iterator, or a true ``cancelled()``, stops the model's call.

        Raises:
            QuestionError: ``empty_question`` or ``question_too_long``.
            IndexingError: the index cannot be read.
            CallCancelledError: ``cancelled`` said so.
        """
        return self._recording.stream(
            question,
            principal=principal,
            statuses=statuses,
            threshold=threshold,
            cancelled=cancelled,
        )

    def explain(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
        threshold: float | None = None,
    ) -> Explanation:
        """The answer with everything that led to it; raises what ``ask`` raises."""
        return self._recording.explain(
            question, principal=principal, statuses=statuses, threshold=threshold
        )

    def chat(
        self,
        question: str,
        *,
        principal: Principal,
        earlier: Sequence[str] = (),
        statuses: Iterable[Status] = DEFAULT_STATUSES,
        threshold: float | None = None,
    ) -> Turn:
        """One turn of a conversation: ``question`` made to stand alone, then asked like any other.

        ``earlier`` questions, oldest first, give words and nothing else, each as many as a question may
        have; raises what ``ask`` raises.
        """
        asked = self.stand_alone(question, earlier)
        answer = self.ask(asked.text, principal=principal, statuses=statuses, threshold=threshold)
        return turn_of(question, asked, answer)

    def stand_alone(self, question: str, earlier: Sequence[str]) -> Standalone:
        """``question`` as it would be asked without the conversation; the first half of ``chat``.

        Raises:
            QuestionError: ``empty_question`` or ``question_too_long``.
        """
        rewriter = wiring.rewriter_of(self._index.settings, self._index.generator())
        most = self._index.settings.retrieval.max_question_chars
        asked = [each[:most] for each in earlier]
        return stand_alone(question, asked, self._index.answering(None), rewriter=rewriter)

    def recall(
        self,
        turns: Sequence[Turn],
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
    ) -> tuple[Turn, ...]:
        """Earlier turns with only those statements whose sources ``principal`` may still see.

        Raises:
            IndexingError: the index cannot be read.
        """
        return recall(turns, self._index.store(), principal=principal, statuses=statuses)

    def search(
        self,
        query: str,
        *,
        principal: Principal,
        statuses: Iterable[Status] = DEFAULT_STATUSES,
        k: int | None = None,
    ) -> tuple[Hit, ...]:
        """The best chunks for ``query`` that ``principal`` may see, best first; no threshold.

        Raises:
            QuestionError: ``empty_question`` or ``question_too_long``.
            IndexingError: the index cannot be read.
        """
        answering = self._index.answering(None)
        return search(query, answering, principal=principal, statuses=statuses, k=k).hits

    @property
    def answers(self) -> StoredAnswers:
        """The receipts of what was answered."""
        return StoredAnswers(self._index, self._recording)
