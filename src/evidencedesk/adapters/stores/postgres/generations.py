"""Generations: rows of the table, and the steps from one to the next. Called in a transaction."""

from __future__ import annotations

from psycopg import sql

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.shared.codecs import decode_generation
from evidencedesk.adapters.stores.shared.steps import (
    GenerationValues,
    no_generation,
    refuse_incomplete,
)
from evidencedesk.model import Generation

_COLUMNS = "SELECT id, state, embedding, chunking, normalisation, created_at FROM generations"

_DELETE_GENERATION = (
    "DELETE FROM chunks USING placements WHERE chunks.doc = placements.doc AND generation = %s "
    "AND slot BETWEEN place << 20 AND (place << 20) + chunks",
    "DELETE FROM vectors WHERE generation = %s",
    "DELETE FROM postings WHERE generation = %s",
    "DELETE FROM placements WHERE generation = %s",
    "DELETE FROM generations WHERE id = %s",
)


def share(connection: Connection) -> None:
    """Until the end of the transaction, let nobody begin, switch or drop a generation."""
    connection.execute("LOCK TABLE generations IN ROW SHARE MODE")


def hold(connection: Connection) -> None:
    """Until the end of the transaction, let nobody write documents or change generations."""
    connection.execute("LOCK TABLE generations IN EXCLUSIVE MODE")


def read_generations(connection: Connection) -> tuple[Generation, ...]:
    """All generations, by id."""
    rows = connection.execute(_COLUMNS + " ORDER BY id").fetchall()
    return tuple(decode_generation(row) for row in rows)


def read_generation(connection: Connection, number: int | None) -> Generation:
    """One generation, or the active one.

    Raises:
        IndexingError: ``generation_missing``.
    """
    rows = connection.execute(
        _COLUMNS + " WHERE coalesce(id = %s::integer, state = 'active')", (number,)
    ).fetchall()
    if not rows:
        raise no_generation(number, read_generations(connection))
    return decode_generation(rows[0])


def add_generation(connection: Connection, values: GenerationValues) -> Generation:
    """A new generation."""
    row = connection.execute(
        "INSERT INTO generations "
        "(state, embedding, chunking, normalisation, created_at, runtime) "
        "VALUES (%s, %s, %s, %s, %s, %s) RETURNING id",
        values,
    ).fetchone()
    assert row is not None
    return read_generation(connection, row[0])


def activate(connection: Connection, number: int) -> None:
    """Make a generation the active one.

    Raises:
        IndexingError: ``generation_missing``, or ``generation_incomplete`` when documents were not
            put into it.
    """
    read_generation(connection, number)
    row = connection.execute(
        "SELECT count(*) FROM documents WHERE NOT EXISTS (SELECT FROM placements "
        "WHERE placements.doc = documents.doc AND generation = %s)",
        (number,),
    ).fetchone()
    refuse_incomplete(number, row[0] if row else 0)
    connection.execute(
        "UPDATE generations SET state = 'previous' WHERE state = 'active' AND id <> %s", (number,)
    )
    connection.execute("UPDATE generations SET state = 'active' WHERE id = %s", (number,))


def drop_generation(connection: Connection, number: int) -> None:
    """Remove a generation with its chunks, vectors and postings."""
    for statement in _DELETE_GENERATION:
        connection.execute(statement, (number,))
    for name in (f"near_{number}", f"sample_{number}"):
        connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(name)))
