from __future__ import annotations

from datetime import UTC, datetime

from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.protocols import Store
from evidencedesk.testing.store_contract import StoreContract
from evidencedesk.testing.store_permissions import PermissionContract
from evidencedesk.testing.strategies import SPEC


class FixedClock:
    def now(self) -> datetime:
        return datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


def open_sqlite(path: str) -> Store:
    return SQLiteStore.open(path, create=True, clock=FixedClock(), embedding=SPEC)


def open_sqlite_that_compacts_often(path: str) -> Store:
    return SQLiteStore.open(path, create=True, clock=FixedClock(), embedding=SPEC, compact_after=5)


class TestSQLiteStore(StoreContract):
    open_store = staticmethod(open_sqlite)

    def tidy(self, store: Store) -> None:
        assert isinstance(store, SQLiteStore)
        store.compact()


class TestSQLiteStoreWithSmallSegments(PermissionContract):
    open_store = staticmethod(open_sqlite_that_compacts_often)
