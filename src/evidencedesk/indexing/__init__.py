"""Stage 3, chunks into the store: what changed, what must be embedded, what must be written."""

from evidencedesk.indexing.embed import embed_chunks, embeddable, embedding_text
from evidencedesk.indexing.reconcile import Change, classify, lost_documents
from evidencedesk.indexing.write import IndexingPlan, write_document

__all__ = [
    "Change",
    "IndexingPlan",
    "classify",
    "embed_chunks",
    "embeddable",
    "embedding_text",
    "lost_documents",
    "write_document",
]
