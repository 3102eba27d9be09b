"""Vectors for chunks: what text is embedded, what is in the cache already, what is left to do."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import Chunk, EmbeddingSpec, IndexedChunk
from evidencedesk.protocols import Embedder
from evidencedesk.text.scripts import unknown_script_share
from evidencedesk.text.sentences import sentences

Vectors = tuple[NDArray[np.float32], NDArray[np.float32]]
CachedVectors = Callable[[Sequence[str]], Mapping[str, Vectors]]

MAX_UNKNOWN_SCRIPT = 0.3


@dataclass(frozen=True, slots=True)
class _Pending:
    """A chunk whose vectors must be computed; ``texts`` is its passage, then its sentences."""

    key: str
    texts: tuple[str, ...]


def embedding_text(chunk: Chunk) -> str:
    """The text embedded for a chunk: title, table header and text, as far as there are any."""
    title = f"{chunk.title.rstrip('.')}. " if chunk.title else ""
    context = f"{chunk.context}\n" if chunk.context else ""
    return f"{title}{context}{chunk.text}"


def embeddable(chunk: Chunk, spec: EmbeddingSpec) -> bool:
    """Whether the model knows the chunk's language; of an unknown one, whether it knows the script.

    A model on text it does not know drags a fused ranking down (Bengali with an English model:
    nDCG@10 .994 by keywords, .763 fused), so such chunks are found by their words only.
    """
    primary = chunk.lang.split("-")[0].lower()
    if primary in {"und", ""}:
        return unknown_script_share(chunk.text, spec.languages) <= MAX_UNKNOWN_SCRIPT
    return primary in spec.languages


def embed_chunks(
    chunks: Sequence[IndexedChunk], embedder: Embedder, cached: CachedVectors
) -> list[IndexedChunk]:
    """The chunks with vectors, in the same order; text embedded before is taken from ``cached``.

    All texts of the call are embedded together so that a model can keep every core busy; a text
    that occurs twice is embedded once.
    """
    keys = {
        index: _key(embedder.spec, chunk.chunk)
        for index, chunk in enumerate(chunks)
        if embeddable(chunk.chunk, embedder.spec)
    }
    vectors = dict(cached(sorted(set(keys.values()))))
    pending = {
        key: _Pending(key, _texts(chunks[index].chunk))
        for index, key in keys.items()
        if key not in vectors
    }
    vectors.update(_embed(tuple(pending.values()), embedder))
    return [
        _with_vectors(chunk, keys[index], vectors[keys[index]]) if index in keys else chunk
        for index, chunk in enumerate(chunks)
    ]


def _with_vectors(chunk: IndexedChunk, key: str, vectors: Vectors) -> IndexedChunk:
    return replace(chunk, vector=vectors[0], sentence_vectors=vectors[1], embedding_key=key)


def _texts(chunk: Chunk) -> tuple[str, ...]:
    passages = [chunk.text[span.start : span.end] for span in sentences(chunk.text)]
    return (embedding_text(chunk), *passages)


def _embed(pending: Sequence[_Pending], embedder: Embedder) -> dict[str, Vectors]:
    if not pending:
        return {}
    flat = [text for work in pending for text in work.texts]
    distinct = list(dict.fromkeys(flat))
    rows = {text: row for row, text in enumerate(distinct)}
    vectors = embedder.embed_passages(distinct)
    return {
        work.key: (
            vectors[rows[work.texts[0]]],
            vectors[[rows[text] for text in work.texts[1:]]],
        )
        for work in pending
    }


def _key(spec: EmbeddingSpec, chunk: Chunk) -> str:
    identity = "\x1f".join((spec.revision, spec.passage_prefix, embedding_text(chunk), chunk.text))
    return hashlib.sha256(identity.encode("utf-8")).hexdigest()
