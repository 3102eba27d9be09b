"""What goes wrong with a server: each case is really done to one."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest
from postgres_stores import FixedClock

from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.adapters.stores.postgres.connections import Limits
from evidencedesk.errors import IndexingError, IndexUnavailableError
from evidencedesk.model import StoreQuery
from evidencedesk.protocols import Snapshot
from evidencedesk.testing.postgres_server import PostgresServer, temporary_server
from evidencedesk.testing.store_case import AS_STAFF, STAFF, for_all, put, texts
from evidencedesk.testing.store_processes import version_seen, write_version
from evidencedesk.testing.strategies import SPEC, make_document, vector_of

HURRY = Limits(connect=3.0, statement=2.0, lock=0.3, idle=2.0, connections=4)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of this module's own, to be killed."""
    with temporary_server(max_connections="20") as server:
        yield server


@pytest.fixture
def url(server: PostgresServer, tmp_path: Path) -> str:
    name = "".join(letter for letter in tmp_path.name.lower() if letter.isalnum())[-40:]
    return server.url(schema=f"s_{name}")


def read(store: PostgresStore, look: Callable[[Snapshot], object]) -> object:
    with store.read(access=AS_STAFF) as snapshot:
        return look(snapshot)


@contextmanager
def opened(url: str, limits: Limits = HURRY) -> Iterator[PostgresStore]:
    store = PostgresStore.open(url, create=True, clock=FixedClock(), embedding=SPEC, limits=limits)
    try:
        yield store
    finally:
        store.close()


def write_until_it_fails(store: PostgresStore, numbers: Iterator[int], acknowledged: int) -> int:
    """The last version whose writing was acknowledged before the server went."""
    codes: list[str] = []
    while not codes:
        version = next(numbers)
        try:
            write_version(store, version)
            acknowledged = version
        except IndexUnavailableError as gone:
            codes.append(gone.code)
    assert codes == ["index_unreachable"]
    return acknowledged


def kill_server_while_writing(server: PostgresServer, url: str, times: int) -> tuple[int, int, int]:
    """Kills, versions that were acknowledged and are gone, and states that were not whole."""
    instants = random.Random(11)
    lost = torn = 0
    numbers = count(1)
    with opened(url) as store:
        write_version(store, 0)
        acknowledged = 0
        for _ in range(times):
            killer = threading.Timer(instants.uniform(0.02, 0.25), server.kill)
            killer.start()
            acknowledged = write_until_it_fails(store, numbers, acknowledged)
            killer.join()
            server.start()
            with store.read(access=AS_STAFF) as snapshot:
                try:
                    seen = version_seen(snapshot)
                except AssertionError:
                    torn += 1
                    continue
            lost += seen < acknowledged
            torn += bool(store.check())
            acknowledged = seen
    return times, lost, torn


def test_a_server_killed_during_replacements_loses_and_tears_nothing(
    server: PostgresServer, url: str
) -> None:
    kills, lost, torn = kill_server_while_writing(server, url, times=5)
    sys.stdout.write(f"{kills} kills of the server, {lost} versions lost, {torn} torn\n")
    assert (lost, torn) == (0, 0)


@pytest.mark.slow
def test_a_server_killed_a_hundred_times(server: PostgresServer, url: str) -> None:
    kills, lost, torn = kill_server_while_writing(server, url, times=100)
    sys.stdout.write(f"{kills} kills of the server, {lost} versions lost, {torn} torn\n")
    assert (lost, torn) == (0, 0)


def test_a_server_that_goes_while_it_is_read_is_an_error_and_no_partial_answer(
    server: PostgresServer, url: str
) -> None:
    query = StoreQuery((("bike",),), vector_of("rain"), 5)
    with opened(url) as store:
        put(store, "a", "bike fee", "rain")
        with pytest.raises(IndexUnavailableError) as gone:
            read(store, lambda snapshot: (server.kill(), snapshot.search(query)))
        assert gone.value.code == "index_unreachable"
        with pytest.raises(IndexUnavailableError) as down, store.read(access=AS_STAFF):
            pass
        assert down.value.code == "index_unreachable"
        server.start()
        assert texts(store, "a") == ["bike fee", "rain"]


def test_a_storm_of_readers_is_served_over_a_few_connections(url: str) -> None:
    with opened(url) as store:
        put(store, "a", "bike")
        with ThreadPoolExecutor(60) as storm:
            answers = list(storm.map(lambda _: texts(store, "a"), range(300)))
        assert answers == [["bike"]] * 300


