"""Values of the model as they are stored, and back."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from evidencedesk.access import AccessRule, Status
from evidencedesk.model import (
    Block,
    BlockKind,
    Chunk,
    ChunkingSettings,
    Document,
    DocumentRecord,
    EmbeddingSpec,
    Generation,
    Location,
    LogEntry,
    PageBoxes,
    PageSpan,
)

_SETS = ("roles", "deny", "masks")
_SHARED = tuple(
    field.name
    for field in fields(DocumentRecord)
    if field.name not in {"ingested_at", "chunks", "vectors"}
)
_NOT_DOCUMENT = {"content_hash", "location_hash"}
_BOXES = struct.Struct("<qqq")
_BLOCK = attrgetter(*(field.name for field in fields(Block)))
_PAGE = attrgetter(*(field.name for field in fields(PageSpan)))


def record_of(document: Document, now: datetime) -> DocumentRecord:
    """The record of ``document``, without counts; ``now`` is used when it has no time of its own."""
    shared = {name: getattr(document, name) for name in _SHARED}
    return DocumentRecord(**shared, ingested_at=document.ingested_at or now, chunks=0, vectors=0)


def rule_of(document: Document | DocumentRecord) -> AccessRule:
    """Who may see ``document``."""
    return AccessRule(document.tenant, document.roles, document.deny, Status(document.status))


def rule_from(tenant: str, status: str, roles: Iterable[str], deny: Iterable[str]) -> AccessRule:
    """The rule of these names."""
    return AccessRule(tenant, frozenset(roles), frozenset(deny), Status(status))


def encode_record(record: DocumentRecord) -> str:
    """JSON of a record without its counts, which belong to a generation."""
    values: dict[str, Any] = {name: getattr(record, name) for name in _SHARED}
    values |= {name: sorted(values[name]) for name in _SETS}
    values["ingested_at"] = encode_time(record.ingested_at)
    return json.dumps(values, ensure_ascii=False)


def decode_record(stored: str, chunks: int = 0, vectors: int = 0) -> DocumentRecord:
    """The record, with the counts of one generation."""
    values = json.loads(stored)
    values |= {name: frozenset(values.get(name, ())) for name in _SETS}
    values["warnings"] = tuple(values["warnings"])
    values["ingested_at"] = decode_time(values["ingested_at"])
    return DocumentRecord(**values, chunks=chunks, vectors=vectors)


def encode_anchors(document: Document) -> bytes:
    """Blocks, pages and first line of a document, compressed."""
    anchors = {
        "first_line": document.first_line,
        "blocks": list(map(_BLOCK, document.blocks)),
        "pages": list(map(_PAGE, document.pages)),
    }
    return zlib.compress(json.dumps(anchors, ensure_ascii=False).encode(), 1)


def encode_boxes(document: Document) -> bytes:
    """Character boxes of all pages; their data are compressed already."""
    return b"".join(
        _BOXES.pack(page.page, page.start, len(page.data)) + page.data
        for page in document.page_boxes
    )


def decode_document(record: DocumentRecord, text: str, anchors: bytes, boxes: bytes) -> Document:
    """The document as it was stored."""
    values = {name: getattr(record, name) for name in _SHARED if name not in _NOT_DOCUMENT}
    stored = json.loads(zlib.decompress(anchors))
    return Document(
        **values,
        text=text,
        ingested_at=record.ingested_at,
        first_line=stored["first_line"],
        blocks=tuple(
            Block(BlockKind(kind), start, end, tuple(heading), *rest)
            for kind, start, end, heading, *rest in stored["blocks"]
        ),
        pages=tuple(PageSpan(*page) for page in stored["pages"]),
        page_boxes=_decode_boxes(boxes),
    )


def encode_location(location: Location) -> str:
    """JSON of a location, unknown fields left out."""
    known = {name: value for name, value in location.to_json().items() if value}
    return json.dumps(known, ensure_ascii=False)


def decode_chunk(
    record: DocumentRecord, ordinal: int, location: str, context: str, text: str
) -> Chunk:
    """A chunk, with what its document's record says now."""
    return Chunk(
        id=f"{record.id}:c{ordinal}",
        document_id=record.id,
        ordinal=ordinal,
        text=text,
        location=Location.from_json(json.loads(location)),
        context=context,
        title=record.title,
        source=record.source,
        version=record.version,
        status=record.status,
        lang=record.lang,
        tenant=record.tenant,
        roles=record.roles,
        deny=record.deny,
        content_hash=record.content_hash,
    )


def encode_embedding(embedding: EmbeddingSpec | None) -> str | None:
    """JSON of a model's description."""
    return None if embedding is None else json.dumps(asdict(embedding))


def encode_chunking(chunking: ChunkingSettings) -> str:
    """JSON of chunking settings."""
    return json.dumps(asdict(chunking))


@lru_cache(maxsize=16)
def decode_generation(row: tuple[int, str, str | None, str, str, str]) -> Generation:
    """A generation from its row: id, state, embedding, chunking, normalisation, time."""
    number, state, embedding, chunking, normalisation, at = row
    settings = json.loads(chunking)
    return Generation(
        id=number,
        state=state,
        embedding=None if embedding is None else _decode_embedding(embedding),
        chunking=ChunkingSettings(
            settings["strategy"], tuple((name, value) for name, value in settings["options"])
        ),
        normalisation=normalisation,
        created_at=decode_time(at),
    )


def encode_entry(entry: LogEntry) -> str:
    """JSON of a log entry."""
    values = {field.name: getattr(entry, field.name) for field in fields(entry)}
    values |= {"at": encode_time(entry.at), "details": dict(entry.details)}
    return json.dumps(values, ensure_ascii=False)


def decode_entry(stored: str) -> LogEntry:
    """A log entry."""
    values = json.loads(stored)
    return LogEntry(**values | {"at": decode_time(values["at"])})


def encode_time(time: datetime) -> str:
    """ISO 8601 in UTC."""
    return time.astimezone(UTC).isoformat()


def decode_time(stored: str) -> datetime:
    """An aware time."""
    return datetime.fromisoformat(stored)


def _decode_embedding(stored: str) -> EmbeddingSpec:
    spec = EmbeddingSpec(**json.loads(stored))
    return replace(spec, languages=tuple(spec.languages))


def _decode_boxes(stored: bytes) -> tuple[PageBoxes, ...]:
    pages: list[PageBoxes] = []
    at = 0
    while at < len(stored):
        page, start, size = _BOXES.unpack_from(stored, at)
        at += _BOXES.size
        pages.append(PageBoxes(page, start, stored[at : at + size]))
        at += size
    return tuple(pages)
