"""Approximate search for very large visible sets: an HNSW index that the operator asks for.

Exact search takes time in proportion to what is visible. Beyond :data:`LEAST_VISIBLE` chunks, and where
the reader sees most of the index, a graph answers in milliseconds and finds nearly all of the nearest
(Malkov and Yashunin, Efficient and Robust Approximate Nearest Neighbor Search, 2018). It has a price
that exact search has not: the graph is shared, so *which* of the nearest chunks are found may depend
on rows that the reader may not see, though no score and no statistic does. Therefore there is none
until the operator makes it. Mean and deviation are then those of a sample, one vector in 64 by a hash
of the vector itself: a function of what is visible and of nothing else.
"""

from __future__ import annotations

from psycopg import sql

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.visible import Visible
from evidencedesk.model import Generation

LEAST_VISIBLE = 100_000
"""Visible vectors from which the graph is asked."""

LEAST_SHARE = 0.5
"""Share of the generation's vectors that must be visible: under a narrow filter a graph loses rows."""

SAMPLED = "hashfloat4(scale) & 63 = 0"

_EXPLORED = 1000
_NEIGHBOURS = 32
_CONSTRUCTION = 128


def graph_of(generation: int) -> str:
    """Name of a generation's graph."""
    return f"near_{generation}"


def make_graph(connection: Connection, generation: Generation) -> bool:
    """Make the graph of a generation beside those who write; False without vectors or with one.

    Not in a transaction. Takes minutes for a million vectors.
    """
    if generation.embedding is None or has_graph(connection, generation.id):
        return False
    drop_graph(connection, generation.id)
    names = {
        "graph": sql.Identifier(graph_of(generation.id)),
        "sample": sql.Identifier(f"sample_{generation.id}"),
        "dimensions": sql.Literal(generation.embedding.dimensions),
        "generation": sql.Literal(generation.id),
        "neighbours": sql.Literal(_NEIGHBOURS),
        "construction": sql.Literal(_CONSTRUCTION),
        "sampled": sql.SQL(SAMPLED),
    }
    connection.execute("SET statement_timeout = 0")
    for statement in (
        "CREATE INDEX CONCURRENTLY {sample} ON vectors (class) "
        "WHERE generation = {generation} AND {sampled}",
        "CREATE INDEX CONCURRENTLY {graph} ON vectors "
        "USING hnsw ((codes::halfvec({dimensions})) halfvec_cosine_ops) "
        "WITH (m = {neighbours}, ef_construction = {construction}) "
        "WHERE generation = {generation}",
        "ANALYZE vectors",
    ):
        connection.execute(sql.SQL(statement).format(**names))
    connection.execute("RESET statement_timeout")
    return True


def drop_graph(connection: Connection, generation: int) -> bool:
    """Drop the graph of a generation; False when there is none. Not in a transaction."""
    found = _indexes(connection, generation)
    for name in found:
        connection.execute(
            sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name))
        )
    return bool(found)


def has_graph(connection: Connection, generation: int) -> bool:
    """Whether both indexes are there and whole."""
    return len(_indexes(connection, generation, "AND indisvalid")) == 2


def is_for(connection: Connection, visible: Visible, least_visible: int) -> bool:
    """Whether the graph is asked for this reader: by how much is visible, and how much there is."""
    if visible.vectors < least_visible or not has_graph(connection, visible.generation):
        return False
    row = connection.execute(
        "SELECT greatest(reltuples, 1) FROM pg_class WHERE oid = to_regclass('vectors')"
    ).fetchone()
    return row is not None and visible.vectors >= LEAST_SHARE * row[0]


def explore(connection: Connection) -> None:
    """Let the graph be searched thoroughly, and on until enough visible rows are found."""
    connection.execute(
        f"SET LOCAL hnsw.ef_search = {_EXPLORED}; SET LOCAL hnsw.iterative_scan = relaxed_order"
    )


def _indexes(connection: Connection, generation: int, and_where: str = "") -> list[str]:
    rows = connection.execute(
        "SELECT relname FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid "  # noqa: S608
        f"WHERE relnamespace = current_schema()::regnamespace AND relname = ANY (%s) {and_where}",
        ([graph_of(generation), f"sample_{generation}"],),
    ).fetchall()
    return [name for (name,) in rows]
