"""Generations: rows of the table, and the steps from one to the next."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import datetime

from evidencedesk.adapters.stores.shared.codecs import (
    decode_generation,
    encode_chunking,
    encode_embedding,
    encode_time,
)
from evidencedesk.adapters.stores.sqlite.schema import DELETE_SLOTS, SLOTS_PER_GENERATION
from evidencedesk.errors import IndexingError
from evidencedesk.model import ChunkingSettings, EmbeddingSpec, Generation

_COLUMNS = "SELECT id, state, embedding, chunking, normalisation, created_at FROM generations"

_DELETE_GENERATION = (
    "DELETE FROM placements WHERE generation = ?",
    "DELETE FROM segments WHERE generation = ?",
    "DELETE FROM changes WHERE generation = ?",
    "DELETE FROM generations WHERE id = ?",
)


def read_generations(connection: sqlite3.Connection) -> tuple[Generation, ...]:
    """All generations, by id."""
    return tuple(decode_generation(row) for row in connection.execute(_COLUMNS + " ORDER BY id"))


def read_generation(connection: sqlite3.Connection, number: int) -> Generation:
    """One generation.

    Raises:
        IndexingError: ``generation_missing``.
    """
    row = connection.execute(_COLUMNS + " WHERE id = ?", (number,)).fetchone()
    if row is None:
        known = ", ".join(str(generation.id) for generation in read_generations(connection))
        raise IndexingError(
            f"There is no generation {number}; there are {known}.",
            code="generation_missing",
            hint="Read the generations again; another process may have switched them.",
        )
    return decode_generation(row)


def add_generation(
    connection: sqlite3.Connection,
    state: str,
    embedding: EmbeddingSpec | None,
    chunking: ChunkingSettings,
    *,
    normalisation: str,
    now: datetime,
    runtime: Mapping[str, str],
) -> Generation:
    """A new generation; its slots follow from its id."""
    number = connection.execute(
        "INSERT INTO generations "
        "(state, embedding, chunking, normalisation, created_at, runtime, next_slot) "
        "VALUES (?, ?, ?, ?, ?, ?, 0)",
        (
            state,
            encode_embedding(embedding),
            encode_chunking(chunking),
            normalisation,
            encode_time(now),
            json.dumps(dict(runtime)),
        ),
    ).lastrowid
    assert number is not None
    connection.execute(
        "UPDATE generations SET next_slot = ? WHERE id = ?",
        (number * SLOTS_PER_GENERATION, number),
    )
    return read_generation(connection, number)


def refuse_second_building(connection: sqlite3.Connection) -> None:
    """Only one generation is built at a time.

    Raises:
        IndexingError: ``generation_exists``.
    """
    building = [g.id for g in read_generations(connection) if g.state == "building"]
    if building:
        raise IndexingError(
            f"Generation {building[0]} is being built already.",
            code="generation_exists",
            hint="Finish it with `evidencedesk reindex`, or drop it with `reindex --discard`.",
        )


def activate(connection: sqlite3.Connection, number: int) -> None:
    """Make a generation the active one.

    Raises:
        IndexingError: ``generation_missing``, or ``generation_incomplete`` when documents were not
            put into it.
    """
    read_generation(connection, number)
    lacking = connection.execute(
        "SELECT count(*) FROM documents WHERE doc NOT IN "
        "(SELECT doc FROM placements WHERE generation = ?)",
        (number,),
    ).fetchone()[0]
    if lacking:
        raise IndexingError(
            f"Generation {number} lacks {lacking} documents.",
            code="generation_incomplete",
            hint="Run `evidencedesk reindex` again; it goes on where it stopped.",
        )
    connection.execute(
        "UPDATE generations SET state = 'previous' WHERE state = 'active' AND id <> ?", (number,)
    )
    connection.execute("UPDATE generations SET state = 'active' WHERE id = ?", (number,))


def refuse_active(connection: sqlite3.Connection, number: int) -> None:
    """The active generation is not dropped.

    Raises:
        IndexingError: ``generation_missing`` or ``generation_active``.
    """
    if read_generation(connection, number).state == "active":
        raise IndexingError(
            f"Generation {number} is active.",
            code="generation_active",
            hint="Switch to another one first.",
        )


def drop_generation(connection: sqlite3.Connection, number: int) -> None:
    """Remove a generation with its chunks, vectors and postings; its files are orphans then."""
    slots = (number * SLOTS_PER_GENERATION, (number + 1) * SLOTS_PER_GENERATION - 1)
    for statement in DELETE_SLOTS:
        connection.execute(statement, slots)
    for statement in _DELETE_GENERATION:
        connection.execute(statement, (number,))
