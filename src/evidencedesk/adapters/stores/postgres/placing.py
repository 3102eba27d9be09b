"""Putting a document's chunks into a generation, and taking them out. Called in a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.schema import SLOT_BITS, SLOTS_PER_PLACE
from evidencedesk.adapters.stores.shared.codecs import encode_location
from evidencedesk.adapters.stores.shared.quantization import quantize
from evidencedesk.adapters.stores.shared.steps import checked
from evidencedesk.adapters.stores.shared.terms import encode_terms
from evidencedesk.adapters.stores.shared.token_codes import encode_tokens
from evidencedesk.errors import IndexingError
from evidencedesk.model import EmbeddingSpec, IndexedChunk
from evidencedesk.model.moving import MovedChunk
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
    encoded = [_moved(chunk, embedding) for chunk in chunks]
    insert_placement(connection, generation, doc, encoded, place=place, number=number)


def insert_placement(
    connection: Connection,
    generation: int,
    doc: int,
    chunks: Sequence[MovedChunk],
    *,
    place: int,
    number: int,
) -> None:
    """Put chunks that are encoded into a new ``place``, with ``number`` as their access class."""
    first = place << SLOT_BITS
    lengths = [int(np.frombuffer(chunk.counts, "<u4").sum()) for chunk in chunks]
    postings = _postings(chunks, lengths, first)
    connection.execute(
        "INSERT INTO placements (doc, generation, place, class, chunks, length, vectors, terms) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
        (
            doc,
            generation,
            place,
            number,
            len(chunks),
            sum(lengths),
            sum(chunk.vector is not None for chunk in chunks),
            list(postings),
        ),
    )
    _copy(
        connection,
        "chunks (slot, doc, class, ordinal, location, context, text, length, embedding_key, "
        "vector, sentence_codes, sentence_scales, token_spans, token_codes, token_scales)",
        (
            (slot, doc, number, *_columns_of(chunk, length))
            for slot, (chunk, length) in enumerate(zip(chunks, lengths, strict=True), first)
        ),
    )
    _copy(
        connection,
        "vectors (slot, generation, class, scale, codes)",
        _vector_rows(first, generation, number, chunks),
    )
    _copy(
        connection,
        "postings (generation, term, class, place, entries)",
        ((generation, term, number, place, entries) for term, entries in postings.items()),
    )


def _columns_of(chunk: MovedChunk, length: int) -> tuple[object, ...]:
    return (
        chunk.ordinal,
        chunk.location,
        chunk.context.encode(),
        chunk.text.encode(),
        length,
        chunk.embedding_key,
        chunk.vector,
        chunk.sentence_codes,
        chunk.sentence_scales,
        chunk.token_spans,
        chunk.token_codes,
        chunk.token_scales,
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


def _copy(connection: Connection, into: str, rows: Iterable[tuple[object, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _postings(chunks: Sequence[MovedChunk], lengths: Sequence[int], first: int) -> dict[int, bytes]:
    """For each term of the document its entries, by slot."""
    sizes = [len(chunk.counts) // 4 for chunk in chunks]
    rows = np.repeat(np.arange(len(chunks)), sizes)
    terms = np.frombuffer(b"".join(chunk.terms for chunk in chunks), "<i8")
    entries = np.empty(len(terms), ENTRY)
    entries["slot"] = first + rows
    entries["length"] = np.array(lengths, np.uint32)[rows]
    entries["count"] = np.frombuffer(b"".join(chunk.counts for chunk in chunks), "<u4")
    order = np.argsort(terms, kind="stable")
    distinct, starts = np.unique(terms[order], return_index=True)
    ordered = entries[order].tobytes()
    bounds = [*(starts * ENTRY.itemsize).tolist(), len(ordered)]
    return {
        term: ordered[start:end]
        for term, (start, end) in zip(distinct.tolist(), pairwise(bounds), strict=True)
    }


def _moved(indexed: IndexedChunk, embedding: EmbeddingSpec | None) -> MovedChunk:
    chunk, vector = indexed.chunk, indexed.vector
    terms, counts = encode_terms([indexed.terms])[0]
    codes, scales = _sentences(indexed, embedding)
    tokens = encode_tokens(indexed.tokens, embedding) if indexed.tokens else (None, None, None)
    return MovedChunk(
        ordinal=chunk.ordinal,
        location=encode_location(chunk.location),
        context=chunk.context,
        text=chunk.text,
        terms=terms,
        counts=counts,
        embedding_key=indexed.embedding_key if vector is not None else "",
        vector=None if vector is None else checked(vector, embedding).astype("<f4").tobytes(),
        sentence_codes=codes,
        sentence_scales=scales,
        token_spans=tokens[0],
        token_codes=tokens[1],
        token_scales=tokens[2],
    )


def _sentences(
    indexed: IndexedChunk, embedding: EmbeddingSpec | None
) -> tuple[bytes | None, bytes | None]:
    vectors = indexed.sentence_vectors
    if vectors is None or not len(vectors):
        return None, None
    codes, scales = quantize(checked(vectors, embedding))
    return codes.tobytes(), scales.astype("<f4").tobytes()


def _vector_rows(
    first: int, generation: int, number: int, chunks: Sequence[MovedChunk]
) -> Iterator[tuple[object, ...]]:
    held = [(first + row, c.vector) for row, c in enumerate(chunks) if c.vector is not None]
    if not held:
        return
    codes, scales = quantize(np.stack([np.frombuffer(vector, "<f4") for _, vector in held]))
    for (slot, _), coded, scale in zip(held, codes, scales.tolist(), strict=True):
        yield slot, generation, number, scale, half_vector(coded)
