"""What a writer checks before each step, and how it refuses one, whatever the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.codecs import (
    encode_chunking,
    encode_embedding,
    encode_time,
)
from evidencedesk.errors import IndexingError, IndexMismatchError
from evidencedesk.model import (
    ChunkingSettings,
    Document,
    DocumentRecord,
    EmbeddingSpec,
    Generation,
    IndexedChunk,
)

GenerationValues = tuple[str, str | None, str, str, str, str]
"""State, embedding, chunking, normalisation, time and runtime, as they are stored."""


def generation_values(
    state: str,
    embedding: EmbeddingSpec | None,
    chunking: ChunkingSettings,
    normalisation: str,
    *,
    made: tuple[datetime, Mapping[str, str]],
) -> GenerationValues:
    """A new generation's values; ``made`` says when, and by what its vectors will be computed."""
    now, runtime = made
    return (
        state,
        encode_embedding(embedding),
        encode_chunking(chunking),
        normalisation,
        encode_time(now),
        json.dumps(dict(runtime)),
    )


def no_generation(number: int | None, live: Iterable[Generation]) -> IndexingError:
    """There is none of that number."""
    known = ", ".join(str(generation.id) for generation in live)
    return IndexingError(
        f"There is no generation {number}; there are {known}.",
        code="generation_missing",
        hint="Read the generations again; another process may have switched them.",
    )


def refuse_second_building(live: Iterable[Generation]) -> None:
    """Only one generation is built at a time.

    Raises:
        IndexingError: ``generation_exists``.
    """
    building = [generation.id for generation in live if generation.state == "building"]
    if building:
        raise IndexingError(
            f"Generation {building[0]} is being built already.",
            code="generation_exists",
            hint="Finish it with `evidencedesk reindex`, or drop it with `reindex --discard`.",
        )


def refuse_incomplete(number: int, lacking: int) -> None:
    """A generation that lacks documents does not become the active one.

    Raises:
        IndexingError: ``generation_incomplete``.
    """
    if lacking:
        raise IndexingError(
            f"Generation {number} lacks {lacking} documents.",
            code="generation_incomplete",
            hint="Run `evidencedesk reindex` again; it goes on where it stopped.",
        )


def refuse_active(generation: Generation) -> None:
    """The active generation is not dropped.

    Raises:
        IndexingError: ``generation_active``.
    """
    if generation.state == "active":
        raise IndexingError(
            f"Generation {generation.id} is active.",
            code="generation_active",
            hint="Switch to another one first.",
        )


def matching(live: Iterable[Generation], chunks: Mapping[int, object]) -> dict[int, Generation]:
    """The generations by number, which are those that ``chunks`` were made for.

    Raises:
        IndexingError: ``generations_differ``.
    """
    numbered = {generation.id: generation for generation in live}
    if numbered.keys() != chunks.keys():
        raise IndexingError(
            f"Chunks were made for generations {sorted(chunks)}, live are {sorted(numbered)}.",
            code="generations_differ",
            hint="Run the command again; another process began or dropped a generation.",
        )
    return numbered


def checked(vectors: NDArray[np.float32], embedding: EmbeddingSpec | None) -> NDArray[np.float32]:
    """The vectors of a chunk, shape (d,) or (n, d), which are such as ``embedding`` makes.

    Raises:
        IndexMismatchError: ``index_mismatch`` when they are longer, shorter or not finite.
    """
    if embedding is None or vectors.shape[-1] != embedding.dimensions:
        expected = "no vectors" if embedding is None else f"{embedding.dimensions} dimensions"
        raise IndexMismatchError(
            f"A vector of {vectors.shape[-1]} dimensions was given to a generation with {expected}.",
            hint="Run `evidencedesk reindex --model MODEL`.",
        )
    if not np.isfinite(vectors).all():
        raise IndexMismatchError(
            "An embedding model gave a vector that is not finite.",
            hint="Run `evidencedesk models verify`.",
        )
    return vectors


def cut_from(record: DocumentRecord | None, chunks: Sequence[IndexedChunk]) -> bool:
    """Whether the text that ``chunks`` were cut from is that of the record, the one stored."""
    stored = {record.content_hash} if record is not None else set()
    return {each.chunk.content_hash for each in chunks} <= {*stored, ""}


def refuse_other_text(record: DocumentRecord | None, document: Document) -> None:
    """A document is updated with the very text that is stored.

    Raises:
        IndexingError: ``text_differs``.
    """
    if record is None or record.content_hash != document.content_hash:
        raise IndexingError(
            f"The text of document {document.id!r} is not the one stored.",
            code="text_differs",
            hint="Replace the document instead of updating it.",
        )


def no_document(tenant: str, document_id: str) -> IndexingError:
    """The document is not stored."""
    return IndexingError(
        f"There is no document {document_id!r} in tenant {tenant!r}.",
        code="document_missing",
        hint="Ingest it first.",
    )
