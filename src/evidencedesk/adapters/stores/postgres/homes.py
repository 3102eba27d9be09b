"""Where tenants are: partitions are planned, servers attached, and tenants moved while they answer."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from evidencedesk.adapters.stores.postgres import partitions, remote
from evidencedesk.adapters.stores.postgres.connections import (
    Connection,
    Pool,
    operating,
    take_time,
    transaction,
)
from evidencedesk.adapters.stores.postgres.generations import hold
from evidencedesk.adapters.stores.postgres.partitions import MOST, Partition
from evidencedesk.errors import UsageError

_POLL = 0.05


class Placing:
    """The operator's view of partitions; see ``partitions``."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def partitions(self) -> tuple[Partition, ...]:
        """All of them; none when the index has none."""
        with self._pool.connection() as connection, operating(connection):
            return partitions.read_partitions(connection)

    def plan(self, count: int, *, run: bool) -> str:
        """The DDL that gives the index ``count`` partitions on its own server; run if asked.

        Raises:
            UsageError: ``already_partitioned``, or ``bad_partitions`` when the count is not 1 to 100.
        """
        if not 1 <= count <= MOST:
            raise UsageError(
                f"An index cannot have {count} partitions.",
                code="bad_partitions",
                hint=f"Give a number from 1 to {MOST}.",
            )
        with self._pool.connection() as connection:
            if partitions.is_partitioned(connection):
                raise UsageError(
                    "The index has partitions already.",
                    code="already_partitioned",
                    hint="Add servers to it with `evidencedesk db attach`.",
                )
            return self._done(partitions.plan(count), connection, run=run)

    def attach(self, name: str, url: str, *, reader: str = "", run: bool) -> str:
        """The DDL that adds a partition on the server at ``url``; run if asked, there and here.

        Args:
            name: what the server is called here.
            url: address and login of the owner there, as of an index.
            reader: login that readers' transactions use there, ``NAME`` or ``NAME:PASSWORD``; empty
                for the owner's.
            run: do it.

        Raises:
            UsageError: ``not_partitioned`` or ``server_attached``.
            SettingsError: ``bad_index_url``.
            IndexUnavailableError: ``index_unreachable`` or ``server_unprepared``, of either server.
        """
        with self._pool.connection() as connection:
            known = self._known(connection)
            if name in {each.server for each in known}:
                raise UsageError(
                    f"A server is called {name!r} already.",
                    code="server_attached",
                    hint="Give this one another name.",
                )
            number = max(each.number for each in known) + 1
            server = remote.Server.parse(name, url, reader)
            if run:
                remote.prepare(server, number)
            return self._done(
                remote.attach(server, number, self._pool.address.schema), connection, run=run
            )

    def move(self, tenant: str, server: str) -> int:
        """Move a tenant to a server (empty: the index's own), while it answers; how many rows.

        Writers wait; readers do not.

        Raises:
            UsageError: ``not_partitioned``, ``unknown_server`` or ``unknown_tenant``.
        """
        with self._pool.connection() as connection:
            known = self._known(connection)
            candidates = [each for each in known if each.server == server and each.number]
            if not candidates:
                raise UsageError(
                    f"No server is called {server!r} here.",
                    code="unknown_server",
                    hint="`evidencedesk db partitions` lists them.",
                )
            target = min(candidates, key=lambda each: each.tenants)
            with transaction(connection):
                hold(connection)
                take_time(connection)
                old = partitions.copy_tenant(connection, tenant, target.number)
                local = not any(each.server for each in known if each.number in old.homes)
                if local:
                    partitions.drop_copied(connection, old.classes)
            if not local:
                _outlive_readers(connection)
                with transaction(connection):
                    take_time(connection)
                    partitions.drop_copied(connection, old.classes)
            return old.rows

    def _known(self, connection: Connection) -> tuple[Partition, ...]:
        known = partitions.read_partitions(connection)
        if not known:
            raise UsageError(
                "The index has no partitions.",
                code="not_partitioned",
                hint="Give it some with `evidencedesk db plan --partitions N --run`.",
            )
        return known

    def _done(self, statements: Iterable[str], connection: Connection, *, run: bool) -> str:
        written = [f"{statement.strip().rstrip(';')};" for statement in statements]
        if run:
            with _alone(connection):
                for statement in written:
                    connection.execute(statement.encode())
        return "\n".join(written)


def refuse_partitions(connection: Connection) -> None:
    """Refuse what only tables in one piece can have.

    Raises:
        UsageError: ``partitioned``.
    """
    if partitions.is_partitioned(connection):
        raise UsageError(
            "An index in partitions has no approximate search; it is always searched exactly.",
            code="partitioned",
            hint="Nothing needs to be done: a reader asks the one partition that he may see.",
        )


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    with transaction(connection):
        hold(connection)
        take_time(connection)
        yield


def _outlive_readers(connection: Connection) -> None:
    """Wait for transactions that began before now: they still ask for rows where they were."""
    row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    earlier = (
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE xact_start < %s "
        "AND pid <> pg_backend_pid() AND datname = current_database())"
    )
    while connection.execute(earlier, row).fetchone() == (True,):
        time.sleep(_POLL)
