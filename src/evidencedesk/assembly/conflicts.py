"""Sources that disagree: two versions, or two values for one quantity.

Only sentences that answer the question are compared, only with sentences of other documents that say
nearly the same in other numbers of the same unit. That misses disagreements in other words, and is
meant to: a false alarm would make people doubt a sound answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from evidencedesk.model import Chunk, EvidenceSource, RankedSentence, SourceConflict, Span
from evidencedesk.text.analysis import terms
from evidencedesk.text.sentences import sentences

ANSWERS_COMPARED = 2
SAME_STATEMENT = 0.75
SAME_STATEMENT_OF_VERSIONS = 0.4

_VALUE = re.compile(r"(?<![\w.,-])(\d+(?:[.,]\d+)*)(?:[\s-]*(%|[^\W\d_]+))?")


@dataclass(frozen=True)
class _Statement:
    """A sentence of a source."""

    source: EvidenceSource
    span: Span
    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Its terms without numbers."""
        found = terms(self.text, self.source.chunk.lang)
        return frozenset(term for term in found if not term[:1].isdigit())

    @cached_property
    def values(self) -> Mapping[str, Mapping[str, str]]:
        """Unit to value to the value as written; values whose unit is not known have unit ''."""
        found: dict[str, dict[str, str]] = {}
        for match in _VALUE.finditer(self.text):
            unit = "".join(terms(match[2] or "", self.source.chunk.lang)) or (match[2] or "")
            found.setdefault(unit, {})[_plain_digits(match[1])] = match[0].strip()
        return found


def find_conflicts(
    sources: Sequence[EvidenceSource], ranked: Sequence[RankedSentence]
) -> tuple[SourceConflict, ...]:
    """Disagreements between the best two ranked sentences and the other sources.

    Args:
        sources: the evidence.
        ranked: sentences of the evidence, best first.

    Returns:
        One conflict per sentence that is contradicted; the sentence's own source comes first.
    """
    conflicts: list[SourceConflict] = []
    told: set[tuple[str, Span]] = set()
    everything = [*_statements(sources)]
    for answer in _answers(everything, ranked[:ANSWERS_COMPARED]):
        sides = [(answer, unit, other) for other in everything if (unit := _differs(answer, other))]
        if sides and (answer.source.label, answer.span) not in told:
            conflicts.append(_conflict(sides))
            told.update((other.source.label, other.span) for _, _, other in sides)
    return tuple(conflicts)


def _statements(sources: Sequence[EvidenceSource]) -> Iterator[_Statement]:
    for source in sources:
        base, text = source.chunk.location.start, source.chunk.text
        for span in sentences(text):
            place = Span(base + span.start, base + span.end)
            yield _Statement(source, place, text[span.start : span.end])


def _answers(
    everything: Sequence[_Statement], ranked: Sequence[RankedSentence]
) -> Iterator[_Statement]:
    for sentence in ranked:
        for statement in everything:
            same = statement.source.chunk.id == sentence.chunk_id
            if same and statement.span == sentence.span:
                yield statement


def _differs(one: _Statement, other: _Statement) -> str | None:
    """A note of the unit in which two statements of the same thing differ, or None."""
    if one.source.chunk.document_id == other.source.chunk.document_id:
        return None
    if not one.values or not other.values or not _same_statement(one, other):
        return None
    shared = [unit for unit in one.values if unit in other.values]
    differing = [unit for unit in shared if not one.values[unit].keys() & other.values[unit].keys()]
    return (differing[0] or "number") if differing else None


def _same_statement(one: _Statement, other: _Statement) -> bool:
    union = one.words | other.words
    alike = len(one.words & other.words) / len(union) if union else 0.0
    versions = _are_versions(one.source.chunk, other.source.chunk)
    return alike >= (SAME_STATEMENT_OF_VERSIONS if versions else SAME_STATEMENT)


def _are_versions(one: Chunk, other: Chunk) -> bool:
    same_title = bool(one.title) and one.title.casefold() == other.title.casefold()
    return same_title and (one.version, one.status) != (other.version, other.status)


def _conflict(sides: Sequence[tuple[_Statement, str, _Statement]]) -> SourceConflict:
    answer, unit, _ = sides[0]
    parties = [answer, *{other.source.label: other for _, _, other in reversed(sides)}.values()]
    unit_key = "" if unit == "number" else unit
    values = tuple(_written(party, unit_key) for party in parties)
    said = "; ".join(
        f"{_name(party.source.chunk)} says {value}"
        for party, value in zip(parties, values, strict=True)
    )
    return SourceConflict(
        labels=tuple(party.source.label for party in parties),
        spans=tuple(party.span for party in parties),
        values=values,
        note=f"The sources disagree: {said}.",
    )


def _written(statement: _Statement, unit: str) -> str:
    return " and ".join(statement.values.get(unit, {"": statement.text}).values())


def _name(chunk: Chunk) -> str:
    name = chunk.title or chunk.document_id
    details = [f"version {chunk.version}"] if chunk.version else []
    details += [chunk.status] if chunk.status != "current" else []
    return f"{name} ({', '.join(details)})" if details else name


def _plain_digits(number: str) -> str:
    return "".join(str(int(mark)) if mark.isdecimal() else mark for mark in number)
