"""From a draft to a verdict: is each source known and current, each quote there, each claim borne out.

The stages, in order: the reply as a whole, sources, quotes, output, rules, judge. The first failure
decides the reason: the earliest stage first, then the earliest claim. Every check that was made is
recorded. All but the judge are pure functions of the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from evidencedesk.errors import ModelError
from evidencedesk.model import (
    Check,
    Chunk,
    Draft,
    DraftClaim,
    Evidence,
    Location,
    Reason,
    Span,
    Support,
    Verdict,
    VerifiedCitation,
    VerifiedClaim,
)
from evidencedesk.protocols import Judge
from evidencedesk.text.numbers import quantities
from evidencedesk.verification.boundaries import UNSPACED
from evidencedesk.verification.claims import Band, check_claim
from evidencedesk.verification.labels import labels_named
from evidencedesk.verification.misses import explain_miss
from evidencedesk.verification.output import carries_canary, unsafe_part
from evidencedesk.verification.passages import Passage, passage_of
from evidencedesk.verification.quotes import Quotable, QuoteMiss, find_quote

WEAK_WORDS = 4
WEAK_CHARACTERS = 20
WEAK_UNSPACED_CHARACTERS = 10

_CODE = re.compile(r"--?[A-Za-z][\w-]+|[A-Za-z]\w*_\w+|[A-Za-z]+\d|\d")

Locate = Callable[[Chunk, Span], Location]
"""The place of a span of the document's canonical text that lies inside the chunk."""


class _Stage(IntEnum):
    REPLY = 0
    SOURCES = 1
    QUOTES = 2
    OUTPUT = 3
    RULES = 4
    JUDGE = 5


INJECTION_SIGNALS = frozenset({"canary", "safe_output", "source_known"})
"""Checks that fail when a reply follows orders from a document rather than its instructions."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One check with its stage, and the reason it gives when it fails."""

    stage: _Stage
    check: Check
    reason: Reason


@dataclass(slots=True)
class _Trail:
    """The checks of one claim so far."""

    claim: int | None
    outcomes: list[_Outcome] = field(default_factory=list)

    def record(
        self, stage: _Stage, name: str, reason: Reason, detail: str | None, *, passed: bool
    ) -> bool:
        self.outcomes.append(_Outcome(stage, Check(name, self.claim, passed, detail), reason))
        return passed

    @property
    def failure(self) -> _Outcome | None:
        return next((outcome for outcome in self.outcomes if not outcome.check.passed), None)


@dataclass(frozen=True, slots=True)
class _Context:
    """What every claim is verified with."""

    evidence: Evidence
    texts: Mapping[str, Quotable]
    current: Mapping[str, Chunk | None]
    locate: Locate
    require: Literal["quoted", "proven"]
    judge: Judge | None
    question: str


def verify(
    draft: Draft,
    evidence: Evidence,
    *,
    current: Mapping[str, Chunk | None],
    locate: Locate,
    require: Literal["quoted", "proven"] = "quoted",
    judge: Judge | None = None,
    canary: str = "",
    question: str = "",
) -> Verdict:
    """What holds of a draft.

    Args:
        draft: the reply, parsed.
        evidence: the sources as they were shown to the generator.
        current: for each label, the chunk as this reader sees it *now*, None when it is gone or
            closed. A label that is missing counts as gone.
        locate: the place of a span of canonical text inside a chunk.
        require: ``quoted`` shows a claim that no rule contradicts with its quotes; ``proven`` asks
            for a claim that stands in its quotes or that the judge confirms.
        judge: asked about claims that the rules leave open; None when there is none.
        canary: the random string in the rules of the prompt.
        question: what was asked; a lone word or code must be said of it. Empty when it is not known.

    Returns:
        The verdict: ``ok`` when every claim may be shown, else the reason of the first failure, with
        each claim's own reason, so that a caller may drop the failing ones.
    """
    whole = _Trail(None)
    if not _reply_is_usable(draft, canary, whole):
        failure = whole.failure
        reason = failure.reason if failure else Reason.OK
        claims = tuple(VerifiedClaim(claim.text, reason, None, ()) for claim in draft.claims)
        return Verdict(reason, claims, tuple(outcome.check for outcome in whole.outcomes))
    texts = {source.label: Quotable(source.chunk.text) for source in evidence.sources}
    context = _Context(evidence, texts, current, locate, require, judge, question)
    trails = [_Trail(index) for index in range(len(draft.claims))]
    claims = tuple(
        map(lambda claim, trail: _verify_claim(claim, context, trail), draft.claims, trails)
    )
    outcomes = [*whole.outcomes, *(outcome for trail in trails for outcome in trail.outcomes)]
    outcomes.sort(key=lambda outcome: outcome.stage)
    failed = next((outcome for outcome in outcomes if not outcome.check.passed), None)
    reason = failed.reason if failed else Reason.OK
    return Verdict(reason, claims, tuple(outcome.check for outcome in outcomes))


