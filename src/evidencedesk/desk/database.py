"""Upkeep of an index on a database server, for its operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from evidencedesk.desk.desk import Desk
from evidencedesk.errors import UsageError


@runtime_checkable
class GraphStore(Protocol):
    """A store that can have an approximate index of vectors."""

    def make_graph(self) -> bool:
        """Make one for the generation that answers; False if it has one."""

    def drop_graph(self) -> bool:
        """Drop it; False if there is none."""


class KnownPartition(Protocol):
    """A part of an index, with whole tenants in it."""

    @property
    def number(self) -> int:
        """Which."""

    @property
    def server(self) -> str:
        """Name of the server it is on; empty for the index's own."""

    @property
    def tenants(self) -> int:
        """How many are there."""


class TenantPlacing(Protocol):
    """Where the tenants of an index are."""

    def partitions(self) -> Sequence[KnownPartition]:
        """All partitions, by number; none when the index is in one piece."""

    def plan(self, count: int, *, run: bool) -> str:
        """The DDL that makes ``count`` partitions; run if asked."""

    def attach(self, name: str, url: str, *, reader: str = "", run: bool) -> str:
        """The DDL that adds a partition on another server; run if asked."""

    def move(self, tenant: str, server: str) -> int:
        """Move a tenant while it answers; how many rows."""


@runtime_checkable
class PartitionedStore(Protocol):
    """A store that can have partitions."""

    def placing(self) -> TenantPlacing:
        """Where its tenants are."""


def placing_of(desk: Desk) -> TenantPlacing:
    """Where the tenants of the index are.

    Raises:
        UsageError: ``not_on_a_server``: the embedded store is one file.
    """
    store = desk._index.store()  # noqa: SLF001 - the desk's own package
    if not isinstance(store, PartitionedStore):
        raise _not_on_a_server(f"The index {desk.path} has no partitions; it is one file.")
    return store.placing()


def set_graph(desk: Desk, *, wanted: bool) -> bool:
    """Make or drop the approximate index of the generation that answers; whether that changed it.

    Raises:
        UsageError: ``not_on_a_server``: the embedded store is always searched exactly.
    """
    store = desk._index.store()  # noqa: SLF001 - the desk's own package
    if not isinstance(store, GraphStore):
        raise _not_on_a_server(
            f"The index {desk.path} has no approximate search; it is always searched exactly."
        )
    return store.make_graph() if wanted else store.drop_graph()


def _not_on_a_server(what: str) -> UsageError:
    return UsageError(
        what,
        code="not_on_a_server",
        hint="Name an index on a server: --index postgresql://...",
    )
