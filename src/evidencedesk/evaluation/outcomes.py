"""What was measured: one outcome per question, and the run that they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evidencedesk.evaluation.golden import Label


@dataclass(frozen=True, slots=True)
class Shown:
    """A citation that was shown: document, place in words, quote."""

    document_id: str
    place: str
    quote: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question got.

    Attributes:
        id: the row's id.
        question: the question.
        label: what the right outcome is.
        lang: language of the question.
        tags: the row's tags.
        scores: each metric's value; None, or not there, means not scored.
        abstained: whether nothing was answered; None where only retrieval was judged.
        reason: reason of the answer, empty where only retrieval was judged.
        confidence: of the answer; None where only retrieval was judged.
        text: the answer as shown.
        shown: its citations.
        found: documents found, best first.
        leaked: documents found or cited that the reader may not see. Must be empty.
        error: code of the error that the question ended in; empty when there was none.
        generator: who answered.
        prompt_version: version of the rules; empty when no generator was asked.
        calibration: calibration of the confidence.
        timing_ms: milliseconds by stage.
        tokens: tokens in and out.
        cost_usd: cost of the generator's calls.
    """

    id: str
    question: str
    label: Label
    lang: str = "und"
    tags: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    abstained: bool | None = None
    reason: str = ""
    confidence: float | None = None
    text: str = ""
    shown: tuple[Shown, ...] = ()
    found: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()
    error: str = ""
    generator: str = ""
    prompt_version: str = ""
    calibration: str = ""
    timing_ms: Mapping[str, float] = field(default_factory=dict)
    tokens: int = 0
    cost_usd: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {
            "id": self.id,
            "question": self.question,
            "label": self.label.value,
            "lang": self.lang,
            "tags": list(self.tags),
            "scores": dict(self.scores),
            "abstained": self.abstained,
            "reason": self.reason,
            "confidence": self.confidence,
            "text": self.text,
            "shown": [
                {"document_id": s.document_id, "place": s.place, "quote": s.quote}
                for s in self.shown
            ],
            "found": list(self.found),
            "leaked": list(self.leaked),
            "error": self.error,
            "generator": self.generator,
            "prompt_version": self.prompt_version,
            "calibration": self.calibration,
            "timing_ms": dict(self.timing_ms),
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Outcome:
        """The outcome that :meth:`to_json` wrote."""
        return cls(
            **{
                **value,
                "label": Label(value["label"]),
                "tags": tuple(value["tags"]),
                "shown": tuple(Shown(**one) for one in value["shown"]),
                "found": tuple(value["found"]),
                "leaked": tuple(value["leaked"]),
            }
        )


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under what a run was made; two runs with equal ones differ by luck only.

    Attributes:
        golden_set: name of the set.
        golden_digest: digest of its rows.
        settings: each setting's value by its dotted name.
        index: digest of documents, rights and the generation that answered.
        generation: id of that generation.
        embedding: name and revision of its model, empty for keywords only.
        chunking: its strategy with options.
        version: version of EvidenceDesk.
        git_commit: commit of the folder that the run was made in, empty outside a repository.
    """

    golden_set: str
    golden_digest: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    index: str = ""
    generation: int = 0
    embedding: str = ""
    chunking: str = ""
    version: str = ""
    git_commit: str = ""

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement of a golden set.

    Attributes:
        id: names it in ``eval compare`` and ``eval report``.
        started_at: ISO 8601, UTC.
        conditions: under what it was made.
        outcomes: one per question, in the order of the set.
        stale: rows left out because they do not fit the index: id and reason.
        name: what compared settings call it; empty for a plain run.
    """

    id: str
    started_at: str
    conditions: Conditions
    outcomes: tuple[Outcome, ...]
    stale: tuple[tuple[str, str], ...] = ()
    name: str = ""

    def scores(self, metric: str) -> list[float | None]:
        """The metric of every question in order."""
        return [one.scores.get(metric) for one in self.outcomes]

    @property
    def generators(self) -> tuple[str, ...]:
        """Who answered, sorted."""
        return tuple(sorted({one.generator for one in self.outcomes if one.generator}))

    @property
    def prompt_versions(self) -> tuple[str, ...]:
        """Versions of the rules that were used, sorted."""
        return tuple(sorted({one.prompt_version for one in self.outcomes if one.prompt_version}))

    def to_json(self) -> dict[str, Any]:
        """Stable JSON shape."""
        return {
            "id": self.id,
            "name": self.name,
            "started_at": self.started_at,
            "conditions": self.conditions.to_json(),
            "generators": list(self.generators),
            "prompt_versions": list(self.prompt_versions),
            "stale": [{"id": name, "message": why} for name, why in self.stale],
            "questions": [one.to_json() for one in self.outcomes],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Run:
        """The run that :meth:`to_json` wrote."""
        return cls(
            id=value["id"],
            started_at=value["started_at"],
            conditions=Conditions(**value["conditions"]),
            outcomes=tuple(Outcome.from_json(one) for one in value["questions"]),
            stale=tuple((row["id"], row["message"]) for row in value["stale"]),
            name=value["name"],
        )
