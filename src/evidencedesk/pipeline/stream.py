"""An answer while it is written: each claim is shown once it has been verified, and never before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from evidencedesk.access import DEFAULT_STATUSES, Principal, Status
from evidencedesk.answering import answer_from
from evidencedesk.generation.fallback import FAILED, stream_of
from evidencedesk.generation.partial import PartialReply
from evidencedesk.generation.reply import RejectedReply, parse_reply
from evidencedesk.model import (
    Answer,
    Check,
    Citation,
    Claim,
    Draft,
    DraftClaim,
    Reason,
    Reply,
    RetrievedChunk,
    StreamBreak,
)
from evidencedesk.pipeline.answer import settle
from evidencedesk.pipeline.asking import Answering, Asking, Explanation, Judged, Prompted, begin
from evidencedesk.protocols import Judge

BROKEN_OFF = "The model's reply broke off; what is shown had been verified before."


@dataclass(frozen=True, slots=True)
class RetrievedEvent:
    """The first event: what was found, best first; all of it visible to this reader."""

    retrieved: tuple[RetrievedChunk, ...]
    confidence: float
    name: str = "retrieved"

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {
            "retrieved": [
                {
                    "chunk_id": chunk.chunk_id,
                    "score": chunk.score,
                    "vector_score": chunk.vector_score,
                    "keyword_score": chunk.keyword_score,
                }
                for chunk in self.retrieved
            ],
            "confidence": self.confidence,
        }


@dataclass(frozen=True, slots=True)
class ClaimEvent:
    """A claim that was verified on its own, with its citations. The answer to come decides."""

    claim: Claim
    citations: tuple[Citation, ...]
    name: str = "claim"

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape; indices are into this event's own citations."""
        return {
            "text": self.claim.text,
            "support": self.claim.support.value,
            "citations": [self.citations[index].to_json() for index in self.claim.citations],
        }


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """The last event. It replaces what was shown: an abstention takes earlier claims back."""

    explanation: Explanation
    broken_off: bool = False
    name: str = "answer"

    @property
    def answer(self) -> Answer:
        """The answer."""
        return self.explanation.answer

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape: that of an answer, and whether the stream broke off."""
        return {**self.answer.to_json(), "broken_off": self.broken_off}


StreamEvent = RetrievedEvent | ClaimEvent | AnswerEvent


def stream_answer(
    question: str,
    answering: Answering,
    *,
    principal: Principal,
    statuses: Iterable[Status] = DEFAULT_STATUSES,
    cancelled: Callable[[], bool] | None = None,
) -> Iterator[StreamEvent]:
    """What was found, then each verified claim as it comes, then the answer.

    The answer is the one that :func:`answer_question` gives for the same reply. Only a stream that
    breaks off after something was shown ends otherwise: with what was shown, and a note that says so.
    Closing the iterator stops the model's call.

    Raises:
        QuestionError: ``empty_question`` or ``question_too_long``.
        IndexingError: the index cannot be read; there is never an answer without it.
        CallCancelledError: ``cancelled`` said so.
    """
    asking = begin(question, answering, principal=principal, statuses=statuses, cancelled=cancelled)
    hits = asking.retrieval.hits
    yield RetrievedEvent(
        tuple(
            RetrievedChunk(hit.chunk.id, hit.score, hit.vector_score, hit.keyword_score)
            for hit in hits
        ),
        asking.retrieval.confidence,
    )
    if asking.prompted is None:
        yield AnswerEvent(asking.abstained())
        return
    judge = _RememberingJudge(answering.judge) if answering.judge else None
    stream = _Stream(asking, asking.prompted, judge)
    yield from stream.claims()
    yield stream.answer()


@dataclass(slots=True)
class _Stream:
    """One reply while it comes."""

    asking: Asking
    prompted: Prompted
    judge: Judge | None
    shown: list[DraftClaim] = field(default_factory=list)
    reply: Reply = field(default_factory=lambda: Reply(""))
    broken_off: bool = False

    def claims(self) -> Iterator[ClaimEvent]:
        """The claims that hold, as they come."""
        partial = PartialReply()
        items = stream_of(self.asking.answering.generator, self.prompted.request)
        with closing(items):
            for item in items:
                if isinstance(item, str):
                    yield from self._verified(partial.feed(item))
                    continue
                self.reply = item if isinstance(item, Reply) else item.reply
                self.broken_off = bool(self.shown) and self.reply.stop_reason in FAILED
                if isinstance(item, StreamBreak):
                    partial = PartialReply()
                    if self.shown:
                        return

    def _verified(self, drafts: Sequence[DraftClaim]) -> Iterator[ClaimEvent]:
        for draft in drafts:
            event = self._event(draft)
            if event is not None:
                self.shown.append(draft)
                yield event

    def _event(self, draft: DraftClaim) -> ClaimEvent | None:
        verdict = self.asking.verified(
            Draft(insufficient=False, claims=(draft,)), self.prompted, self.judge
        )
        if verdict.reason is not Reason.OK:
            return None
        alone = answer_from(
            answer_id=self.asking.answer_id,
            question=self.asking.question,
            threshold=self.asking.answering.threshold,
            retrieval=self.asking.retrieval,
            evidence=self.prompted.evidence,
            reply=self.reply,
            verdict=verdict,
        )
        return ClaimEvent(alone.claims[0], alone.citations)

    def answer(self) -> AnswerEvent:
        """The answer that comes of the whole reply, or of what was shown of a broken one."""
        if not self.broken_off:
            return AnswerEvent(settle(self.asking, self.prompted, self.reply, self.judge))
        self.asking.watch.lap("generate")
        rejected = parse_reply(self.reply)
        assert isinstance(rejected, RejectedReply)
        verdict = self.asking.verified(
            Draft(insufficient=False, claims=tuple(self.shown)), self.prompted, self.judge
        )
        check = Check("reply", None, passed=False, detail=rejected.detail)
        explanation = self.asking.concluded(
            Judged(self.reply, verdict, None, (check,)), self.prompted
        )
        answer = explanation.answer
        if answer.abstained:
            return AnswerEvent(explanation, broken_off=True)
        note = " ".join(filter(None, (answer.note, BROKEN_OFF)))
        return AnswerEvent(replace(explanation, answer=replace(answer, note=note)), broken_off=True)


class _RememberingJudge:
    """Asks a judge once about each claim, though a claim is verified alone and with the others."""

    def __init__(self, judge: Judge) -> None:
        self.name = judge.name
        self._judge = judge
        self._said: dict[tuple[str, tuple[str, ...]], bool] = {}

    def supports(self, claim: str, quotes: Sequence[str]) -> bool:
        key = claim, tuple(quotes)
        if key not in self._said:
            self._said[key] = self._judge.supports(claim, quotes)
        return self._said[key]
