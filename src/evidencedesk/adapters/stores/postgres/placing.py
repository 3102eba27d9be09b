"""Putting a document's chunks into a generation, and taking them out. Called in a transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.schema import SLOT_BITS, SLOTS_PER_PLACE
from evidencedesk.adapters.stores.sqlite.codecs import encode_location
from evidencedesk.adapters.stores.sqlite.quantization import quantize
from evidencedesk.errors import IndexingError, IndexMismatchError
from evidencedesk.model import EmbeddingSpec, IndexedChunk
from evidencedesk.text.hashing import hash_of

ENTRY = np.dtype([("slot", "<i8"), ("length", "<u4"), ("count", "<u4")])
"""A posting: which chunk, how long it is for BM25, how often it holds the term."""

_WRAP = 1 << 64


def place_chunks(
    connection: Connection,
    generation: int,
    doc: int,
    chunks: Sequence[IndexedChunk],
    *,
    embedding: EmbeddingSpec | None,
) -> None:
    """Take the document's chunks in the generation out and put ``chunks`` in.

    Raises:
        IndexMismatchError: ``index_mismatch`` when a vector is not one of ``embedding``.
        IndexingError: ``too_many_chunks``.
    """
    if len(chunks) >= SLOTS_PER_PLACE:
        raise IndexingError(
            f"A document of {len(chunks):,} chunks is larger than {SLOTS_PER_PLACE - 1:,}.",
            code="too_many_chunks",
            hint="Split the file.",
        )
    take_out(connection, generation, doc)
    row = connection.execute(
        "SELECT nextval('places'), class FROM documents WHERE doc = %s", (doc,)
    ).fetchone()
    assert row is not None
    place, number = row
    first = place << SLOT_BITS
    postings = _postings(chunks, first)
    connection.execute(
        "INSERT INTO placements (doc, generation, place, class, chunks, length, vectors, terms) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
        (
            doc,
            generation,
            place,
            number,
            len(chunks),
            sum(sum(c.terms.values()) for c in chunks),
            sum(c.vector is not None for c in chunks),
            list(postings),
        ),
    )
    _copy(
        connection,
        "chunks (slot, doc, class, ordinal, location, context, text, length, embedding_key, "
        "vector, sentence_codes, sentence_scales)",
        _chunk_rows(first, doc, number, chunks, embedding),
    )
    _copy(
        connection,
        "vectors (slot, generation, class, scale, codes)",
        _vector_rows(first, generation, number, chunks, embedding),
    )
    _copy(
        connection,
        "postings (generation, term, class, place, entries)",
        ((generation, term, number, place, entries) for term, entries in postings.items()),
    )


def take_out(connection: Connection, generation: int, doc: int) -> None:
    """Remove the chunks of a document in one generation, with their vectors and postings."""
    placed = connection.execute(
        "DELETE FROM placements WHERE generation = %s AND doc = %s "
        "RETURNING place, class, chunks, terms",
        (generation, doc),
    ).fetchone()
    if placed is None:
        return
    place, number, chunks, terms = placed
    slots = (place << SLOT_BITS, (place << SLOT_BITS) + chunks)
    connection.execute("DELETE FROM chunks WHERE slot BETWEEN %s AND %s", slots)
    connection.execute("DELETE FROM vectors WHERE slot BETWEEN %s AND %s", slots)
    connection.execute(
        "DELETE FROM postings WHERE generation = %s AND term = ANY (%s) AND class = %s "
        "AND place = %s",
        (generation, terms, number, place),
    )


def signed_hash(term: str) -> int:
    """The term's 64-bit number as PostgreSQL's signed ``bigint``."""
    number = hash_of(term)
    return number - _WRAP if number >= _WRAP >> 1 else number


def half_vector(codes: NDArray[np.int8]) -> str:
    """Codes as pgvector reads them; integers of this size are exact in its 16-bit floats."""
    return f"[{','.join(map(str, codes.tolist()))}]"


def _copy(connection: Connection, into: str, rows: Iterator[tuple[object, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _postings(chunks: Sequence[IndexedChunk], first: int) -> dict[int, bytes]:
    entries: dict[int, dict[int, int]] = defaultdict(dict)
    lengths = [sum(chunk.terms.values()) for chunk in chunks]
    for row, chunk in enumerate(chunks):
        for term, count in chunk.terms.items():
            held = entries[signed_hash(term)]
            held[row] = held.get(row, 0) + count
    return {
        term: np.array(
            [(first + row, lengths[row], count) for row, count in held.items()], ENTRY
        ).tobytes()
        for term, held in entries.items()
    }


def _chunk_rows(
    first: int,
    doc: int,
    number: int,
    chunks: Sequence[IndexedChunk],
    embedding: EmbeddingSpec | None,
) -> Iterator[tuple[object, ...]]:
    for row, indexed in enumerate(chunks):
        chunk, vector = indexed.chunk, indexed.vector
        yield (
            first + row,
            doc,
            number,
            chunk.ordinal,
            encode_location(chunk.location),
            chunk.context.encode(),
            chunk.text.encode(),
            sum(indexed.terms.values()),
            indexed.embedding_key if vector is not None else "",
            None if vector is None else _checked(vector, embedding).astype("<f4").tobytes(),
            *_sentences(indexed, embedding),
        )


def _sentences(
    indexed: IndexedChunk, embedding: EmbeddingSpec | None
) -> tuple[bytes | None, bytes | None]:
    vectors = indexed.sentence_vectors
    if vectors is None or not len(vectors):
        return None, None
    codes, scales = quantize(_checked(vectors, embedding))
    return codes.tobytes(), scales.astype("<f4").tobytes()


def _vector_rows(
    first: int,
    generation: int,
    number: int,
    chunks: Sequence[IndexedChunk],
    embedding: EmbeddingSpec | None,
) -> Iterator[tuple[object, ...]]:
    held = [(row, c.vector) for row, c in enumerate(chunks) if c.vector is not None]
    if not held:
        return
    codes, scales = quantize(np.stack([_checked(vector, embedding) for _, vector in held]))
    for (row, _), coded, scale in zip(held, codes, scales.tolist(), strict=True):
        yield first + row, generation, number, scale, half_vector(coded)


def _checked(vectors: NDArray[np.float32], embedding: EmbeddingSpec | None) -> NDArray[np.float32]:
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
