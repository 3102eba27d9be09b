"""Answers as plain text for people; pure functions of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidencedesk.model import Answer, Citation

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def render_answer(answer: Answer) -> str:
    """The answer with numbered citations (title, place, source, quote), or the abstention.

    Control and direction characters of documents are left out: a quote must not steer a terminal.
    """
    lines = [*_abstention(answer)] if answer.abstained else [*_claims(answer), *_sources(answer)]
    lines += [f"Note: {answer.note}"] if answer.note else []
    lines += [f"Degraded: {'; '.join(answer.degraded)}"] if answer.degraded else []
    return _UNPRINTABLE.sub("", "\n".join(lines).rstrip()) + "\n"


def render_explanation(answer: Answer) -> str:
    """How the answer came about: confidence, retrieved chunks with scores, every check."""
    lines = [
        f"Reason: {answer.reason}",
        f"Confidence: {answer.confidence:.3f} (threshold {answer.threshold:g})",
        "Retrieved:" if answer.retrieved else "Retrieved: nothing",
    ]
    for chunk in answer.retrieved:
        cosine = "-" if chunk.vector_score is None else f"{chunk.vector_score:.3f}"
        lines.append(
            f"  {chunk.chunk_id}  score {chunk.score:.3f}  vector {cosine}"
            f"  keyword {chunk.keyword_score:.3f}"
        )
    lines.append("Checks:" if answer.checks else "Checks: none")
    for check in answer.checks:
        where = "reply" if check.claim is None else f"claim {check.claim + 1}"
        detail = f": {check.detail}" if check.detail else ""
        lines.append(f"  {'ok    ' if check.passed else 'FAILED'}  {check.check} ({where}){detail}")
    return _UNPRINTABLE.sub("", "\n".join(lines)) + "\n"


def _abstention(answer: Answer) -> Iterator[str]:
    yield answer.text
    yield f"Reason: {answer.reason}"


def _claims(answer: Answer) -> Iterator[str]:
    for claim in answer.claims:
        marks = "".join(f"[{index + 1}]" for index in claim.citations)
        yield f"{claim.text} {marks}"
    yield ""


def _sources(answer: Answer) -> Iterator[str]:
    for number, citation in enumerate(answer.citations, start=1):
        yield from _source(number, citation)


def _source(number: int, citation: Citation) -> Iterator[str]:
    yield f"[{number}] {citation.label}"
    indent = " " * (len(str(number)) + 3)
    place = citation.quote_location.label
    if citation.source:
        yield f"{indent}{citation.source}"
    if citation.quote:
        at = f" ({place})" if place and place != citation.location.label else ""
        yield f"{indent}“{' '.join(citation.quote.split())}”{at}"
    if citation.also_in:
        yield f"{indent}also in: {', '.join(citation.also_in)}"
