"""What an index records of itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evidencedesk.adapters.stores.sqlite import schema
from evidencedesk.adapters.stores.sqlite.connections import Files
from evidencedesk.adapters.stores.sqlite.generations import read_generations
from evidencedesk.model import Generation


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an index records of itself.

    Attributes:
        path: its folder.
        schema_version: of the database.
        facts: time and circumstances of its creation.
        generations: all live ones, by id.
        documents: how many there are, in all tenants.
        chunks: how many chunks each generation has, by its id.
        bytes: size of all files.
    """

    path: Path
    schema_version: int
    facts: Mapping[str, str]
    generations: tuple[Generation, ...]
    documents: int
    chunks: Mapping[int, int] = field(default_factory=dict)
    bytes: int = 0


def read_info(connection: sqlite3.Connection, files: Files) -> IndexInfo:
    """What the open transaction sees."""
    return IndexInfo(
        path=files.folder,
        schema_version=schema.version_of(connection),
        facts=dict(connection.execute("SELECT name, value FROM facts")),
        generations=read_generations(connection),
        documents=connection.execute("SELECT count(*) FROM documents").fetchone()[0],
        chunks=dict(
            connection.execute(
                "SELECT generation, sum(last - first + 1) FROM placements GROUP BY generation"
            )
        ),
        bytes=sum(f.stat().st_size for f in files.folder.rglob("*") if f.is_file()),
    )
