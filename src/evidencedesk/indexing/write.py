"""Writing one document into every live generation of an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evidencedesk.indexing.reconcile import Change
from evidencedesk.model import Document, IndexedChunk
from evidencedesk.protocols import Writer


@dataclass(frozen=True, slots=True, eq=False)
class IndexingPlan:
    """A document with everything needed to write it.

    Attributes:
        document: the document.
        change: how it differs from what is stored.
        chunks: for each live generation, its chunks; empty for METADATA and UNCHANGED.
        fill_vectors: the text is unchanged and only vectors are missing.
        replaces: id under which the same source was stored before, when that was another one; its own
            when nothing earlier of it may stay.
    """

    document: Document
    change: Change
    chunks: Mapping[int, Sequence[IndexedChunk]]
    fill_vectors: bool = False
    replaces: str | None = None


def write_document(writer: Writer, plan: IndexingPlan) -> int:
    """Carry the plan out in one transaction per kind of change; returns the chunks written."""
    document = plan.document
    if plan.change in {Change.ADDED, Change.CHANGED}:
        writer.replace_document(document, plan.chunks, replaces=plan.replaces)
        return sum(len(chunks) for chunks in plan.chunks.values())
    if plan.change is Change.METADATA:
        writer.update_document(document)
    if plan.fill_vectors:
        writer.fill_vectors(document.tenant, document.id, plan.chunks)
    return 0