def test_a_server_without_free_connections_says_so(server: PostgresServer, url: str) -> None:
    with ExitStack() as others:
        taken = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        counting = others.enter_context(psycopg.connect(server.url(), autocommit=True))
        while counting.execute(taken).fetchone() != (20,):
            others.enter_context(psycopg.connect(server.url()))
        with pytest.raises(IndexUnavailableError) as full, opened(url):
            pass
    assert full.value.code == "index_busy"


def test_a_long_transaction_delays_nobody_but_writers_of_its_document(
    server: PostgresServer, url: str
) -> None:
    with opened(url) as store, opened(url) as other:
        put(store, "a", "bike")
        put(store, "b", "bike")
        with store.write() as writer, writer.together():
            document = make_document("a", ["lock"], STAFF)
            writer.replace_document(document, for_all(writer, document))
            put(other, "b", "gear")
            assert texts(other, "a") == ["bike"]
            assert texts(other, "b") == ["gear"]
            with pytest.raises(IndexUnavailableError) as refused:
                put(other, "a", "rain")
            assert refused.value.code == "index_busy"
        assert texts(other, "a") == ["lock"]
        assert store.check() == ()


def test_a_transaction_in_which_nothing_happens_is_ended(url: str) -> None:
    hasty = Limits(connect=5.0, statement=5.0, lock=5.0, idle=1.0, connections=4)
    with opened(url) as calm:
        put(calm, "a", "bike")
        with opened(url, hasty) as store, pytest.raises(IndexUnavailableError) as ended:
            read(store, lambda snapshot: (time.sleep(2.0), snapshot.document("a")))
        assert ended.value.code in {"index_timeout", "index_unreachable"}
        assert texts(calm, "a") == ["bike"]


def test_a_statement_that_takes_too_long_is_an_error(server: PostgresServer, url: str) -> None:
    hasty = Limits(connect=3.0, statement=0.3, lock=5.0, idle=2.0, connections=4)
    with opened(url) as store:
        put(store, "a", "bike")
    schema = url.rpartition("=")[2]
    with opened(url, hasty) as store, psycopg.connect(server.url()) as holder:
        holder.execute(f"LOCK TABLE {schema}.chunks IN ACCESS EXCLUSIVE MODE".encode())
        with pytest.raises(IndexUnavailableError) as late, store.read(access=AS_STAFF) as snapshot:
            snapshot.chunk("a:c0")
        assert late.value.code == "index_timeout"
        holder.rollback()
        assert texts(store, "a") == ["bike"]


def test_an_old_client_does_not_touch_a_newer_schema(server: PostgresServer, url: str) -> None:
    schema = url.rpartition("=")[2]
    with opened(url) as store:
        put(store, "a", "bike")
        with psycopg.connect(server.url()) as newer:
            newer.execute(
                f"UPDATE {schema}.facts SET value = '999' WHERE name = 'schema_version'".encode()
            )
        for attempt in (lambda: texts(store, "a"), lambda: put(store, "a", "rain")):
            with pytest.raises(IndexingError) as refused:
                attempt()
            assert refused.value.code == "index_mismatch"
        with pytest.raises(IndexingError) as unopened, opened(url):
            pass
        assert unopened.value.code == "index_mismatch"
        assert unopened.value.hint == "Update EvidenceDesk."


def test_two_workers_on_one_document_leave_one_of_their_versions(url: str) -> None:
    patient = Limits(connect=10.0, statement=20.0, lock=20.0, idle=20.0, connections=4)
    with opened(url, patient) as store:
        write_version(store, 0)
        with ThreadPoolExecutor(4) as workers:
            list(workers.map(lambda version: write_version(store, version), range(1, 41)))
        with store.read(access=AS_STAFF) as snapshot:
            assert version_seen(snapshot) in range(1, 41)
        assert store.check() == ()


def test_ten_that_make_the_same_index_at_once_make_one(url: str) -> None:
    def make(_: int) -> int:
        with opened(url, Limits(lock=20.0, connections=1)) as store:
            return len(store.info().generations)

    with ThreadPoolExecutor(10) as makers:
        assert list(makers.map(make, range(10))) == [1] * 10


def test_a_schema_that_holds_other_tables_is_left_alone(server: PostgresServer, url: str) -> None:
    schema = url.rpartition("=")[2]
    with psycopg.connect(server.url()) as other:
        other.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.theirs (a int)".encode())
    with pytest.raises(IndexingError) as refused, opened(url):
        pass
    assert refused.value.code == "index_not_ours"
