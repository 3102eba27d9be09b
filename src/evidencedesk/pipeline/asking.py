"""A question under way: the steps that an answer and a stream of claims are both made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from evidencedesk.access import AccessFilter, Principal, Status
from evidencedesk.answering import OnFailure, answer_from, has_evidence
from evidencedesk.assembly import assemble
from evidencedesk.errors import QuestionError
from evidencedesk.generation import RejectedReply, build_request, parse_reply
from evidencedesk.model import (
    Answer,
    Check,
    Chunk,
    Draft,
    Evidence,
    Location,
    Query,
    Reason,
    Reply,
    Request,
    Retrieval,
    Span,
    Verdict,
)
from evidencedesk.model.locate import Locator
from evidencedesk.protocols import Clock, Embedder, Generator, Judge, Snapshot, Store
from evidencedesk.retrieval import SHIPPED, Calibrations, retrieve
from evidencedesk.verification import verify


@dataclass(frozen=True, slots=True, eq=False)
class Answering:
    """What answers questions, and how.

    Attributes:
        store: the index.
        embedder: model of the index's vectors, None for keywords only.
        generator: who writes replies.
        clock: measures how long each stage took.
        new_id: makes the id of an answer.
        new_canary: makes the random string put among the rules.
        judge: second opinion on paraphrases, None for none.
        languages: of questions whose script does not tell.
        k: chunks kept as evidence.
        candidates: best chunks by words, and by meaning, that are scored.
        threshold: confidence below which there is no answer.
        min_vector_score: floor on a chunk's cosine, None for none.
        min_keyword_score: floor on a chunk's BM25, None for none.
        calibrations: how confidence is computed.
        evidence_tokens: budget of the evidence.
        max_output_tokens: limit on a reply.
        max_question_chars: longer questions are refused.
        require: ``quoted`` or ``proven``.
        on_failure: what one failed check does.
        contact: person or address that an abstention names; empty for nobody.
        degraded: what is known to be missing before the question is asked.
    """

    store: Store
    embedder: Embedder | None
    generator: Generator
    clock: Clock
    new_id: Callable[[], str]
    new_canary: Callable[[], str]
    judge: Judge | None = None
    languages: tuple[str, ...] = ("en",)
    k: int = 8
    candidates: int = 100
    threshold: float = 0.5
    min_vector_score: float | None = None
    min_keyword_score: float | None = None
    calibrations: Calibrations = SHIPPED
    evidence_tokens: int = 1600
    max_output_tokens: int = 1024
    max_question_chars: int = 2000
    require: Literal["quoted", "proven"] = "quoted"
    on_failure: OnFailure = OnFailure.ABSTAIN
    contact: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """An answer with everything that led to it.

    Attributes:
        answer: the answer.
        retrieval: what was found.
        evidence: what the generator was shown, None when it was not asked.
        request: what it was asked.
        reply: what it replied, unverified.
        verdict: what verification found.
    """

    answer: Answer
    retrieval: Retrieval
    evidence: Evidence | None = None
    request: Request | None = None
    reply: Reply | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Prompted:
    """What a generator is asked, and from what."""

    evidence: Evidence
    request: Request


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """A question with what was found for it.

    Attributes:
        question: the question, checked.
        answering: what answers it.
        access: what its reader may see.
        answer_id: id of the answer to come.
        retrieval: what was found.
        prompted: what the generator is asked; None when what was found is not enough to ask.
        watch: how long each stage took.
    """

    question: str
    answering: Answering
    access: AccessFilter
    answer_id: str
    retrieval: Retrieval
    prompted: Prompted | None
    watch: Stopwatch

    def verified(self, draft: Draft, prompted: Prompted, judge: Judge | None) -> Verdict:
        """What holds of ``draft``, by the index as it is now."""
        with self.answering.store.read(access=self.access) as snapshot:
            sources = _Sources(snapshot)
            return verify(
                draft,
                prompted.evidence,
                current=sources.current(prompted.evidence),
                locate=sources.locate,
                canary=prompted.request.canary,
                question=self.question,
                require=self.answering.require,
                judge=judge,
            )

    def abstained(self) -> Explanation:
        """The answer when the generator was not asked."""
        answer = answer_from(
            answer_id=self.answer_id,
            question=self.question,
            threshold=self.answering.threshold,
            retrieval=self.retrieval,
            contact=self.answering.contact,
            timing_ms=self.watch.times(),
        )
        return Explanation(answer, self.retrieval)

    def judged(self, reply: Reply, prompted: Prompted, judge: Judge | None) -> Judged:
        """What is to be held of ``reply``."""
        draft = parse_reply(reply)
        if isinstance(draft, RejectedReply):
            check = Check("reply", None, passed=False, detail=draft.detail)
            return Judged(reply, None, draft.reason, (check,))
        return Judged(reply, self.verified(draft, prompted, judge), None)

    def concluded(self, judged: Judged, prompted: Prompted) -> Explanation:
        """The answer that comes of a reply."""
        self.watch.lap("verify")
        answer = answer_from(
            answer_id=self.answer_id,
            question=self.question,
            threshold=self.answering.threshold,
            retrieval=self.retrieval,
            evidence=prompted.evidence,
            reply=judged.reply,
            verdict=judged.verdict,
            failure=judged.failure,
            checks=judged.checks,
            on_failure=self.answering.on_failure,
            contact=self.answering.contact,
            timing_ms=self.watch.times(),
        )
        return Explanation(
            answer,
            self.retrieval,
            prompted.evidence,
            prompted.request,
            judged.reply,
            judged.verdict,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A reply with what was found out about it.

    Attributes:
        reply: the reply.
        verdict: what verification found, None for a reply that is not believed.
        failure: why it is not believed, None for one that was verified.
        checks: checks before those of the verdict.
    """

    reply: Reply
    verdict: Verdict | None
    failure: Reason | None
    checks: tuple[Check, ...] = ()

    @property
    def reason(self) -> Reason:
        """The first failure, or ``ok``."""
        if self.failure is not None:
            return self.failure
        return self.verdict.reason if self.verdict is not None else Reason.NO_EVIDENCE


