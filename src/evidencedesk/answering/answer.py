"""The decision: what may be shown of what was verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evidencedesk.answering.abstention import abstention_text
from evidencedesk.answering.citations import citation_key, citations_for
from evidencedesk.model import (
    Answer,
    Check,
    Claim,
    DroppedClaim,
    Evidence,
    Reason,
    Reply,
    Retrieval,
    RetrievedChunk,
    SourceConflict,
    Support,
    Verdict,
    VerifiedCitation,
    VerifiedClaim,
)


class OnFailure(StrEnum):
    """What one failed check does. ``repair`` is ``abstain`` once its retry has been used up."""

    ABSTAIN = "abstain"
    REPAIR = "repair"
    TRIM = "trim"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What is shown and why."""

    reason: Reason
    claims: tuple[VerifiedClaim, ...] = ()
    dropped: tuple[DroppedClaim, ...] = ()
    note: str = ""


def has_evidence(retrieval: Retrieval, threshold: float) -> bool:
    """Whether a generator may be asked: something was found, and confidence reaches the threshold.

    A threshold of 0 lets through everything that was found.
    """
    return bool(retrieval.hits) and retrieval.confidence >= threshold


def answer_from(
    *,
    answer_id: str,
    question: str,
    threshold: float,
    retrieval: Retrieval,
    evidence: Evidence | None = None,
    reply: Reply | None = None,
    verdict: Verdict | None = None,
    failure: Reason | None = None,
    checks: Sequence[Check] = (),
    on_failure: OnFailure = OnFailure.ABSTAIN,
    contact: str = "",
    timing_ms: tuple[tuple[str, float], ...] = (),
) -> Answer:
    """The answer, or the abstention, that a reader is shown.

    Without verdict and failure nothing was generated: ``no_evidence``. A failed check rejects the
    whole answer; with ``trim``, unless the reply is unsafe, only the claims that failed.

    Args:
        answer_id: made by the caller.
        question: as asked.
        threshold: the confidence that was required.
        retrieval: what was found.
        evidence: what was shown to the generator; None when it was not asked.
        reply: what it replied; None when it was not asked.
        verdict: what verification found; None when there was nothing to verify.
        failure: why the reply could not be verified at all (cut off, not JSON, timeout, ...).
        checks: checks of the reply made before verification; the verdict's follow them.
        on_failure: what one failed check does.
        contact: whom an abstention names; empty for nobody.
        timing_ms: (stage, milliseconds) pairs.
    """
    shown = evidence or Evidence(())
    outcome = _decide(verdict, failure, shown, on_failure)
    cited = [citation for claim in outcome.claims for citation in claim.citations]
    replied = reply or Reply("", attempts=0)
    return Answer(
        answer_id=answer_id,
        question=question,
        text=_text(outcome, contact),
        abstained=not outcome.claims,
        reason=outcome.reason,
        confidence=retrieval.confidence,
        threshold=threshold,
        claims=_claims(outcome.claims, cited),
        dropped_claims=outcome.dropped,
        citations=citations_for(cited, shown),
        retrieved=_retrieved(retrieval),
        checks=(*checks, *(verdict.checks if verdict else ())),
        generator=replied.generator,
        model=replied.model,
        fallback_from=replied.fallback_from,
        attempts=replied.attempts,
        degraded=retrieval.degraded,
        usage=replied.usage,
        timing_ms=timing_ms,
        note=outcome.note,
    )


def _text(outcome: _Outcome, contact: str) -> str:
    if not outcome.claims:
        return abstention_text(outcome.reason, contact)
    return " ".join(claim.text for claim in outcome.claims)


def _retrieved(retrieval: Retrieval) -> tuple[RetrievedChunk, ...]:
    return tuple(
        RetrievedChunk(hit.chunk.id, hit.score, hit.vector_score, hit.keyword_score)
        for hit in retrieval.hits
    )


def _decide(
    verdict: Verdict | None, failure: Reason | None, evidence: Evidence, on_failure: OnFailure
) -> _Outcome:
    if failure is not None:
        return _Outcome(failure)
    if verdict is None:
        return _Outcome(Reason.NO_EVIDENCE)
    if verdict.reason is Reason.OK:
        return _shown(verdict.claims, (), evidence)
    kept = tuple(claim for claim in verdict.claims if claim.reason is Reason.OK)
    unsafe = any(claim.reason is Reason.UNSAFE_OUTPUT for claim in verdict.claims)
    if on_failure is not OnFailure.TRIM or unsafe or verdict.reason is Reason.UNSAFE_OUTPUT:
        return _Outcome(verdict.reason)
    dropped = tuple(
        DroppedClaim(claim.text, claim.reason)
        for claim in verdict.claims
        if claim.reason is not Reason.OK
    )
    return _shown(kept, dropped, evidence) if kept else _Outcome(verdict.reason)


def _shown(
    claims: tuple[VerifiedClaim, ...], dropped: tuple[DroppedClaim, ...], evidence: Evidence
) -> _Outcome:
    if not claims:
        return _Outcome(Reason.MODEL_ABSTAINED)
    disputes = [conflict for conflict in evidence.conflicts if _touches(conflict, claims)]
    notes = [conflict.note for conflict in disputes]
    if dropped:
        what = "statement that was" if len(dropped) == 1 else "statements that were"
        notes.append(f"Left out: {len(dropped)} {what} not verified.")
    reason = Reason.SOURCES_CONFLICT if disputes else Reason.OK
    return _Outcome(reason, claims, dropped, " ".join(notes))


def _touches(conflict: SourceConflict, claims: Sequence[VerifiedClaim]) -> bool:
    sides = list(zip(conflict.labels, conflict.spans, strict=True))
    return any(
        cited.label == label and cited.span.start < span.end and span.start < cited.span.end
        for claim in claims
        for cited in claim.citations
        for label, span in sides
    )


def _claims(
    claims: Sequence[VerifiedClaim], cited: Sequence[VerifiedCitation]
) -> tuple[Claim, ...]:
    numbers = {key: index for index, key in enumerate(dict.fromkeys(map(citation_key, cited)))}
    return tuple(
        Claim(
            text=claim.text,
            support=claim.support or Support.QUOTED,
            citations=tuple(dict.fromkeys(numbers[citation_key(one)] for one in claim.citations)),
        )
        for claim in claims
    )