def _reply_is_usable(draft: Draft, canary: str, trail: _Trail) -> bool:
    said = [claim.text for claim in draft.claims]
    said += [
        part
        for claim in draft.claims
        for cited in claim.citations
        for part in (cited.source, cited.quote)
    ]
    leaked = any(carries_canary(text, canary) for text in said)
    detail = "the reply carries the canary of the rules" if leaked else None
    safe = trail.record(_Stage.REPLY, "canary", Reason.UNSAFE_OUTPUT, detail, passed=not leaked)
    answered = not draft.insufficient and bool(draft.claims)
    detail = None if answered else "the reply says insufficient or claims nothing"
    return (
        trail.record(_Stage.REPLY, "has_claims", Reason.MODEL_ABSTAINED, detail, passed=answered)
        and safe
    )


def _verify_claim(claim: DraftClaim, context: _Context, trail: _Trail) -> VerifiedClaim:
    labelled = _labelled_quotes(claim, context, trail)
    citations = _found_quotes(labelled, context, trail) if labelled else ()
    support = _support(claim.text, citations, context, trail) if citations else None
    failure = trail.failure
    reason = failure.reason if failure else Reason.OK
    return VerifiedClaim(claim.text, reason, support if failure is None else None, citations)


def _labelled_quotes(claim: DraftClaim, context: _Context, trail: _Trail) -> list[tuple[str, str]]:
    """Label and quote of every citation, once all of them are known and current; else empty."""
    cited = bool(claim.citations)
    detail = None if cited else "the claim cites nothing"
    if not trail.record(_Stage.SOURCES, "cited", Reason.MISSING_CITATION, detail, passed=cited):
        return []
    named = [(labels_named(one.source, context.evidence), one) for one in claim.citations]
    unknown = [one.source[:40] for labels, one in named if labels is None]
    shown = ", ".join(source.label for source in context.evidence.sources)
    detail = f"{unknown[0]!r} was not shown; shown were {shown or 'none'}" if unknown else None
    if not trail.record(
        _Stage.SOURCES, "source_known", Reason.UNKNOWN_CITATION, detail, passed=not unknown
    ):
        return []
    pairs = [(label, one.quote) for labels, one in named for label in labels or ()]
    stale = [label for label, _ in pairs if not _is_current(label, context)]
    detail = f"{stale[0]} was changed, removed or closed since it was retrieved" if stale else None
    if not trail.record(
        _Stage.SOURCES, "source_current", Reason.SOURCE_CHANGED, detail, passed=not stale
    ):
        return []
    return list(dict.fromkeys(pairs))


def _is_current(label: str, context: _Context) -> bool:
    source, now = context.evidence.source(label), context.current.get(label)
    if source is None or now is None:
        return False
    then = source.chunk
    return (now.id, now.text, now.content_hash, now.span) == (
        then.id,
        then.text,
        then.content_hash,
        then.span,
    )


def _found_quotes(
    labelled: Sequence[tuple[str, str]], context: _Context, trail: _Trail
) -> tuple[VerifiedCitation, ...]:
    """The quotes that are there and strong, in the order cited, once each; empty when one is not."""
    found: dict[tuple[str, Span], VerifiedCitation] = {}
    for label, quote in labelled:
        citation = _found_quote(label, quote, context, trail)
        if citation is not None:
            found.setdefault((citation.chunk.id, citation.span), citation)
    return () if trail.failure else tuple(found.values())


