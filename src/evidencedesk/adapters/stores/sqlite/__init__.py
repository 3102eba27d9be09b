"""The embedded store on SQLite."""

from evidencedesk.adapters.stores.sqlite.store import IndexInfo, SQLiteStore

__all__ = ["IndexInfo", "SQLiteStore"]
