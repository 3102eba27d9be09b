"""What one reader may see of one generation: classes, and counts over exactly its chunks."""

from __future__ import annotations

from dataclasses import dataclass

from evidencedesk.adapters.stores.postgres.connections import Connection


@dataclass(frozen=True, slots=True)
class Visible:
    """The visible chunks of a generation.

    Attributes:
        generation: which.
        classes: numbers of the admitted access classes, ascending.
        chunks: visible chunks, the N of BM25.
        length: sum of their lengths.
        vectors: how many of them have a vector.
    """

    generation: int
    classes: list[int]
    chunks: int
    length: int
    vectors: int


def read_visible(connection: Connection, generation: int, classes: frozenset[int]) -> Visible:
    """Count what ``classes`` admit in the generation."""
    row = connection.execute(
        "SELECT coalesce(sum(chunks), 0)::bigint, coalesce(sum(length), 0)::bigint, "
        "coalesce(sum(vectors), 0)::bigint FROM placements "
        "WHERE generation = %s AND class = ANY (%s::integer[])",
        (generation, sorted(classes)),
    ).fetchone()
    assert row is not None
    return Visible(generation, sorted(classes), *row)
