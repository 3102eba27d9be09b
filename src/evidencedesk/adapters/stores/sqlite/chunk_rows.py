"""Rows of chunks: text and place, postings, codes and vectors. Called in a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.shared.codecs import encode_location
from evidencedesk.adapters.stores.shared.quantization import quantize
from evidencedesk.adapters.stores.shared.steps import checked
from evidencedesk.adapters.stores.shared.terms import encode_terms, length_of
from evidencedesk.adapters.stores.shared.token_codes import encode_tokens
from evidencedesk.model import EmbeddingSpec, IndexedChunk


def insert_chunks(
    connection: sqlite3.Connection,
    first: int,
    doc: int,
    chunks: Sequence[IndexedChunk],
    embedding: EmbeddingSpec | None,
) -> None:
    """Insert the chunks of a document with slots from ``first`` on.

    Raises:
        IndexMismatchError: ``index_mismatch`` when a vector is not one of ``embedding``.
    """
    numbered = list(enumerate(chunks, first))
    connection.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                slot,
                doc,
                c.chunk.ordinal,
                encode_location(c.chunk.location),
                c.chunk.context,
                c.chunk.text,
            )
            for slot, c in numbered
        ),
    )
    vectors = [(slot, c, c.vector) for slot, c in numbered if c.vector is not None]
    coded = _codes_of([(slot, checked(vector, embedding)) for slot, _, vector in vectors])
    terms = encode_terms([c.terms for c in chunks])
    connection.executemany(
        "INSERT INTO features VALUES (?, ?, ?, ?, ?, ?)",
        (
            (slot, length_of(c.terms), *encoded, *coded.get(slot, (b"", 0.0)))
            for (slot, c), encoded in zip(numbered, terms, strict=True)
        ),
    )
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?)",
        ((slot, vector.astype("<f4").tobytes(), c.embedding_key) for slot, c, vector in vectors),
    )
    _insert_sentences(connection, numbered, embedding)
    connection.executemany(
        "INSERT INTO tokens VALUES (?, ?, ?, ?)",
        ((slot, *encode_tokens(c.tokens, embedding)) for slot, c in numbered if c.tokens),
    )


def _codes_of(
    vectors: Sequence[tuple[int, NDArray[np.float32]]],
) -> dict[int, tuple[bytes, float]]:
    if not vectors:
        return {}
    codes, scales = quantize(np.stack([vector for _, vector in vectors]))
    return {
        slot: (codes[row].tobytes(), float(scales[row])) for row, (slot, _) in enumerate(vectors)
    }


def _insert_sentences(
    connection: sqlite3.Connection,
    numbered: Sequence[tuple[int, IndexedChunk]],
    embedding: EmbeddingSpec | None,
) -> None:
    matrices = [
        (slot, checked(indexed.sentence_vectors, embedding))
        for slot, indexed in numbered
        if indexed.sentence_vectors is not None and len(indexed.sentence_vectors)
    ]
    if not matrices:
        return
    codes, scales = quantize(np.concatenate([matrix for _, matrix in matrices]))
    ends = np.cumsum([len(matrix) for _, matrix in matrices]).tolist()
    connection.executemany(
        "INSERT INTO sentences VALUES (?, ?, ?)",
        (
            (slot, codes[start:end].tobytes(), scales[start:end].astype("<f4").tobytes())
            for (slot, _), start, end in zip(matrices, [0, *ends], ends, strict=False)
        ),
    )
