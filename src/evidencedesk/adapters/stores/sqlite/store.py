"""The embedded store: a folder with one SQLite database and files derived from it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Self

from evidencedesk.access import AccessFilter
from evidencedesk.adapters.cores import usable_cores
from evidencedesk.adapters.stores.shared.codecs import encode_time
from evidencedesk.adapters.stores.shared.steps import generation_values
from evidencedesk.adapters.stores.sqlite import checks, failures, moving, schema
from evidencedesk.adapters.stores.sqlite.compaction import compact
from evidencedesk.adapters.stores.sqlite.connections import (
    Files,
    Pool,
    checkpoint,
    reading,
    transaction,
)
from evidencedesk.adapters.stores.sqlite.generations import add_generation, read_generations
from evidencedesk.adapters.stores.sqlite.info import IndexInfo, read_info
from evidencedesk.adapters.stores.sqlite.outbox import SQLiteOutbox
from evidencedesk.adapters.stores.sqlite.receipts import SQLiteLedger
from evidencedesk.adapters.stores.sqlite.similarity import fastest_products
from evidencedesk.adapters.stores.sqlite.snapshot import SQLiteSnapshot
from evidencedesk.adapters.stores.sqlite.spreading import SpreadProducts
from evidencedesk.adapters.stores.sqlite.state import State, read_position, refreshed
from evidencedesk.adapters.stores.sqlite.writer import SQLiteWriter
from evidencedesk.model import ChunkingSettings, EmbeddingSpec
from evidencedesk.model.moving import MovedPiece
from evidencedesk.protocols import Clock

_DATABASE_HEADER = b"SQLite format 3\0"
_STATES_KEPT = 2
_SCANNING_CORES = 4
_NOTHING: Mapping[str, str] = MappingProxyType({})


class SQLiteStore:
    """Documents, chunks, vectors and postings in one folder; see ``protocols.Store``.

    Safe for threads and for processes; a process that forks must open its own afterwards.
    """

    def __init__(
        self,
        files: Files,
        *,
        clock: Clock,
        runtime: Mapping[str, str],
        busy_timeout: float,
        compact_after: int,
    ) -> None:
        self._files = files
        self._clock = clock
        self._runtime = runtime
        self._compact_after = compact_after
        self._pool = Pool(files, busy_timeout)
        self._products = SpreadProducts(fastest_products(), min(_SCANNING_CORES, usable_cores()))
        self._lock = threading.Lock()
        self._states: dict[int, State] = {}

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        create: bool = False,
        clock: Clock,
        embedding: EmbeddingSpec | None = None,
        chunking: ChunkingSettings | None = None,
        normalisation: str = "",
        runtime: Mapping[str, str] = _NOTHING,
        busy_timeout: float = 5.0,
        compact_after: int = 4096,
    ) -> Self:
        """Open the index at ``path``, or make it there when ``create`` is true and there is none.

        Args:
            path: the folder, by convention ``NAME.desk``.
            create: make an index where there is nothing.
            clock: where times come from.
            embedding: model of the first generation of a new index, None for keywords only.
            chunking: chunking of the first generation of a new index.
            normalisation: version of the keyword analysis of a new index.
            runtime: what computes vectors here (ONNX Runtime's version, instruction set), recorded
                with each generation that this store begins.
            busy_timeout: seconds to wait for another writer.
            compact_after: chunks outside segment files at which a writer writes a segment.

        Raises:
            IndexUnavailableError: ``index_missing``, ``index_busy``, ``index_read_only``,
                ``disk_full``.
            IndexDamagedError: ``index_not_ours`` or ``index_damaged``.
            IndexMismatchError: ``index_mismatch``, made by a newer EvidenceDesk.
        """
        files = Files(Path(path))
        with failures.writing_files(files.folder):
            _look_before_opening(files, create=create)
        store = cls(
            files,
            clock=clock,
            runtime=runtime,
            busy_timeout=busy_timeout,
            compact_after=compact_after,
        )
        with store._pool.connection() as connection:
            if _needs_migration(connection, files, create=create):
                with transaction(connection):
                    schema.migrate(connection)
                    store._begin(
                        connection, embedding, chunking or ChunkingSettings(), normalisation
                    )
            connection.execute("SELECT sequence FROM state").fetchone()
        return store

    @contextmanager
    def read(
        self, *, access: AccessFilter, generation: int | None = None
    ) -> Iterator[SQLiteSnapshot]:
        """See ``protocols.Store.read``."""
        with self._pool.connection() as connection, reading(connection):
            # The transaction begins under the lock: so the state kept is never newer than it.
            with self._lock:
                state = self._refreshed(connection, generation)
            yield SQLiteSnapshot(connection, state, access, self._products)

    @contextmanager
    def write(self) -> Iterator[SQLiteWriter]:
        """See ``protocols.Store.write``."""
        if not self._files.writable():
            raise failures.read_only(self._files.folder)
        with self._pool.connection() as connection:
            with transaction(connection):
                pass
            yield SQLiteWriter(
                connection, self._files, self._clock, self._runtime, self._compact_after
            )

    def compact(self) -> None:
        """Write everything into segment files, drop what is dead and shorten the write-ahead log.

        Worth calling after many documents were ingested or removed. Readers are not blocked.
        """
        if not self._files.writable():
            raise failures.read_only(self._files.folder)
        with self._pool.connection() as connection:
            compact(connection, self._files, thorough=True)
            checkpoint(connection)

    def ledger(self) -> SQLiteLedger:
        """See ``protocols.Store.ledger``."""
        return SQLiteLedger(self._pool, self._files)

    def outbox(self) -> SQLiteOutbox:
        """See ``protocols.Store.outbox``."""
        return SQLiteOutbox(self._pool, self._files)

    def check(self) -> tuple[str, ...]:
        """See ``protocols.Store.check``."""
        with self._pool.connection() as connection, reading(connection):
            return tuple(checks.disagreements(connection, self._files))

    @contextmanager
    def pieces(self) -> Iterator[Iterator[MovedPiece]]:
        """See ``protocols.MovableStore.pieces``."""
        with self._pool.connection() as connection, reading(connection):
            yield moving.pieces_of(connection)

    def fill(self, pieces: Iterable[MovedPiece]) -> None:
        """See ``protocols.MovableStore.fill``."""
        with self._pool.connection() as connection, transaction(connection):
            moving.fill(connection, pieces)
        self.compact()

    def info(self) -> IndexInfo:
        """What the index records of itself, for its operator."""
        with self._pool.connection() as connection, reading(connection):
            return read_info(connection, self._files)

    def close(self) -> None:
        """See ``protocols.Store.close``; may be called twice."""
        self._products.close()
        self._pool.close()

    def _refreshed(self, connection: sqlite3.Connection, generation: int | None) -> State:
        position = read_position(connection, generation)
        known = self._states.pop(position.generation, None)
        state = refreshed(connection, self._files, known, position)
        self._states[position.generation] = state
        if len(self._states) > _STATES_KEPT:
            del self._states[next(iter(self._states))]
        return state

    def _begin(
        self,
        connection: sqlite3.Connection,
        embedding: EmbeddingSpec | None,
        chunking: ChunkingSettings,
        normalisation: str,
    ) -> None:
        if read_generations(connection):
            return
        now = self._clock.now()
        connection.executemany(
            "INSERT INTO facts VALUES (?, ?)",
            [("created_at", encode_time(now)), *sorted(self._runtime.items())],
        )
        values = generation_values(
            "active", embedding, chunking, normalisation, made=(now, self._runtime)
        )
        add_generation(connection, values)


def _look_before_opening(files: Files, *, create: bool) -> None:
    folder = files.folder
    if folder.exists() and not folder.is_dir():
        raise failures.not_ours(folder, "it is a file, an index is a folder")
    if files.database.is_file():
        with files.database.open("rb") as file:
            header = file.read(len(_DATABASE_HEADER))
        if header not in {b"", _DATABASE_HEADER}:
            raise failures.not_ours(folder, "index.sqlite3 is not a database of ours")
    elif not create:
        raise failures.missing(folder)
    elif folder.exists() and any(folder.iterdir()):
        raise failures.not_ours(folder, "the folder holds other things")
    else:
        files.make()


def _needs_migration(connection: sqlite3.Connection, files: Files, *, create: bool) -> bool:
    if schema.is_blank(connection):
        if not create:
            raise failures.missing(files.folder)
        return True
    if schema.application_id(connection) != schema.APPLICATION_ID:
        raise failures.not_ours(files.folder, "index.sqlite3 belongs to another program")
    return schema.version_of(connection) < schema.VERSION and files.writable()
