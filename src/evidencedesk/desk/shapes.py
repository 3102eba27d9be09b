"""The stable JSON shapes of what a desk finds (docs/cli.md), the same on every way in."""

from __future__ import annotations

from typing import Any

from evidencedesk.model import Chunk, Document, DocumentRecord, Hit


def hit_json(hit: Hit) -> dict[str, Any]:
    """The stable shape of one hit (docs/cli.md)."""
    return {
        "chunk_id": hit.chunk.id,
        "document_id": hit.chunk.document_id,
        "title": hit.chunk.title,
        "text": hit.chunk.text,
        "location": hit.chunk.location.to_json(),
        "score": hit.score,
        "vector_score": hit.vector_score,
        "keyword_score": hit.keyword_score,
    }


def chunk_json(chunk: Chunk) -> dict[str, Any]:
    """The stable shape of a passage (docs/cli.md)."""
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "title": chunk.title,
        "text": chunk.text,
        "context": chunk.context,
        "location": chunk.location.to_json(),
        "source": chunk.source,
        "version": chunk.version,
        "status": chunk.status,
        "lang": chunk.lang,
        "content_hash": chunk.content_hash,
    }


def document_json(document: Document) -> dict[str, Any]:
    """The stable shape of a document with its text (docs/cli.md)."""
    return {
        "document_id": document.id,
        "title": document.title,
        "text": document.text,
        "source": document.source,
        "root": document.root,
        "version": document.version,
        "status": document.status,
        "lang": document.lang,
        "owner": document.owner,
        "roles": sorted(document.roles),
        "deny": sorted(document.deny),
        "media_type": document.media_type,
        "content_hash": document.content_hash,
        "warnings": list(document.warnings),
    }


def record_json(record: DocumentRecord) -> dict[str, Any]:
    """The stable shape of a document without its text (docs/cli.md)."""
    return {
        "document_id": record.id,
        "title": record.title,
        "source": record.source,
        "root": record.root,
        "version": record.version,
        "status": record.status,
        "lang": record.lang,
        "owner": record.owner,
        "roles": sorted(record.roles),
        "deny": sorted(record.deny),
        "media_type": record.media_type,
        "content_hash": record.content_hash,
        "ingested_at": record.ingested_at.isoformat(),
        "chunks": record.chunks,
        "vectors": record.vectors,
        "warnings": list(record.warnings),
    }
