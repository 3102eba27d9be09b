"""What an index records of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evidencedesk.adapters.stores.postgres import schema
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.postgres.generations import read_generations
from evidencedesk.model import Generation


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an index records of itself.

    Attributes:
        address: where it is, without password.
        schema_version: of its tables.
        facts: time and circumstances of its creation.
        generations: all live ones, by id.
        documents: how many there are, in all tenants.
        chunks: how many chunks each generation has, by its id.
        bytes: size of all tables and indexes.
    """

    address: str
    schema_version: int
    facts: Mapping[str, str]
    generations: tuple[Generation, ...]
    documents: int
    chunks: Mapping[int, int] = field(default_factory=dict)
    bytes: int = 0


def read_info(connection: Connection, address: Address) -> IndexInfo:
    """What the open transaction sees."""
    documents, size = connection.execute(
        "SELECT (SELECT count(*) FROM documents), (SELECT sum(pg_total_relation_size(c.oid)) "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
        "WHERE nspname = %s AND relkind = 'r')::bigint",
        (address.schema,),
    ).fetchone() or (0, 0)
    return IndexInfo(
        address=address.shown,
        schema_version=schema.version_of(connection, address) or 0,
        facts=dict(connection.execute("SELECT name, value FROM facts").fetchall()),
        generations=read_generations(connection),
        documents=documents,
        chunks=dict(
            connection.execute(
                "SELECT generation, sum(chunks)::bigint FROM placements GROUP BY generation"
            ).fetchall()
        ),
        bytes=size,
    )
