"""The embedded store on SQLite."""

from evidencedesk.adapters.stores.sqlite.info import IndexInfo
from evidencedesk.adapters.stores.sqlite.store import SQLiteStore

__all__ = ["IndexInfo", "SQLiteStore"]
