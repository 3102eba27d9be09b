"""Tenants in partitions: where they go, what a query touches, lost servers, and moves while they answer."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgres_partitions import open_far, open_partitioned, together_urls
from postgres_stores import open_postgres, url_of

from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.postgres import PostgresStore, partitions, schema
from evidencedesk.adapters.stores.postgres.access_classes import admitted
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import Limits, Pool, reading, transaction
from evidencedesk.adapters.stores.postgres.partitions import CLASS_BITS
from evidencedesk.errors import IndexUnavailableError, UsageError
from evidencedesk.model import StoreQuery
from evidencedesk.model.receipt import AuditEvent, Receipt
from evidencedesk.testing.postgres_server import PostgresServer
from evidencedesk.testing.store_case import AS_STAFF, STAFF, put, texts

ASKING = 20
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
QUERY = StoreQuery((("bike",),), None, 50)


def reader_of(tenant: str) -> AccessFilter:
    return replace(AS_STAFF, tenant=tenant)


def put_for(store: PostgresStore, tenant: str, *paragraphs: str) -> None:
    put(store, "a", *paragraphs, rule=replace(STAFF, tenant=tenant))


def homes(store: PostgresStore) -> dict[int, int]:
    """How many tenants each partition has."""
    return {each.number: each.tenants for each in store.placing().partitions()}


def home_of(store: PostgresStore, tenant: str) -> int:
    with store._pool.connection() as connection:
        row = connection.execute(
            "SELECT DISTINCT id >> %s FROM access_classes WHERE tenant = %s", (CLASS_BITS, tenant)
        ).fetchall()
    [(number,)] = row
    return int(number)


@pytest.fixture
def far(postgres_together: list[PostgresServer], tmp_path: Path) -> Iterator[PostgresStore]:
    with closing(open_far(str(tmp_path / "far"))) as store:
        yield store


@pytest.mark.usefixtures("postgres_url")
class TestOnOneServer:
    def test_what_is_there_stays_and_new_tenants_are_spread(self, tmp_path: Path) -> None:
        with closing(open_postgres(str(tmp_path / "s"))) as store:
            put_for(store, "old", "bike")
            store.placing().plan(3, run=True)
            for number in range(30):
                put_for(store, f"t{number}", f"bike {number}")
            put_for(store, "old", "bike fee")
            assert homes(store)[0] == 1
            assert sum(homes(store).values()) == 31
            assert min(homes(store).values()) > 0
            assert texts(store, "a", reader_of("t7")) == ["bike 7"]
            assert texts(store, "a", reader_of("old")) == ["bike fee"]
            assert store.check() == ()

    def test_a_plan_that_is_not_run_changes_nothing(self, tmp_path: Path) -> None:
        with closing(open_postgres(str(tmp_path / "s"))) as store:
            assert "PARTITION BY RANGE (class)" in store.placing().plan(2, run=False)
            assert store.placing().partitions() == ()

    def test_an_older_index_in_partitions_is_brought_up_to_date(self, tmp_path: Path) -> None:
        address = Address.parse(url_of(str(tmp_path / "s")))
        pool = Pool(address, Limits())
        pool.open()
        with pool.connection() as connection, transaction(connection):
            schema.migrate(connection, address, schema.MIGRATIONS[:-1])
            for statement in partitions.plan(2):
                connection.execute(statement.encode())
        pool.close()
        with closing(open_partitioned(str(tmp_path / "s"))) as store:
            assert store.info().schema_version == schema.VERSION
            put_for(store, "acme", "bike")
            assert texts(store, "a", reader_of("acme")) == ["bike"]
            assert len(homes(store)) == 3
            assert store.check() == ()

    def test_a_reader_asks_one_partition(self, tmp_path: Path) -> None:
        with closing(open_partitioned(str(tmp_path / "s"))) as store:
            put_for(store, "acme", "bike")
            number = home_of(store, "acme")
            with store._pool.connection() as connection:
                planned = connection.execute(
                    "EXPLAIN SELECT slot FROM vectors WHERE class = ANY (%s::integer[])",
                    ([(number << CLASS_BITS) + 1],),
                ).fetchall()
            tables = [line for (line,) in planned if " on vectors" in line]
            assert len(tables) == 1
            assert f"vectors_{number}" in tables[0]

    def test_what_cannot_be_done_is_refused(self, tmp_path: Path) -> None:
        refusals: list[tuple[str, Callable[[PostgresStore], object]]] = [
            ("not_partitioned", lambda s: s.placing().move("acme", "")),
            ("bad_partitions", lambda s: s.placing().plan(0, run=True)),
        ]
        later: list[tuple[str, Callable[[PostgresStore], object]]] = [
            ("already_partitioned", lambda s: s.placing().plan(2, run=True)),
            ("unknown_server", lambda s: s.placing().move("acme", "nowhere")),
            ("unknown_tenant", lambda s: s.placing().move("nobody", "")),
        ]
        with closing(open_postgres(str(tmp_path / "s"))) as store:
            for code, refused in refusals:
                assert code_of(store, refused) == code
            store.placing().plan(2, run=True)
            for code, refused in later:
                assert code_of(store, refused) == code

    def test_a_graph_over_partitions_is_refused(self, tmp_path: Path) -> None:
        with closing(open_partitioned(str(tmp_path / "s"))) as store:
            assert code_of(store, PostgresStore.make_graph) == "partitioned"

    def test_a_tenant_moves_while_twenty_ask(self, tmp_path: Path) -> None:
        with closing(open_partitioned(str(tmp_path / "s"))) as store:
            here = [each.number for each in store.placing().partitions() if each.number]
            seen = moved_while_asked(store, [""] * len(here))
            assert seen.keys() == {"right"}
            assert store.check() == ()


def code_of(store: PostgresStore, refused: Callable[[PostgresStore], object]) -> str:
    with pytest.raises(UsageError) as error:
        refused(store)
    return error.value.code


def moved_while_asked(store: PostgresStore, ways: list[str]) -> Counter[str]:
    """Answers by whether they were right, while a tenant of many documents moves each way."""
    paragraphs = [f"bike {number}" for number in range(20)]
    for number in range(10):
        put(store, f"d{number}", *paragraphs, rule=replace(STAFF, tenant="acme"))
    put(store, "other", "bike", rule=replace(STAFF, tenant="other"))
    done, seen = threading.Event(), Counter[str]()
    reader = reader_of("acme")

    def answer() -> tuple[object, ...]:
        with store.read(access=reader) as snapshot:
            found = snapshot.search(QUERY)
            documents = [record.id for record in snapshot.documents()]
            chunks = [chunk.text for chunk in snapshot.chunks(found.keys)]
            return (
                found.statistics,
                found.group_frequencies.tolist(),
                found.keyword_scores.tolist(),
                documents,
                chunks,
            )

    expected = answer()

    def ask() -> None:
        while not done.is_set():
            seen["right" if answer() == expected else "wrong"] += 1

    with ThreadPoolExecutor(ASKING) as clients:
        asking = [clients.submit(ask) for _ in range(ASKING)]
        try:
            for way in ways:
                before = seen["right"]
                store.placing().move("acme", way)
                while seen["right"] < before + ASKING and not any(map(Future.done, asking)):
                    done.wait(0.01)
        finally:
            done.set()
    for each in asking:
        each.result()
    sys.stdout.write(f"{len(ways)} moves, answers: {dict(seen)}\n")
    return seen


def kept_receipt(store: PostgresStore, tenant: str, document_id: str) -> Mapping[str, Any]:
    """Content that is kept of an answer that cites the document."""
    ledger = store.ledger()
    key = ledger.subject_key(tenant, "amal", b"k" * 32)
    record = {"pieces": {"quote:0": {"documents": [document_id], "commitment": ""}}}
    receipt = Receipt(
        tenant, "r1", "amal", MOMENT, "ok", record, {"quote:0": "bike"}, (document_id,)
    )
    ledger.append(AuditEvent(tenant, MOMENT, "ask"), receipt, key=key)
    kept = ledger.receipt(tenant, "r1")
    assert kept is not None
    return kept.content


def version(number: int) -> list[str]:
    return [f"bike {number}", f"fee {number}"]


def replaced_until_refused(store: PostgresStore, written: int) -> tuple[int, str]:
    """The last version that was written, and the code of the error that ended it."""
    while True:
        try:
            put_for(store, "acme", *version(written + 1))
        except IndexUnavailableError as error:
            return written, error.code
        written += 1


class TestOnOtherServers:
    def test_a_tenant_moves_between_servers_while_twenty_ask(self, far: PostgresStore) -> None:
        seen = moved_while_asked(far, ["north", "south", "", "south", "north"])
        assert seen.keys() == {"right"}
        assert far.check() == ()
        assert far.placing().partitions()[home_of(far, "acme")].server == "north"

    def test_a_move_waits_for_whoever_has_yet_to_ask_the_server_that_is_left(
        self, far: PostgresStore
    ) -> None:
        put_for(far, "acme", "bike")
        far.placing().move("acme", "north")
        reader = reader_of("acme")
        with ThreadPoolExecutor(1) as mover:
            with far._pool.connection() as connection, reading(connection, reader):
                classes, _ = admitted(connection, reader)
                moved = mover.submit(far.placing().move, "acme", "")
                with pytest.raises(TimeoutError):
                    moved.result(timeout=1.0)
                there = connection.execute(
                    "SELECT count(*) FROM documents WHERE class = ANY (%s::integer[])",
                    (sorted(classes),),
                ).fetchone()
                assert there == (1,)
            assert moved.result(timeout=60.0) > 0

    def test_a_lost_server_is_an_error_and_the_others_answer(
        self, far: PostgresStore, postgres_together: list[PostgresServer]
    ) -> None:
        for tenant in ("acme", "bolt"):
            put_for(far, tenant, f"bike of {tenant}")
        far.placing().move("acme", "north")
        far.placing().move("bolt", "south")
        lost = postgres_together[2]
        lost.kill()
        try:
            with pytest.raises(IndexUnavailableError) as refused:
                texts(far, "a", reader_of("bolt"))
            assert refused.value.code == "index_unreachable"
            assert "south" in str(refused.value)
            assert texts(far, "a", reader_of("acme")) == ["bike of acme"]
            assert kept_receipt(far, "acme", "a") == {"quote:0": "bike"}
        finally:
            lost.start()
        assert texts(far, "a", reader_of("bolt")) == ["bike of bolt"]
        assert far.check() == ()

    @pytest.mark.parametrize("which", [0, 1], ids=["that of the index", "that of the documents"])
    def test_a_server_killed_while_documents_are_replaced_leaves_whole_ones(
        self, far: PostgresStore, postgres_together: list[PostgresServer], which: int
    ) -> None:
        put_for(far, "acme", *version(0))
        far.placing().move("acme", "north")
        killed, written = postgres_together[which], 0
        for _ in range(3):
            stop = threading.Timer(0.15, killed.kill)
            stop.start()
            written, code = replaced_until_refused(far, written)
            stop.join()
            killed.start()
            assert code == "index_unreachable"
            stored = texts(far, "a", reader_of("acme"))
            assert stored in (version(written), version(written + 1))
            written += stored == version(written + 1)
            assert far.check() == ()

    def test_the_readers_login_there_changes_nothing_and_sees_its_partition_only(
        self, far: PostgresStore, tmp_path: Path
    ) -> None:
        put_for(far, "acme", "bike")
        far.placing().move("acme", "north")
        schema = Address.parse(url_of(str(tmp_path / "far"))).schema
        there = together_urls(str(tmp_path))[1]
        with psycopg.connect(there, autocommit=True) as owner:
            owner.execute(
                f"INSERT INTO {schema}.vectors (slot, generation, class, scale, codes) "
                "VALUES (1, 1, 1, 1, '[1]')".encode()
            )
        as_reader = there.replace("user=postgres", "user=far_reader")
        with psycopg.connect(as_reader, autocommit=True) as connection:
            documents = connection.execute(f"SELECT tenant FROM {schema}.documents".encode())
            assert documents.fetchall() == [("acme",)]
            strange = connection.execute(
                f"SELECT count(*) FROM {schema}.vectors WHERE class = 1".encode()
            )
            assert strange.fetchone() == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"DELETE FROM {schema}.documents".encode())
