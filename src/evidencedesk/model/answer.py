"""The answer: claims with citations that a person can open, or an abstention with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from evidencedesk.model.location import Location


class Reason(StrEnum):
    """Why an answer is what it is; see behaviour 9. Only OK and SOURCES_CONFLICT come with claims."""

    OK = "ok"
    SOURCES_CONFLICT = "sources_conflict"
    NO_EVIDENCE = "no_evidence"
    MODEL_ABSTAINED = "model_abstained"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    INVALID_JSON = "invalid_json"
    INVALID_SCHEMA = "invalid_schema"
    UNKNOWN_CITATION = "unknown_citation"
    SOURCE_CHANGED = "source_changed"
    MISSING_CITATION = "missing_citation"
    QUOTE_NOT_FOUND = "quote_not_found"
    QUOTE_TOO_WEAK = "quote_too_weak"
    UNSUPPORTED_NUMBER = "unsupported_number"
    UNSUPPORTED_CLAIM = "unsupported_claim"
    UNSAFE_OUTPUT = "unsafe_output"
    TIMEOUT = "timeout"
    MODEL_ERROR = "model_error"


class Support(StrEnum):
    """How a shown claim is borne out: its words stand in its quotes, a judge agreed, or it is quoted."""

    EXTRACTIVE = "extractive"
    JUDGED = "judged"
    QUOTED = "quoted"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of the generator's calls."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Check:
    """One check that was made.

    Attributes:
        check: stable name (``quote_found``, ``numbers``, ...).
        claim: index of the claim, None for checks of the whole reply.
        passed: whether it passed.
        detail: what was compared, for a person; None when there is nothing to add.
    """

    check: str
    claim: int | None
    passed: bool
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A verified quote at its place. ``label`` is ``<title> (<place>) [<chunk id>]``.

    ``location`` is the chunk's place, ``quote_location`` the quote's; ``occurrences`` lists every
    place in the chunk where the quote stands; ``also_in`` lists other documents, visible to this
    reader, that hold the same text.
    """

    chunk_id: str
    document_id: str
    title: str
    version: str
    location: Location
    label: str
    source: str = ""
    content_hash: str = ""
    quote: str = ""
    quote_location: Location = field(default_factory=Location)
    occurrences: tuple[Location, ...] = ()
    also_in: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {
            "label": self.label,
            "chunk_id": self.chunk_id,
            "document_id": self.document_id,
            "title": self.title,
            "source": self.source,
            "version": self.version,
            "content_hash": self.content_hash,
            "location": self.location.to_json(),
            "quote": self.quote,
            "quote_location": self.quote_location.to_json(),
            "occurrences": [place.to_json() for place in self.occurrences],
            "also_in": list(self.also_in),
        }


@dataclass(frozen=True, slots=True)
class Claim:
    """A shown statement; ``citations`` are indices into ``Answer.citations``."""

    text: str
    support: Support
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DroppedClaim:
    """A claim that was not shown (``on_failure = "trim"``), and why."""

    text: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """Id and scores of a chunk that was retrieved."""

    chunk_id: str
    score: float
    vector_score: float | None
    keyword_score: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What the reader is shown.

    Attributes:
        text: the claims' texts in order joined by blanks, or the fixed text of an abstention.
        citations: in the order cited, once each; empty for an abstention.
        abstained: True when nothing is claimed.
        reason: why.
        retrieved: what was retrieved, best first; all of it visible to this reader.
        note: one sentence about a conflict or a dropped claim; empty otherwise.
    """

    answer_id: str
    question: str
    text: str
    abstained: bool
    reason: Reason
    confidence: float
    threshold: float
    claims: tuple[Claim, ...] = ()
    dropped_claims: tuple[DroppedClaim, ...] = ()
    citations: tuple[Citation, ...] = ()
    retrieved: tuple[RetrievedChunk, ...] = ()
    checks: tuple[Check, ...] = ()
    generator: str = ""
    model: str | None = None
    fallback_from: tuple[str, ...] = ()
    attempts: int = 0
    degraded: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    timing_ms: tuple[tuple[str, float], ...] = ()
    note: str = ""

    @property
    def retrieved_ids(self) -> tuple[str, ...]:
        """Ids of the retrieved chunks, best first."""
        return tuple(chunk.chunk_id for chunk in self.retrieved)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape of interfaces 1.1."""
        return {
            "answer_id": self.answer_id,
            "question": self.question,
            "abstained": self.abstained,
            "reason": self.reason.value,
            "confidence": self.confidence,
            "threshold": self.threshold,
            "text": self.text,
            "note": self.note,
            "claims": [
                {
                    "text": claim.text,
                    "support": claim.support.value,
                    "citations": list(claim.citations),
                }
                for claim in self.claims
            ],
            "dropped_claims": [
                {"text": claim.text, "reason": claim.reason.value} for claim in self.dropped_claims
            ],
            "citations": [citation.to_json() for citation in self.citations],
            "retrieved": [
                {
                    "chunk_id": chunk.chunk_id,
                    "score": chunk.score,
                    "vector_score": chunk.vector_score,
                    "keyword_score": chunk.keyword_score,
                }
                for chunk in self.retrieved
            ],
            "checks": [
                {
                    "check": check.check,
                    "claim": check.claim,
                    "passed": check.passed,
                    "detail": check.detail,
                }
                for check in self.checks
            ],
            "generator": self.generator,
            "model": self.model,
            "fallback_from": list(self.fallback_from),
            "attempts": self.attempts,
            "degraded": list(self.degraded),
            "usage": {
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
                "cost_usd": self.usage.cost_usd,
            },
            "timing_ms": dict(self.timing_ms),
        }
