"""Connections to the server, and the two kinds of transaction: a reader's and a writer's.

A reader's transaction is one snapshot of one committed state, read-only, under a role that owns nothing
and has no way round row-level security; who the reader is, is set for that transaction only. With
nothing set, no policy admits any row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.postgres import failures
from evidencedesk.adapters.stores.postgres.address import Address

Connection = psycopg.Connection[tuple[Any, ...]]

READER = "evidencedesk_reader"
"""The role that reads: no login, owns nothing, row-level security applies to it."""

_BEGIN = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL ROLE {role}; "
    "SET LOCAL evidencedesk.tenant = {tenant}; SET LOCAL evidencedesk.roles = {roles}; "
    "SET LOCAL evidencedesk.statuses = {statuses}; "
    "SET LOCAL evidencedesk.administrator = {administrator}; "
    "SET LOCAL evidencedesk.auditor = {auditor}"
)


_RETRY = 0.5
"""Seconds between attempts to reach a server. The pool's own pauses double, and outlast an outage."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a connection may take, in seconds.

    Attributes:
        connect: to get a connection.
        statement: for one statement.
        lock: to wait for a lock.
        idle: for a transaction in which nothing happens.
        cut: until a network that was cut is noticed.
        connections: how many one process opens at most.
    """

    connect: float = 10.0
    statement: float = 60.0
    lock: float = 5.0
    idle: float = 300.0
    cut: float = 30.0
    connections: int = 8


class Pool:
    """Connections of one process, each lent to one user at a time, opened when they are needed."""

    def __init__(self, address: Address, limits: Limits) -> None:
        self.address = address
        self._limits = limits
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            _conninfo(address, limits),
            kwargs={"autocommit": True, "prepare_threshold": None},
            min_size=0,
            max_size=limits.connections,
            timeout=limits.connect,
            reconnect_timeout=_RETRY,
            check=ConnectionPool.check_connection,
            num_workers=1,
            open=False,
        )

    def open(self) -> None:
        """Find out whether there is a server, with its own words if there is none.

        Raises:
            IndexUnavailableError: ``index_unreachable`` or ``index_busy``.
        """
        with failures.translated(self.address):
            self._greet()
        self._pool.open()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection; PostgreSQL's errors come out as ours."""
        with failures.translated(self.address):
            lent = self._lend()
            try:
                yield lent
            finally:
                self._pool.putconn(lent)

    def _lend(self) -> Connection:
        """A connection; a server that comes back is found within a second."""
        for _ in range(max(1, round(self._limits.connect / _RETRY))):
            try:
                return self._pool.getconn(timeout=_RETRY)
            except PoolTimeout as error:
                waited = error
        self._greet()
        raise waited

    def _greet(self) -> None:
        """Connect once outside the pool, which does not tell why it cannot."""
        psycopg.connect(_conninfo(self.address, self._limits)).close()

    def close(self) -> None:
        """Close the idle connections now and the lent ones when they come back."""
        self._pool.close()


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """One write transaction: on the disk as a whole at the end, undone when anything is raised."""
    with connection.transaction():
        yield


@contextmanager
def reading(connection: Connection, access: AccessFilter) -> Iterator[None]:
    """One reader's transaction: everything read in it is of one committed state, and hers to see."""
    connection.execute(
        _BEGIN.format(
            role=sql.Identifier(READER),
            tenant=sql.Literal(access.tenant),
            roles=sql.Literal(json.dumps(sorted(access.roles))),
            statuses=sql.Literal(json.dumps(sorted(access.statuses))),
            administrator=sql.Literal(json.dumps(access.administrator)),
            auditor=sql.Literal(json.dumps(access.auditor)),
        )
    )
    try:
        yield
    finally:
        if not connection.broken:
            connection.execute("ROLLBACK")


@contextmanager
def operating(connection: Connection) -> Iterator[None]:
    """A read-only transaction of the operator, of one committed state, that may take its time."""
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    take_time(connection)
    try:
        yield
    finally:
        if not connection.broken:
            connection.execute("ROLLBACK")


def take_time(connection: Connection) -> None:
    """Let statements of the open transaction take as long as they do: they touch a whole index."""
    connection.execute("SET LOCAL statement_timeout = 0")


def _conninfo(address: Address, limits: Limits) -> str:
    options = {
        "search_path": f"{address.schema},public,extensions",
        "statement_timeout": f"{limits.statement}s",
        "lock_timeout": f"{limits.lock}s",
        "idle_in_transaction_session_timeout": f"{limits.idle}s",
        "client_min_messages": "warning",
    }
    written = " ".join(f"-c {name}={value}" for name, value in options.items())
    return make_conninfo(
        address.conninfo,
        options=written,
        keepalives_idle=max(1, round(limits.cut / 3)),
        keepalives_interval=max(1, round(limits.cut / 6)),
        keepalives_count=4,
        tcp_user_timeout=round(1000 * limits.cut),
        connect_timeout=max(2, round(limits.connect)),
        application_name="evidencedesk",
    )