def begin(
    question: str,
    answering: Answering,
    *,
    principal: Principal,
    statuses: Iterable[Status],
    cancelled: Callable[[], bool] | None = None,
) -> Asking:
    """Check, authorise, retrieve and assemble.

    Raises:
        QuestionError: ``empty_question`` or ``question_too_long``.
        IndexingError: the index cannot be read; there is never an answer without it.
    """
    text = check_question(question, answering.max_question_chars)
    access = AccessFilter.for_principal(principal, statuses)
    watch = Stopwatch(answering.clock)
    with answering.store.read(access=access) as snapshot:
        retrieval = find(text, snapshot, answering)
    watch.lap("retrieve")
    prompted = (
        _prompted(text, retrieval, answering, cancelled)
        if has_evidence(retrieval, answering.threshold)
        else None
    )
    return Asking(text, answering, access, answering.new_id(), retrieval, prompted, watch)


def _prompted(
    text: str, retrieval: Retrieval, answering: Answering, cancelled: Callable[[], bool] | None
) -> Prompted:
    evidence = assemble(retrieval, budget_tokens=answering.evidence_tokens)
    request = build_request(
        text,
        evidence,
        canary=answering.new_canary(),
        max_output_tokens=answering.max_output_tokens,
    )
    return Prompted(evidence, replace(request, cancelled=cancelled))


def check_question(question: str, max_chars: int) -> str:
    """The question without surrounding whitespace.

    Raises:
        QuestionError: ``empty_question`` when no letter or digit is in it; ``question_too_long``.
    """
    text = question.strip()
    if not any(character.isalnum() for character in text):
        raise QuestionError(
            "The question is empty.",
            code="empty_question",
            hint="Ask in words, for example: How long do I have to return a bike?",
        )
    if len(text) > max_chars:
        raise QuestionError(
            f"The question has {len(text):,} characters; the limit is {max_chars:,}.",
            code="question_too_long",
            hint="Shorten it, or raise [retrieval] max_question_chars.",
        )
    return text


def find(text: str, snapshot: Snapshot, answering: Answering, k: int | None = None) -> Retrieval:
    """What ``snapshot`` has for ``text``."""
    return retrieve(
        Query(text, answering.languages),
        snapshot,
        answering.embedder,
        k=answering.k if k is None else k,
        candidates=answering.candidates,
        min_vector_score=answering.min_vector_score,
        min_keyword_score=answering.min_keyword_score,
        calibrations=answering.calibrations,
    )


class _Sources:
    """The cited chunks and their documents as they are now, for this reader."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._locators: dict[str, Locator | None] = {}

    def current(self, evidence: Evidence) -> Mapping[str, Chunk | None]:
        """Each label's chunk as it is now; None when it is gone or closed."""
        return {source.label: self._snapshot.chunk(source.chunk.id) for source in evidence.sources}

    def locate(self, chunk: Chunk, span: Span) -> Location:
        """The place of a span of the chunk's document."""
        if chunk.document_id not in self._locators:
            document = self._snapshot.document(chunk.document_id)
            self._locators[chunk.document_id] = Locator(document) if document else None
        locator = self._locators[chunk.document_id]
        return locator.locate(span) if locator else chunk.location


class Stopwatch:
    """Milliseconds per stage."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start = self._last = clock.monotonic()
        self._laps: list[tuple[str, float]] = []

    def lap(self, stage: str) -> None:
        """The stage ends here."""
        now = self._clock.monotonic()
        self._laps.append((stage, round((now - self._last) * 1000, 3)))
        self._last = now

    def times(self) -> tuple[tuple[str, float], ...]:
        """Milliseconds per stage so far, and in total."""
        total = round((self._last - self._start) * 1000, 3)
        return (*self._laps, ("total", total))
