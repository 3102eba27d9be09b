"""What an index says of itself, for ``doctor``: does everything agree, and is everything there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from evidencedesk.indexing import embed_chunks
from evidencedesk.model import DocumentRecord, Finding, Generation, IndexedChunk
from evidencedesk.pipeline.ingest import Indexing, chunk_for_index
from evidencedesk.pipeline.library import file_at, is_fetched
from evidencedesk.protocols import Store

PROBES = 10
MIN_PROBE_COSINE = 0.999


def examine(store: Store, indexing: Indexing, *, wants_model: bool = True) -> Iterator[Finding]:
    """Findings about the store, its generations, its vectors and its documents.

    Args:
        store: the index.
        indexing: its writer's side.
        wants_model: whether an index without vectors lacks anything.
    """
    problems = store.check()
    yield Finding(
        "index",
        not problems,
        "; ".join(problems) or "chunks, vectors, words and hashes agree",
        "Run `evidencedesk reindex --yes`, then `evidencedesk reindex --discard`."
        if problems
        else "",
    )
    records = [
        record for tenant in indexing.writer.tenants() for record in indexing.writer.records(tenant)
    ]
    yield _documents(records)
    yield from _missing_files(records)
    for generation in indexing.writer.generations():
        if generation.state == "active":
            yield _vectors(records, generation, wants_model=wants_model)
            yield from _probes(records, generation, indexing)


def _documents(records: list[DocumentRecord]) -> Finding:
    closed = [record.id for record in records if not record.roles]
    partly = [record.id for record in records if record.partial]
    parts = [f"{len(records)} documents, {sum(record.chunks for record in records)} chunks"]
    if closed:
        parts.append(f"{len(closed)} name no role and are seen by administrators only")
    if partly:
        parts.append(f"{len(partly)} were not wholly read: {', '.join(partly[:5])}")
    return Finding("documents", not partly, "; ".join(parts))


def _missing_files(records: list[DocumentRecord]) -> Iterator[Finding]:
    gone = [
        each.source
        for each in records
        if not is_fetched(each.root) and not file_at((each.root, each.source)).exists()
    ]
    if gone:
        yield Finding(
            "sources",
            ok=False,
            message=f"{len(gone)} documents have no file any more: {', '.join(gone[:5])}",
            hint="`evidencedesk ingest FOLDER --prune` removes them.",
        )


def _vectors(
    records: list[DocumentRecord], generation: Generation, *, wants_model: bool
) -> Finding:
    total = sum(record.chunks for record in records)
    present = sum(record.vectors for record in records)
    if generation.embedding is None:
        return Finding(
            "vectors",
            ok=not wants_model,
            message="the index has no semantic model; search is by keywords only",
            hint="`evidencedesk models pull minilm`, then `evidencedesk ingest` again."
            if wants_model
            else "",
        )
    name = generation.embedding.name
    return Finding(
        "vectors",
        ok=True,
        message=f"{present} of {total} chunks have vectors of {name!r}; "
        "the others are in languages that it does not know, or wait for the next ingest",
    )


def _probes(
    records: list[DocumentRecord], generation: Generation, indexing: Indexing
) -> Iterator[Finding]:
    """Compare stored vectors with fresh ones: another build of the runtime may compute others."""
    embedder = indexing.embedder_for(generation)
    if embedder is None:
        return
    chunks = list(itertools.islice(_chunks(records, generation, indexing), PROBES))
    fresh = [each for each in embed_chunks(chunks, embedder, lambda _: {}) if each.embedding_key]
    stored = indexing.writer.cached_vectors([each.embedding_key for each in fresh])
    cosines = [
        float(np.dot(each.vector, stored[each.embedding_key][0]))
        for each in fresh
        if each.vector is not None and each.embedding_key in stored
    ]
    if cosines:
        lowest = min(cosines)
        agree = lowest >= MIN_PROBE_COSINE
        yield Finding(
            "probes",
            agree,
            f"{len(cosines)} stored vectors compared with fresh ones: lowest cosine {lowest:.4f}",
            "" if agree else "Rebuild the vectors: `evidencedesk reindex --yes`.",
        )


def _chunks(
    records: list[DocumentRecord], generation: Generation, indexing: Indexing
) -> Iterator[IndexedChunk]:
    for record in records:
        if record.vectors:
            document = indexing.writer.document(record.tenant, record.id)
            if document is not None:
                yield from chunk_for_index(document, generation.chunking)[:1]