def _found_quote(
    label: str, quote: str, context: _Context, trail: _Trail
) -> VerifiedCitation | None:
    if not quote.strip():
        trail.record(
            _Stage.QUOTES, "quote_strong", Reason.QUOTE_TOO_WEAK, "the quote is empty", passed=False
        )
        return None
    match = find_quote(quote, context.texts[label])
    if isinstance(match, QuoteMiss):
        miss = explain_miss(quote, label, context.texts)
        said = f"{miss.kind}: {miss.detail}"
        trail.record(_Stage.QUOTES, "quote_found", Reason.QUOTE_NOT_FOUND, said, passed=False)
        return None
    trail.record(_Stage.QUOTES, "quote_found", Reason.QUOTE_NOT_FOUND, None, passed=True)
    weak = is_weak(match.quote)
    detail = f"{match.quote!r} carries no content" if weak else None
    if not trail.record(
        _Stage.QUOTES, "quote_strong", Reason.QUOTE_TOO_WEAK, detail, passed=not weak
    ):
        return None
    source = context.evidence.source(label)
    assert source is not None
    return _citation(label, source.chunk, match.quote, match.occurrences, context.locate)


def _citation(
    label: str, chunk: Chunk, quote: str, occurrences: Sequence[Span], locate: Locate
) -> VerifiedCitation:
    base = chunk.location.start
    spans = [Span(base + span.start, base + span.end) for span in occurrences]
    places = tuple(locate(chunk, span) for span in spans)
    return VerifiedCitation(label, chunk, quote, spans[0], places[0], places)


def is_weak(quote: str) -> bool:
    """Whether a quote carries no content.

    Fewer than 4 words and also fewer than 20 characters (10 where most letters are of a script
    without spaces), and no number or identifier.
    """
    bare = quote.strip()
    unspaced = len(UNSPACED.findall(bare))
    limit = WEAK_UNSPACED_CHARACTERS if unspaced * 2 > len(bare) else WEAK_CHARACTERS
    if len(bare) >= limit or len(bare.split()) >= WEAK_WORDS:
        return False
    has_number = any(not one.weak for one in quantities(bare).found)
    return not has_number and _CODE.search(bare) is None


def _support(
    claim: str, citations: Sequence[VerifiedCitation], context: _Context, trail: _Trail
) -> Support | None:
    quotes = [citation.quote for citation in citations]
    unsafe = unsafe_part(claim, "\n".join(quotes))
    detail = f"the claim carries {unsafe}" if unsafe else None
    if not trail.record(
        _Stage.OUTPUT, "safe_output", Reason.UNSAFE_OUTPUT, detail, passed=not unsafe
    ):
        return None
    passages = [_passage(citation, context) for citation in citations]
    finding = check_claim(claim, passages, context.question)
    for outcome in finding.outcomes:
        trail.record(
            _Stage.RULES, outcome.check, outcome.reason, outcome.detail, passed=outcome.passed
        )
    if finding.band is Band.CONTRADICTED:
        return None
    if finding.band is Band.EXTRACTIVE:
        return Support.EXTRACTIVE
    return _opinion(claim, quotes, context, trail)


def _passage(citation: VerifiedCitation, context: _Context) -> Passage:
    base = citation.chunk.location.start
    span = Span(citation.span.start - base, citation.span.end - base)
    return passage_of(citation.chunk, span, context.texts[citation.label].sentences)


def _opinion(claim: str, quotes: Sequence[str], context: _Context, trail: _Trail) -> Support | None:
    """What becomes of a claim that the rules leave open."""
    if context.judge is None:
        if context.require == "quoted":
            return Support.QUOTED
        detail = "the rules leave it open and no judge is configured"
        trail.record(_Stage.JUDGE, "judge", Reason.UNSUPPORTED_CLAIM, detail, passed=False)
        return None
    try:
        supported = context.judge.supports(claim, quotes)
        opinion = None if supported else f"{context.judge.name} does not find it borne out"
    except ModelError as error:
        supported, opinion = False, f"{context.judge.name} could not be asked: {error.message}"
    trail.record(_Stage.JUDGE, "judge", Reason.UNSUPPORTED_CLAIM, opinion, passed=supported)
    return Support.JUDGED if supported else None
