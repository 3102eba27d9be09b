"""Cosines of every visible chunk, their moments, and the nearest: computed by the server.

Vectors are int8 codes with a scale, held as pgvector's ``halfvec``, in which integers to 2,048 are
exact. Products of codes are integers, and exact in pgvector's 32-bit sums up to 1,040 dimensions
whatever the codes (of unit vectors, far beyond). So a chunk's approximate cosine is the same to the
bit as in the embedded store, whatever other chunks there are and whichever worker computes it, and
so are mean and deviation, which are summed in fixed point (``adapters.stores.shared.moments``).

``(codes <#> question) + 0`` would be the form that no index answers; asking for every product does
the same. An index that answers approximately loses rows under a filter (recall .45 to .85 measured).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from evidencedesk.adapters.stores.postgres import approximate
from evidencedesk.adapters.stores.postgres.approximate import SAMPLED
from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.partitions import is_far
from evidencedesk.adapters.stores.postgres.placing import half_vector
from evidencedesk.adapters.stores.postgres.visible import Visible
from evidencedesk.adapters.stores.shared.quantization import quantize

_SUM_BITS = 62

_SCORED = """
    SELECT slot, -(codes <#> %(question)s::halfvec) * scale * %(scale)s::float8 AS cosine
    FROM vectors WHERE generation = %(generation)s AND class = ANY (%(classes)s::integer[])
"""
_SCORED_FAR = """
    SELECT slot, -min(codes <#> %(question)s::halfvec) * min(scale) * %(scale)s::float8 AS cosine
    FROM vectors WHERE generation = %(generation)s AND class = ANY (%(classes)s::integer[])
    GROUP BY class, slot
"""
"""The same. Grouped by the key of partitions, it is computed where the rows are, not where they are asked."""

_NEAREST = """
WITH scored AS MATERIALIZED ({scored}), unit AS (
    SELECT least(%(bits)s - exponent_of(nullif(greatest(max(cosine), -min(cosine)), 0)), 1000)
        AS shift FROM scored
)
SELECT shift, total::text, squares::text, (SELECT array_agg(slot) FROM (
    SELECT slot FROM scored ORDER BY cosine DESC, slot LIMIT %(limit)s) AS nearest)
FROM unit, LATERAL (
    SELECT sum(value) AS total, sum(value * value) AS squares
    FROM (SELECT round(cosine * unit)::bigint AS value
        FROM scored, (SELECT power(2::float8, shift) AS unit) AS power) AS fixed) AS sums
"""


_MOMENTS_OF_SAMPLE = f"""
WITH scored AS MATERIALIZED (
    SELECT -(codes <#> %(question)s::halfvec) * scale * %(scale)s::float8 AS cosine
    FROM vectors WHERE generation = %(generation)s AND {SAMPLED}
    AND class = ANY (%(classes)s::integer[])
), unit AS (
    SELECT least(%(bits)s - exponent_of(nullif(greatest(max(cosine), -min(cosine)), 0)), 1000)
        AS shift FROM scored
)
SELECT shift, total::text, squares::text, count FROM unit, LATERAL (
    SELECT sum(value) AS total, sum(value * value) AS squares, count(*) AS count
    FROM (SELECT round(cosine * unit)::bigint AS value
        FROM scored, (SELECT power(2::float8, shift) AS unit) AS power) AS fixed) AS sums
"""  # noqa: S608 - a constant

_NEAREST_BY_GRAPH = """
SELECT slot FROM vectors
WHERE generation = {generation} AND class = ANY (%(classes)s::integer[])
ORDER BY codes::halfvec({dimensions}) <=> %(question)s::halfvec({dimensions}) LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """The nearest chunks by approximate cosine, and what all cosines are like.

    Attributes:
        slots: of the nearest, ascending, int64.
        mean: of all.
        deviation: of all.
    """

    slots: NDArray[np.int64]
    mean: float = 0.0
    deviation: float = 0.0


def nearest(
    connection: Connection,
    visible: Visible,
    vector: NDArray[np.float32] | None,
    limit: int,
    *,
    least_visible: int = approximate.LEAST_VISIBLE,
) -> Nearest:
    """The ``limit`` chunks nearest to ``vector``; of equal ones the earlier.

    Found exactly, unless the operator has made a graph and ``least_visible`` vectors are visible.
    """
    if vector is None or not visible.vectors:
        return Nearest(np.zeros(0, np.int64))
    codes, scales = quantize(vector[None])
    values = {
        "question": half_vector(codes[0]),
        "scale": float(scales[0]),
        "generation": visible.generation,
        "classes": visible.classes,
        "bits": (_SUM_BITS - visible.vectors.bit_length()) // 2,
        "limit": limit,
    }
    if approximate.is_for(connection, visible, least_visible):
        return _nearest_by_graph(connection, values, len(vector))
    row = connection.execute(_nearest(connection, visible), values).fetchone()
    assert row is not None
    shift, total, squares, slots = row
    found = np.array(sorted(slots or ()), np.int64)
    if shift is None:
        return Nearest(found)
    return Nearest(found, *_moments(shift, int(total), int(squares), visible.vectors))


def _nearest(connection: Connection, visible: Visible) -> sql.Composed:
    far = is_far(connection, visible.classes)
    if far:
        connection.execute("SET LOCAL enable_partitionwise_aggregate = on")
    return sql.SQL(_NEAREST).format(scored=sql.SQL(_SCORED_FAR if far else _SCORED))


def _nearest_by_graph(
    connection: Connection, values: Mapping[str, object], dimensions: int
) -> Nearest:
    approximate.explore(connection)
    statement = sql.SQL(_NEAREST_BY_GRAPH).format(
        generation=sql.Literal(values["generation"]), dimensions=sql.Literal(dimensions)
    )
    slots = np.array([slot for (slot,) in connection.execute(statement, values)], np.int64)
    row = connection.execute(_MOMENTS_OF_SAMPLE, values).fetchone()
    assert row is not None
    shift, total, squares, count = row
    if shift is None:
        return Nearest(np.sort(slots))
    return Nearest(np.sort(slots), *_moments(shift, int(total), int(squares), count))


def _moments(shift: int, total: int, squares: int, count: int) -> tuple[float, float]:
    spread = count * squares - total * total
    mean = math.ldexp(total / count, -shift)
    return mean, math.ldexp(math.sqrt(spread / (count * count)), -shift)
