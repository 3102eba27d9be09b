"""Upkeep of an index on a database server, for its operator."""

from __future__ import annotations

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


def set_graph(desk: Desk, *, wanted: bool) -> bool:
    """Make or drop the approximate index of the generation that answers; whether that changed it.

    Raises:
        UsageError: ``not_on_a_server``: the embedded store is always searched exactly.
    """
    store = desk._index.store()  # noqa: SLF001 - the desk's own package
    if not isinstance(store, GraphStore):
        raise UsageError(
            f"The index {desk.path} has no approximate search; it is always searched exactly.",
            code="not_on_a_server",
            hint="Name an index on a server: --index postgresql://...",
        )
    return store.make_graph() if wanted else store.drop_graph()
