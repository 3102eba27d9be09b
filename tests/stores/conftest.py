from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.testing.strategies import SPEC


class FixedClock:
    def now(self) -> datetime:
        return datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


OpenSQLite = Callable[..., SQLiteStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "test.desk"


@pytest.fixture
def open_sqlite(path: Path) -> Iterator[OpenSQLite]:
    """Opens the store of the test as often as wanted; all are closed at the end."""
    stores: list[SQLiteStore] = []

    def opened(**options: Any) -> SQLiteStore:
        chosen: dict[str, Any] = {"create": True, "clock": FixedClock(), "embedding": SPEC}
        stores.append(SQLiteStore.open(path, **(chosen | options)))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()
