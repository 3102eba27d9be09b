"""Stores whose content lies in partitions: on one server, and on two others beside the index's own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from postgres_stores import FixedClock, open_postgres, url_of

from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.testing.strategies import SPEC

TOGETHER_VARIABLE = "PYTEST_POSTGRES_TOGETHER"
TOGETHER_FILE = "postgres.together"


def together_urls(path: str) -> list[str]:
    """Addresses of the servers; the first is the index's own."""
    given = os.environ.get(TOGETHER_VARIABLE)
    files = (folder / TOGETHER_FILE for folder in Path(path).parents)
    found = given or next(file.read_text() for file in files if file.exists())
    return [str(url) for url in json.loads(found)]


def far_url_of(path: str) -> str:
    """Address of the index that stands for ``path`` and has its content on other servers."""
    schema = Address.parse(url_of(path)).schema
    return f"{together_urls(path)[0]}&schema={schema}"


def open_partitioned(path: str) -> PostgresStore:
    store = open_postgres(path)
    if not store.placing().partitions():
        store.placing().plan(3, run=True)
    return store


def open_far(path: str) -> PostgresStore:
    return _with_others(
        path,
        PostgresStore.open(far_url_of(path), create=True, clock=FixedClock(), embedding=SPEC),
    )


def opened_far(path: Path, **options: Any) -> PostgresStore:
    """Stands in for ``SQLiteStore.open``."""
    return _with_others(str(path), PostgresStore.open(far_url_of(str(path)), **options))


def _with_others(path: str, store: PostgresStore) -> PostgresStore:
    """All tenants are on the other servers, and readers have a login of their own there."""
    if store.placing().partitions():
        return store
    store.placing().plan(1, run=True)
    schema = Address.parse(url_of(path)).schema
    for name, url in zip(("north", "south"), together_urls(path)[1:], strict=True):
        store.placing().attach(name, f"{url}&schema={schema}", reader="far_reader", run=True)
    with store._pool.connection() as connection:
        connection.execute("UPDATE partitions SET taking = false WHERE server = ''")
    return store
