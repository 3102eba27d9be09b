"""One run: every question of a golden set asked, judged and written down as it goes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from evidencedesk.desk import Desk
from evidencedesk.errors import IndexingError, ModelError, UsageError
from evidencedesk.evaluation.corpus import Asker, Corpus, usable
from evidencedesk.evaluation.golden import GoldenQuestion, GoldenSet
from evidencedesk.evaluation.outcomes import Conditions, Outcome, Run, Shown
from evidencedesk.evaluation.scoring import (
    CUTOFFS,
    Entails,
    answer_scores,
    retrieval_scores,
    words_entail,
)
from evidencedesk.evaluation.storage import RunStore
from evidencedesk.model import Answer, Hit, Progress, ProgressCallback
from evidencedesk.pipeline import Explanation
from evidencedesk.protocols import Clock
from evidencedesk.settings import rows


@dataclass(frozen=True, slots=True, eq=False)
class Measuring:
    """How a run is made.

    Attributes:
        clock: tells when it began, and how long each search took.
        store: where it is kept, outcome by outcome; None keeps nothing.
        entails: whether passages bear a statement out (``citation_recall`` and its kin).
        progress: told of every question.
        threshold: confidence required instead of the settings'; None for the settings'.
    """

    clock: Clock
    store: RunStore | None = None
    entails: Entails = words_entail
    progress: ProgressCallback | None = None
    threshold: float | None = None


def evaluate(
    desk: Desk,
    golden: GoldenSet,
    measuring: Measuring,
    *,
    asker: Asker | None = None,
    name: str = "",
    version: str = "",
    git_commit: str = "",
) -> Run:
    """Ask every question as its reader and judge what came back.

    Stale rows are left out and listed. Interrupted, the same call takes up where it stopped, as
    long as the golden set, the settings, the index and the version are the same.

    Args:
        desk: the index, and what is measured.
        golden: the questions.
        measuring: how.
        asker: what is measured instead of ``desk``; documents and rights still come from ``desk``.
        name: what reports call the run.
        version: version of EvidenceDesk, for the record.
        git_commit: commit of whatever the settings are kept in, for the record.

    Raises:
        GoldenSetError: ``golden_stale`` when no row fits the index.
        IndexingError: the index cannot be read.
    """
    corpus = Corpus(desk, {one.reader.tenant for one in golden.questions})
    stale = corpus.stale_rows(golden)
    kept = usable(golden, stale)
    conditions = conditions_of(desk, golden, corpus, version=version, git_commit=git_commit)
    judge = _Judge(asker or desk.unrecorded(), corpus, measuring)
    started = measuring.clock.now()
    key = _key(conditions, name, measuring.threshold)
    done = measuring.store.unfinished(key) if measuring.store else {}
    outcomes = []
    for number, question in enumerate(kept.questions, start=1):
        outcome = done.get(question.id) or judge.outcome(question)
        if measuring.store is not None and question.id not in done:
            measuring.store.note(key, outcome)
        if measuring.progress is not None:
            measuring.progress(Progress("ask", number, len(kept.questions), question.id))
        outcomes.append(outcome)
    run = Run(
        id=f"{started:%Y%m%d-%H%M%S}-{key[:6]}",
        started_at=started.isoformat(),
        conditions=conditions,
        outcomes=tuple(outcomes),
        stale=tuple((row.question_id, row.message) for row in stale),
        name=name,
    )
    return measuring.store.finish(key, run) if measuring.store else run


def conditions_of(
    desk: Desk, golden: GoldenSet, corpus: Corpus, *, version: str, git_commit: str
) -> Conditions:
    """Under what a run over ``golden`` on ``desk`` is made."""
    generation = desk.generation()
    embedding, cut = generation.embedding, generation.chunking
    options = ", ".join(f"{name} {value}" for name, value in cut.options)
    described = (corpus.digest, generation.id, embedding, cut, generation.normalisation)
    return Conditions(
        golden_set=golden.name,
        golden_digest=golden.digest,
        settings={
            row.name: _plain(desk.settings.value(row.name))
            for row in rows()
            if not row.table.startswith("evaluation")
        },
        index="sha256:" + hashlib.sha256(repr(described).encode()).hexdigest(),
        generation=generation.id,
        embedding=f"{embedding.name} {embedding.revision}" if embedding else "",
        chunking=f"{cut.strategy} ({options})" if options else cut.strategy,
        version=version,
        git_commit=git_commit,
    )


class _Judge:
    """Asks one question and judges what came back."""

    def __init__(self, asker: Asker, corpus: Corpus, measuring: Measuring) -> None:
        self._asker = asker
        self._corpus = corpus
        self._measuring = measuring

    def outcome(self, question: GoldenQuestion) -> Outcome:
        """The outcome; an error that concerns this question alone is part of it.

        Raises:
            IndexingError: the index cannot be read, so no question can be judged.
        """
        try:
            return self._searched(question) if question.retrieval_only else self._asked(question)
        except IndexingError:
            raise
        except (UsageError, ModelError) as error:
            return Outcome(
                id=question.id,
                question=question.question,
                label=question.label,
                lang=question.lang,
                tags=question.tags,
                error=error.code,
            )

    def _searched(self, question: GoldenQuestion) -> Outcome:
        clock = self._measuring.clock
        started = clock.monotonic()
        hits = self._asker.search(
            question.question,
            principal=question.reader.principal,
            statuses=question.reader.statuses,
            k=max(CUTOFFS),
        )
        spent = round((clock.monotonic() - started) * 1000, 3)
        leaked = self._leaked(question, hits, None)
        return Outcome(
            id=question.id,
            question=question.question,
            label=question.label,
            lang=question.lang,
            tags=question.tags,
            scores={**retrieval_scores(question, hits), "leaked": float(bool(leaked))},
            found=tuple(dict.fromkeys(hit.chunk.document_id for hit in hits)),
            leaked=leaked,
            timing_ms={"retrieve": spent, "total": spent},
        )

    def _asked(self, question: GoldenQuestion) -> Outcome:
        explanation = self._asker.explain(
            question.question,
            principal=question.reader.principal,
            statuses=question.reader.statuses,
            threshold=self._measuring.threshold,
        )
        hits, answer = explanation.retrieval.hits, explanation.answer
        leaked = self._leaked(question, hits, answer)
        scores = {
            **retrieval_scores(question, hits),
            **answer_scores(question, answer, self._corpus, self._measuring.entails),
            "leaked": float(bool(leaked)),
        }
        return _described(question, explanation, scores, leaked)

    def _leaked(
        self, question: GoldenQuestion, hits: Sequence[Hit], answer: Answer | None
    ) -> tuple[str, ...]:
        seen = [hit.chunk.document_id for hit in hits]
        for citation in answer.citations if answer else ():
            seen += [citation.document_id, *citation.also_in]
        return tuple(
            name for name in dict.fromkeys(seen) if not self._corpus.admits(question.reader, name)
        )


def _described(
    question: GoldenQuestion,
    explanation: Explanation,
    scores: dict[str, float | None],
    leaked: tuple[str, ...],
) -> Outcome:
    answer = explanation.answer
    return Outcome(
        id=question.id,
        question=question.question,
        label=question.label,
        lang=question.lang,
        tags=question.tags,
        scores=scores,
        abstained=answer.abstained,
        reason=answer.reason.value,
        confidence=answer.confidence,
        text=answer.text,
        shown=tuple(Shown(c.document_id, c.label, c.quote) for c in answer.citations),
        found=tuple(dict.fromkeys(hit.chunk.document_id for hit in explanation.retrieval.hits)),
        leaked=leaked,
        generator=" ".join(filter(None, (answer.generator, answer.model))),
        prompt_version=explanation.request.prompt_version if explanation.request else "",
        calibration=explanation.retrieval.calibration,
        timing_ms=dict(answer.timing_ms),
        tokens=answer.usage.input_tokens + answer.usage.output_tokens,
        cost_usd=answer.usage.cost_usd,
    )


def _key(conditions: Conditions, name: str, threshold: float | None) -> str:
    described = json.dumps([conditions.to_json(), name, threshold], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
