"""Stores on the test server, one schema per path, for tests of the conformance suites."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.testing.strategies import SPEC

GIVEN_VARIABLE = "EVIDENCEDESK_TEST_DATABASE_URL"
URL_VARIABLE = "PYTEST_POSTGRES_URL"
URL_FILE = "postgres.url"


class FixedClock:
    def now(self) -> datetime:
        return datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


def server_url(path: str) -> str:
    """Address of the test server; processes forked before it ran find it beside their files."""
    given = os.environ.get(URL_VARIABLE)
    if given:
        return given
    files = (folder / URL_FILE for folder in Path(path).parents)
    return next(file.read_text() for file in files if file.exists())


def url_of(path: str) -> str:
    """Address of the index that stands for ``path``."""
    base = server_url(path)
    name = hashlib.sha256(path.encode()).hexdigest()[:24]
    return f"{base}{'&' if '?' in base else '?'}schema=test_{name}"


def opened(path: Path, **options: Any) -> PostgresStore:
    """Stands in for ``SQLiteStore.open``."""
    return PostgresStore.open(url_of(str(path)), **options)


def open_postgres(path: str) -> PostgresStore:
    return PostgresStore.open(url_of(path), create=True, clock=FixedClock(), embedding=SPEC)
