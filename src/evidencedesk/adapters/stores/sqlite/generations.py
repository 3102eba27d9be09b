"""Generations: rows of the table, and the steps from one to the next."""

from __future__ import annotations

import sqlite3

from evidencedesk.adapters.stores.shared.codecs import decode_generation
from evidencedesk.adapters.stores.shared.steps import (
    GenerationValues,
    no_generation,
    refuse_incomplete,
)
from evidencedesk.adapters.stores.sqlite.schema import DELETE_SLOTS, SLOTS_PER_GENERATION
from evidencedesk.model import Generation

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
        raise no_generation(number, read_generations(connection))
    return decode_generation(row)


def add_generation(connection: sqlite3.Connection, values: GenerationValues) -> Generation:
    """A new generation; its slots follow from its id."""
    number = connection.execute(
        "INSERT INTO generations "
        "(state, embedding, chunking, normalisation, created_at, runtime, next_slot) "
        "VALUES (?, ?, ?, ?, ?, ?, 0)",
        values,
    ).lastrowid
    assert number is not None
    connection.execute(
        "UPDATE generations SET next_slot = ? WHERE id = ?",
        (number * SLOTS_PER_GENERATION, number),
    )
    return read_generation(connection, number)


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
    refuse_incomplete(number, lacking)
    connection.execute(
        "UPDATE generations SET state = 'previous' WHERE state = 'active' AND id <> ?", (number,)
    )
    connection.execute("UPDATE generations SET state = 'active' WHERE id = ?", (number,))


def drop_generation(connection: sqlite3.Connection, number: int) -> None:
    """Remove a generation with its chunks, vectors and postings; its files are orphans then."""
    slots = (number * SLOTS_PER_GENERATION, (number + 1) * SLOTS_PER_GENERATION - 1)
    for statement in DELETE_SLOTS:
        connection.execute(statement, slots)
    for statement in _DELETE_GENERATION:
        connection.execute(statement, (number,))
