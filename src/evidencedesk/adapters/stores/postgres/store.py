"""The store for many readers and writers on many machines: one schema of a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Self

from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.postgres import approximate, checks, failures, moving, schema
from evidencedesk.adapters.stores.postgres.access_classes import admitted
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import (
    Connection,
    Limits,
    Pool,
    operating,
    reading,
    take_time,
    transaction,
)
from evidencedesk.adapters.stores.postgres.generations import (
    add_generation,
    hold,
    read_generation,
    read_generations,
)
from evidencedesk.adapters.stores.postgres.homes import Placing, refuse_partitions
from evidencedesk.adapters.stores.postgres.info import IndexInfo, read_info
from evidencedesk.adapters.stores.postgres.outbox import PostgresOutbox
from evidencedesk.adapters.stores.postgres.partitions import begin_snapshot
from evidencedesk.adapters.stores.postgres.receipts import PostgresLedger
from evidencedesk.adapters.stores.postgres.snapshot import PostgresSnapshot
from evidencedesk.adapters.stores.postgres.writer import PostgresWriter
from evidencedesk.adapters.stores.shared.codecs import encode_time
from evidencedesk.adapters.stores.shared.steps import generation_values
from evidencedesk.model import ChunkingSettings, EmbeddingSpec
from evidencedesk.model.moving import MovedPiece
from evidencedesk.protocols import Clock

_NOTHING: Mapping[str, str] = MappingProxyType({})


class PostgresStore:
    """Documents, chunks, vectors and postings in one schema; see ``protocols.Store``.

    Safe for threads and for processes; a process that forks must open its own afterwards.
    """

    def __init__(self, pool: Pool, *, clock: Clock, runtime: Mapping[str, str]) -> None:
        self._pool = pool
        self._clock = clock
        self._runtime = runtime

    @classmethod
    def open(
        cls,
        url: str | Path,
        *,
        create: bool = False,
        clock: Clock,
        embedding: EmbeddingSpec | None = None,
        chunking: ChunkingSettings | None = None,
        normalisation: str = "",
        runtime: Mapping[str, str] = _NOTHING,
        limits: Limits | None = None,
    ) -> Self:
        """Open the index at ``url``, or make it there when ``create`` is true and there is none.

        An index of an earlier schema is brought up to date if this login may do that.

        Args:
            url: ``postgresql://USER@HOST/DATABASE?schema=NAME``.
            create: make an index where there is none.
            clock: where times come from.
            embedding: model of the first generation of a new index, None for keywords only.
            chunking: chunking of the first generation of a new index.
            normalisation: version of the keyword analysis of a new index.
            runtime: what computes vectors here, recorded with each generation that this store begins.
            limits: what a connection may take.

        Raises:
            SettingsError: ``bad_index_url``.
            IndexUnavailableError: ``index_missing``, ``index_unreachable``, ``index_busy``,
                ``server_unprepared``.
            IndexDamagedError: ``index_not_ours``.
            IndexMismatchError: ``index_mismatch``, made by a newer EvidenceDesk.
        """
        address = Address.parse(str(url))
        pool = Pool(address, limits or Limits())
        pool.open()
        store = cls(pool, clock=clock, runtime=runtime)
        with ExitStack() as failed:
            failed.callback(store.close)
            with pool.connection() as connection:
                if store._needs_migration(connection, create=create):
                    with transaction(connection):
                        schema.lock(connection, address.schema)
                        take_time(connection)
                        schema.migrate(connection, address)
                        store._begin(
                            connection, embedding, chunking or ChunkingSettings(), normalisation
                        )
            failed.pop_all()
        return store

    @contextmanager
    def read(
        self, *, access: AccessFilter, generation: int | None = None
    ) -> Iterator[PostgresSnapshot]:
        """See ``protocols.Store.read``."""
        with self._pool.connection() as connection, reading(connection, access):
            self._refuse_other_schema(connection)
            found = read_generation(connection, generation)
            classes = admitted(connection, access)
            begin_snapshot(connection, classes[1])
            yield PostgresSnapshot(connection, found, access, *classes)

    @contextmanager
    def write(self) -> Iterator[PostgresWriter]:
        """See ``protocols.Store.write``."""
        if not self.ledger().writable:
            raise failures.read_only(self._pool.address)
        with self._pool.connection() as connection:
            self._refuse_other_schema(connection)
            yield PostgresWriter(connection, self._pool.address, self._clock, self._runtime)

    def ledger(self) -> PostgresLedger:
        """See ``protocols.Store.ledger``."""
        return PostgresLedger(self._pool)

    def outbox(self) -> PostgresOutbox:
        """See ``protocols.Store.outbox``."""
        return PostgresOutbox(self._pool)

    def check(self) -> tuple[str, ...]:
        """See ``protocols.Store.check``."""
        with self._pool.connection() as connection, operating(connection):
            return tuple(checks.disagreements(connection))

    @contextmanager
    def pieces(self) -> Iterator[Iterator[MovedPiece]]:
        """See ``protocols.MovableStore.pieces``."""
        with self._pool.connection() as connection, operating(connection):
            yield moving.pieces_of(connection)

    def fill(self, pieces: Iterable[MovedPiece]) -> None:
        """See ``protocols.MovableStore.fill``."""
        with self._pool.connection() as connection, transaction(connection):
            hold(connection)
            take_time(connection)
            moving.fill(connection, pieces)

    def make_graph(self) -> bool:
        """Make an approximate index of the generation that answers; False if it has one.

        See ``approximate``: asked only by readers who see very much. Minutes for a million vectors.

        Raises:
            UsageError: ``partitioned``.
        """
        with self._pool.connection() as connection:
            refuse_partitions(connection)
            return approximate.make_graph(connection, read_generation(connection, None))

    def drop_graph(self) -> bool:
        """Drop the approximate index of the generation that answers; False if it has none."""
        with self._pool.connection() as connection:
            return approximate.drop_graph(connection, read_generation(connection, None).id)

    def placing(self) -> Placing:
        """Where the index's rows lie: its partitions, and the tenants in them."""
        return Placing(self._pool)

    def info(self) -> IndexInfo:
        """What the index records of itself, for its operator."""
        with self._pool.connection() as connection, operating(connection):
            return read_info(connection, self._pool.address)

    def close(self) -> None:
        """See ``protocols.Store.close``; may be called twice."""
        self._pool.close()

    def _needs_migration(self, connection: Connection, *, create: bool) -> bool:
        version = schema.version_of(connection, self._pool.address)
        if version is None and not create:
            raise failures.missing(self._pool.address)
        return version is None or (version < schema.VERSION and self.ledger().writable)

    def _refuse_other_schema(self, connection: Connection) -> None:
        """An update by another process may have changed what the tables mean."""
        version = schema.recorded_version(connection)
        if version != schema.VERSION:
            raise failures.other_schema(version, schema.VERSION)

    def _begin(
        self,
        connection: Connection,
        embedding: EmbeddingSpec | None,
        chunking: ChunkingSettings,
        normalisation: str,
    ) -> None:
        if read_generations(connection):
            return
        now = self._clock.now()
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO facts VALUES (%s, %s)",
                [("created_at", encode_time(now)), *sorted(self._runtime.items())],
            )
        values = generation_values(
            "active", embedding, chunking, normalisation, made=(now, self._runtime)
        )
        add_generation(connection, values)
