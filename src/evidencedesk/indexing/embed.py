"""Vectors for chunks: what text is embedded, what is in the cache already, what is left to do."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evidencedesk.model import Chunk, EmbeddingSpec, IndexedChunk, Span, TokenVectors
from evidencedesk.protocols import Embedder
from evidencedesk.text.scripts import unknown_script_share
from evidencedesk.text.sentences import sentences
from evidencedesk.text.windows import sentence_windows

Vectors = tuple[NDArray[np.float32], NDArray[np.float32]]
CachedVectors = Callable[[Sequence[str]], Mapping[str, Vectors]]
CachedTokens = Callable[[Sequence[str]], Mapping[str, TokenVectors]]

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
    chunks: Sequence[IndexedChunk],
    embedder: Embedder,
    cached: CachedVectors,
    cached_tokens: CachedTokens = lambda _: {},
) -> list[IndexedChunk]:
    """The chunks with vectors, in the same order; text embedded before is taken from the caches.

    All texts of the call are embedded together so that a model can keep every core busy; a text
    that occurs twice is embedded once. Token vectors come along where the model's spec says that
    they are kept.
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
    texts = {key: chunks[index].chunk.text for index, key in keys.items()}
    tokens = _tokens(texts, embedder, cached_tokens) if embedder.spec.token_dimensions else {}
    return [
        replace(
            chunk,
            vector=vectors[keys[index]][0],
            sentence_vectors=vectors[keys[index]][1],
            embedding_key=keys[index],
            tokens=tokens.get(keys[index]),
        )
        if index in keys
        else chunk
        for index, chunk in enumerate(chunks)
    ]


def _tokens(
    texts: Mapping[str, str], embedder: Embedder, cached: CachedTokens
) -> dict[str, TokenVectors]:
    """For each key the tokens of its text, encoded inside windows of whole sentences."""
    found = dict(cached(sorted(texts)))
    windows = [
        (key, Span(window[0].start, window[-1].end))
        for key, text in texts.items()
        if key not in found
        for window in sentence_windows(text, tuple(sentences(text)))
    ]
    passages = [texts[key][span.start : span.end] for key, span in windows]
    encoded = embedder.stored_tokens(passages) if passages else []
    parts: dict[str, list[tuple[int, TokenVectors]]] = {key: [] for key in texts.keys() - found}
    for (key, span), tokens in zip(windows, encoded, strict=True):
        parts[key].append((span.start, tokens))
    dimensions = embedder.spec.token_dimensions
    return found | {key: _joined(held, dimensions) for key, held in parts.items()}


def _joined(parts: Sequence[tuple[int, TokenVectors]], dimensions: int) -> TokenVectors:
    nothing = np.zeros((0, dimensions), np.float32)
    spans = (
        Span(start + span.start, start + span.end) for start, part in parts for span in part.spans
    )
    return TokenVectors(
        np.concatenate([nothing, *(part.vectors for _, part in parts)]), tuple(spans)
    )


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
    parts = (spec.revision, spec.passage_prefix, embedding_text(chunk), chunk.text)
    tokens = (f"{spec.token_dimensions} {spec.token_projection}",) if spec.token_dimensions else ()
    identity = "\x1f".join((*parts, *tokens))
    return hashlib.sha256(identity.encode("utf-8")).hexdigest()
