"""Citations, built by code from what was retrieved and verified; a model supplies none of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evidencedesk.model import Chunk, Citation, Evidence, Span, VerifiedCitation

CitationKey = tuple[str, Span]
"""What a citation is: its chunk's id and the span of its quote."""


def citations_for(
    cited: Iterable[VerifiedCitation | str], evidence: Evidence
) -> tuple[Citation, ...]:
    """Citations in the order cited, once each.

    Args:
        cited: verified quotes; or labels of sources (``S1``), each of which cites its chunk whole,
            without a quote.
        evidence: the evidence shown, which knows the other documents that hold the same text.

    Raises:
        KeyError: a label that is not in the evidence.
    """
    citations: dict[CitationKey, Citation] = {}
    for one in cited:
        key, citation = _whole(one, evidence) if isinstance(one, str) else _quoted(one, evidence)
        citations.setdefault(key, citation)
    return tuple(citations.values())


def citation_key(cited: VerifiedCitation) -> CitationKey:
    """The identity of a citation; two quotes of one span are one citation."""
    return cited.chunk.id, cited.span


def citation_label(chunk: Chunk) -> str:
    """``<title> (<place>) [<chunk id>]``; without a place, or a title, what is known."""
    place = f" ({chunk.location.label})" if chunk.location.label else ""
    return f"{chunk.title or chunk.document_id}{place} [{chunk.id}]"


def _quoted(cited: VerifiedCitation, evidence: Evidence) -> tuple[CitationKey, Citation]:
    source = evidence.source(cited.label)
    citation = replace(
        _citation(cited.chunk),
        quote=cited.quote,
        quote_location=cited.location,
        occurrences=cited.occurrences,
        also_in=source.also_in if source else (),
    )
    return citation_key(cited), citation


def _whole(label: str, evidence: Evidence) -> tuple[CitationKey, Citation]:
    source = evidence.source(label)
    if source is None:
        shown = ", ".join(one.label for one in evidence.sources) or "none"
        raise KeyError(f"No source {label!r} in the evidence; there are: {shown}.")
    chunk = source.chunk
    return (chunk.id, chunk.span), replace(_citation(chunk), also_in=source.also_in)


def _citation(chunk: Chunk) -> Citation:
    return Citation(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        title=chunk.title,
        version=chunk.version,
        location=chunk.location,
        label=citation_label(chunk),
        source=chunk.source,
        content_hash=chunk.content_hash,
    )
