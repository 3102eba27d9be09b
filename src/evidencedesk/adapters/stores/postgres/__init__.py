"""The store on PostgreSQL with pgvector."""

from evidencedesk.adapters.stores.postgres.info import IndexInfo
from evidencedesk.adapters.stores.postgres.store import PostgresStore

__all__ = ["IndexInfo", "PostgresStore"]
