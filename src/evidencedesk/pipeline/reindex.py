"""Building another generation beside the one that answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evidencedesk.indexing import embed_chunks
from evidencedesk.model import Document, Generation, IndexedChunk
from evidencedesk.pipeline.ingest import BATCH_CHUNKS, Indexing, chunk_for_index


def rebuild(generation: Generation, indexing: Indexing) -> Iterator[str]:
    """Chunk and embed every document of every tenant into ``generation``; gives ids as it goes.

    Texts that the same model embedded before are taken from the embedding cache, so a rebuild that
    was interrupted costs little when it is begun again.
    """
    batch: list[tuple[Document, list[IndexedChunk]]] = []
    for document in _documents(indexing):
        batch.append((document, chunk_for_index(document, generation.chunking)))
        if sum(1 + len(chunks) for _, chunks in batch) >= BATCH_CHUNKS:
            yield from _put(batch, generation, indexing)
            batch = []
    yield from _put(batch, generation, indexing)


def _documents(indexing: Indexing) -> Iterator[Document]:
    writer = indexing.writer
    for tenant in writer.tenants():
        for record in writer.records(tenant):
            document = writer.document(tenant, record.id)
            if document is not None:
                yield document


def _put(
    batch: Sequence[tuple[Document, list[IndexedChunk]]],
    generation: Generation,
    indexing: Indexing,
) -> Iterator[str]:
    flat = [chunk for _, chunks in batch for chunk in chunks]
    embedder = indexing.embedder_for(generation)
    if embedder is not None and flat:
        writer = indexing.writer
        flat = embed_chunks(flat, embedder, writer.cached_vectors, writer.cached_tokens)
    vectors = iter(flat)
    for document, chunks in batch:
        done = [next(vectors) for _ in chunks]
        indexing.writer.put_chunks(generation.id, document.tenant, document.id, done)
        yield document.id
