"""What every framework is told of a passage: enough to find its words again in the file."""

from __future__ import annotations

from typing import Any

from evidencedesk.model import Hit


def citation_of(hit: Hit) -> dict[str, Any]:
    """Where a passage stands and what it says, as plain JSON values.

    ``desk.chunk(chunk_id)`` finds it again; ``quote`` is the verbatim text, at ``location`` of the
    text whose hash is ``content_hash``. All values that come from documents are strings: no framework
    is given an object that a document made up.
    """
    chunk = hit.chunk
    place = chunk.location.label
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "title": chunk.title,
        "source": chunk.source,
        "version": chunk.version,
        "content_hash": chunk.content_hash,
        "lang": chunk.lang,
        "label": f"{chunk.title} ({place}) [{chunk.id}]"
        if place
        else f"{chunk.title} [{chunk.id}]",
        "location": chunk.location.to_json(),
        "quote": chunk.text,
        "context": chunk.context,
        "score": hit.score,
        "vector_score": hit.vector_score,
        "keyword_score": hit.keyword_score,
    }
