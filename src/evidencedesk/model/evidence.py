"""From hits to a verdict: evidence, requests, replies, drafts and what verification found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from evidencedesk.model.answer import Check, Reason, Support, Usage
from evidencedesk.model.location import Location, Span
from evidencedesk.model.retrieval import Chunk, Hit, RankedSentence


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """One chunk as shown to a generator.

    Attributes:
        label: ``S1``, ``S2``, ... in the order shown.
        hit: the chunk and its scores.
        also_in: ids of other visible documents that hold the same text.
    """

    label: str
    hit: Hit
    also_in: tuple[str, ...] = ()

    @property
    def chunk(self) -> Chunk:
        """The chunk shown."""
        return self.hit.chunk


@dataclass(frozen=True, slots=True)
class SourceConflict:
    """Two sources that disagree: two versions, or two values for one quantity.

    Attributes:
        labels: labels of the sources that disagree.
        spans: for each label, the span of canonical text that holds its value.
        values: for each label, the value as written.
        note: what they disagree about, in words for a person.
    """

    labels: tuple[str, ...]
    spans: tuple[Span, ...]
    values: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a generator may answer from.

    Attributes:
        sources: in the order shown, strongest first.
        sentences: ranked sentences of those sources.
        dropped: ids of chunks left out for the token budget, weakest first.
        conflicts: disagreements among ``sources``.
        tokens: tokens of the sources by our model-free counter.
    """

    sources: tuple[EvidenceSource, ...]
    sentences: tuple[RankedSentence, ...] = ()
    dropped: tuple[str, ...] = ()
    conflicts: tuple[SourceConflict, ...] = ()
    tokens: int = 0

    def source(self, label: str) -> EvidenceSource | None:
        """The source called ``label``, or None."""
        return next((source for source in self.sources if source.label == label), None)


@dataclass(frozen=True, slots=True)
class Request:
    """What a generator is asked.

    Attributes:
        question: the question, unescaped (for generators that are no language model).
        evidence: the evidence, unescaped.
        rules: the fixed rules; the system message of a model.
        prompt: escaped ``<source>`` blocks and the escaped ``<question>`` block; the user message.
        schema: JSON schema of the reply.
        prompt_version: version of the rules, stored with every answer.
        max_output_tokens: limit on the reply.
        canary: random string in the rules; seen in a reply, the reply is unsafe.
        cancelled: asked again and again during a call; true once whoever asked has gone.
    """

    question: str
    evidence: Evidence
    rules: str
    prompt: str
    schema: dict[str, object]
    prompt_version: str
    max_output_tokens: int = 1024
    canary: str = ""
    cancelled: Callable[[], bool] | None = field(default=None, repr=False, compare=False)


class StopReason(StrEnum):
    """Why a generator stopped."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a generator said, unread and not believed.

    Attributes:
        text: the reply as received.
        stop_reason: why it ended there.
        generator: name of the adapter that answered.
        model: model name, None for generators that are none.
        usage: tokens and cost.
        attempts: calls made.
        fallback_from: adapters that were tried before and failed.
        detail: what went wrong, for the operator; holds nothing that a provider wrote.
    """

    text: str
    stop_reason: StopReason = StopReason.END
    generator: str = ""
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    attempts: int = 1
    fallback_from: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DraftCitation:
    """A citation as the reply gives it: a label and a quote, neither checked."""

    source: str
    quote: str


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A statement as the reply gives it."""

    text: str
    citations: tuple[DraftCitation, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply that parsed and fits the schema."""

    insufficient: bool
    claims: tuple[DraftClaim, ...]


@dataclass(frozen=True, slots=True)
class VerifiedCitation:
    """A quote that was found in its source.

    Attributes:
        label: label of the source.
        chunk: the chunk.
        quote: the source's own slice, verbatim.
        span: span of the document's canonical text.
        location: place of ``span``.
        occurrences: places of every occurrence in the chunk, the chosen one first.
    """

    label: str
    chunk: Chunk
    quote: str
    span: Span
    location: Location
    occurrences: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class VerifiedClaim:
    """A claim and how far it got: shown only when ``reason`` is OK."""

    text: str
    reason: Reason
    support: Support | None
    citations: tuple[VerifiedCitation, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verification found.

    Attributes:
        reason: ``ok`` when every claim may be shown, else the reason of the first failure.
        claims: every claim of the draft in order.
        checks: everything that was checked, in order.
    """

    reason: Reason
    claims: tuple[VerifiedClaim, ...]
    checks: tuple[Check, ...]
