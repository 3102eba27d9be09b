"""Asking with a receipt: every answer is recorded before anybody sees it, cached ones too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from evidencedesk import wiring
from evidencedesk.access import AccessFilter, Principal, Status
from evidencedesk.desk.index import OpenIndex
from evidencedesk.model import Answer, Reason, Usage
from evidencedesk.model.receipt import digest_of
from evidencedesk.pipeline import (
    AnswerEvent,
    Answering,
    Explanation,
    StreamEvent,
    answer_question,
    stream_answer,
)
from evidencedesk.records import AnswerCache, CacheKey, Occasion, Recorder

_RECORDED = [
    "retrieval.k",
    "retrieval.candidates",
    "retrieval.threshold",
    "retrieval.min_vector_score",
    "retrieval.min_keyword_score",
    "retrieval.languages",
    "generation.generator",
    "generation.evidence_tokens",
    "generation.max_output_tokens",
    "generation.temperature",
    "generation.structured_output",
    "verification.require",
    "verification.on_failure",
]
_PASSING = {Reason.TIMEOUT, Reason.MODEL_ERROR, Reason.REFUSED, Reason.TRUNCATED}


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question about to be answered, at one state of the index."""

    question: str
    principal: Principal
    statuses: frozenset[Status]
    answering: Answering
    generation: int
    revision: int


class Recording:
    """Answers questions over an index and writes a receipt of every answer.

    Args:
        index: the index.
        enabled: false where answers are tried out and shown to nobody (trials, evaluation).
    """

    def __init__(self, index: OpenIndex, *, enabled: bool = True) -> None:
        self._index = index
        self._enabled = enabled
        size = index.settings.generation.cached_answers if enabled else 0
        self.cache: AnswerCache[Explanation] | None = AnswerCache(size) if size else None

    def explain(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status],
        threshold: float | None,
    ) -> Explanation:
        """See ``Desk.explain``."""
        asked = self.begin(question, principal, statuses, threshold)
        if self.cache is None:
            return self.kept(asked, _answered(asked))
        key = self._cache_key(asked)
        found = self.cache.get(key)
        if found is not None:
            return self.kept(asked, _again(found, asked.answering), found.answer.answer_id)
        explanation = _answered(asked)
        if _lasts(explanation.answer, asked) and self._revision() == asked.revision:
            self.cache.put(key, explanation)
        return self.kept(asked, explanation)

    def stream(
        self,
        question: str,
        *,
        principal: Principal,
        statuses: Iterable[Status],
        threshold: float | None,
        cancelled: Callable[[], bool] | None,
    ) -> Iterator[StreamEvent]:
        """See ``Desk.ask_stream``; the receipt is written before the last event. Nothing is cached."""
        asked = self.begin(question, principal, statuses, threshold)
        events = stream_answer(
            question,
            asked.answering,
            principal=principal,
            statuses=asked.statuses,
            cancelled=cancelled,
        )
        try:
            for event in events:
                if isinstance(event, AnswerEvent):
                    yield replace(event, explanation=self.kept(asked, event.explanation))
                else:
                    yield event
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                close()

    def begin(
        self,
        question: str,
        principal: Principal,
        statuses: Iterable[Status],
        threshold: float | None,
    ) -> Asked:
        """What a question is answered with, and the state of the index that its receipt names."""
        answering = self._index.answering(threshold)
        with self._index.store().read(access=AccessFilter()) as snapshot:
            generation = snapshot.generation.id
        return Asked(
            question, principal, frozenset(statuses), answering, generation, self._revision()
        )

    def kept(self, asked: Asked, explanation: Explanation, cached_from: str = "") -> Explanation:
        """The explanation, once its receipt has been written.

        Raises:
            IndexUnavailableError: it cannot be written although the index can.
        """
        if not self._enabled:
            return explanation
        occasion = Occasion(
            principal=asked.principal,
            statuses=asked.statuses,
            retrieval=explanation.retrieval,
            evidence=explanation.evidence,
            prompt_version=explanation.request.prompt_version if explanation.request else "",
            generation=asked.generation,
            revision=asked.revision,
            cached_from=cached_from,
        )
        answer = self._recorder(asked.answering).record(explanation.answer, occasion)
        self._index.notifying.abstained(asked.principal.tenant, answer)
        return replace(explanation, answer=answer)

    def settings(self, answering: Answering) -> dict[str, Any]:
        """The settings that bear on an answer, as receipts record them; no address and no path."""
        values = {name: self._index.settings.value(name) for name in _RECORDED}
        values = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }
        return {
            **values,
            "retrieval.threshold": answering.threshold,
            "embedding": _model_of(answering),
        }

    def _recorder(self, answering: Answering) -> Recorder:
        privacy = self._index.settings.privacy
        days = privacy.retention_days
        return Recorder(
            ledger=self._index.store().ledger(),
            clock=self._index.clock,
            new_key=wiring.new_subject_key,
            record_content=privacy.record_content,
            retention=None if days is None else timedelta(days=days),
            settings=self.settings(answering),
        )

    def _revision(self) -> int:
        return self._index.store().ledger().revision()

    def _cache_key(self, asked: Asked) -> CacheKey:
        generator = asked.answering.generator
        return CacheKey(
            question=asked.question.strip(),
            access=AccessFilter.for_principal(asked.principal, asked.statuses),
            revision=(asked.revision, asked.generation),
            settings=digest_of(
                [self._index.settings.model_dump(mode="json"), asked.answering.threshold]
            ),
            model=f"{generator.name} {getattr(generator, 'model', '')} {_model_of(asked.answering)}",
        )


def _answered(asked: Asked) -> Explanation:
    return answer_question(
        asked.question, asked.answering, principal=asked.principal, statuses=asked.statuses
    )


def _again(found: Explanation, answering: Answering) -> Explanation:
    """A cached answer under an id of its own; giving it again costs nothing."""
    answer = replace(
        found.answer, answer_id=answering.new_id(), usage=Usage(), attempts=0, timing_ms=()
    )
    return replace(found, answer=answer)


def _lasts(answer: Answer, asked: Asked) -> bool:
    """Whether asking again would give the same: nothing failed that may work the next time."""
    failed = bool(answer.degraded) and asked.answering.embedder is not None
    return not (answer.reason in _PASSING or answer.fallback_from or failed)


def _model_of(answering: Answering) -> str | None:
    spec = answering.embedder.spec if answering.embedder else None
    return None if spec is None else f"{spec.name} {spec.revision}"
