"""Two fences: what queries ask for, and row-level security. Each alone lets nothing through."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from hypothesis import given, settings
from postgres_partitions import far_url_of, open_far
from postgres_stores import FixedClock, open_postgres, url_of

from evidencedesk.access import AccessFilter, AccessRule, Principal
from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.adapters.stores.postgres.access_classes import admitted
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import (
    READER,
    Connection,
    Limits,
    Pool,
    operating,
    reading,
)
from evidencedesk.adapters.stores.postgres.generations import read_generation
from evidencedesk.adapters.stores.postgres.partitions import CLASS_BITS
from evidencedesk.adapters.stores.postgres.snapshot import PostgresSnapshot
from evidencedesk.desk import Desk
from evidencedesk.errors import IndexUnavailableError
from evidencedesk.settings import Settings
from evidencedesk.testing.store_case import SHARED_BY_SUBCLASSES, STAFF, StoreCase, put
from evidencedesk.testing.store_permissions import _log, everything_seen
from evidencedesk.testing.strategies import TENANTS, Step, filters, steps, term_groups

EVERY_CLASS = frozenset(
    (home << CLASS_BITS) + number for home in range(4) for number in range(1, 500)
)
WITHOUT_CONTENT = {"facts", "generations", "revisions"}
UNSEEN = "seen by nobody but its operator"

pytestmark = pytest.mark.usefixtures("postgres_url")


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    pool = Pool(Address.parse(url), Limits())
    pool.open()
    with pool.connection() as connection:
        yield connection
    pool.close()


class TestFences(StoreCase):
    open_store = staticmethod(open_postgres)
    url_of = staticmethod(url_of)

    @given(history=steps(max_size=12), access=filters(), groups=term_groups())
    @settings(max_examples=12, suppress_health_check=SHARED_BY_SUBCLASSES)
    def test_each_fence_alone_shows_what_both_show(
        self,
        history: list[Step],
        access: AccessFilter,
        groups: tuple[tuple[str, ...], ...],
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "all.desk")
            with self.opened(path) as store:
                self.apply(store, history)
                _log(store)
                with store.read(access=access) as snapshot:
                    expected = everything_seen(snapshot, groups)
            with connected(self.url_of(path)) as connection:
                with operating(connection):
                    classes = admitted(connection, access)
                    generation = read_generation(connection, None)
                    only_asked = PostgresSnapshot(connection, generation, access, *classes)
                    assert everything_seen(only_asked, groups) == expected
                with reading(connection, access):
                    only_secured = self.without_asking(connection, access)
                    assert everything_seen(only_secured, groups) == expected
                    for tenant in {*TENANTS} - {access.tenant}:
                        stranger = self.without_asking(connection, replace(access, tenant=tenant))
                        assert list(stranger.documents()) == []
                        assert stranger.log() == ()

    def without_asking(self, connection: Connection, access: AccessFilter) -> PostgresSnapshot:
        """A snapshot whose queries ask for everything, whoever reads."""
        generation = read_generation(connection, None)
        everything = replace(access, administrator=True)
        return PostgresSnapshot(connection, generation, everything, EVERY_CLASS, EVERY_CLASS)

    def test_row_level_security_keeps_what_queries_forget_to_ask(self, tmp_path: Path) -> None:
        """The comparison can fail: without either fence, the same snapshot sees the document."""
        path = str(tmp_path / "s.desk")
        with self.opened(path) as store:
            put(store, "a", "bike")
        with connected(self.url_of(path)) as connection:
            nobody = AccessFilter()
            with operating(connection):
                assert self.without_asking(connection, nobody).document("a") is not None
            with reading(connection, nobody):
                assert self.without_asking(connection, nobody).document("a") is None

    def test_nothing_set_is_nothing_seen(self, tmp_path: Path) -> None:
        path = str(tmp_path / "s.desk")
        with self.opened(path) as store:
            put(store, "a", "bike")
            put(store, "a", "rain")
            put(store, "b", "bike", rule=replace(STAFF, tenant="other"))
            _log(store)
        with connected(self.url_of(path)) as connection, connection.transaction():
            tables = connection.execute(
                "SELECT relname, relrowsecurity FROM pg_class WHERE relkind IN ('r', 'p', 'f') "
                "AND relnamespace = current_schema()::regnamespace"
            ).fetchall()
            connection.execute(f"SET LOCAL ROLE {READER}".encode())
            seen = {name: rows_of(connection, name) for name, _ in tables}
        foreign = {name for name in seen if name[-1] in "23"}  # they have no policies of their own
        unsecured = {name for name, secured in tables if not secured}
        assert unsecured - foreign == WITHOUT_CONTENT
        content = {name: rows for name, rows in seen.items() if name not in WITHOUT_CONTENT}
        assert set(content.values()) == {0, UNSEEN}
        assert content["chunks"] == content["documents"] == content["history"] == 0
        assert content["receipts"] == content["subject_keys"] == content["audit"] == UNSEEN

    def test_a_reader_changes_nothing(self, tmp_path: Path) -> None:
        path = str(tmp_path / "s.desk")
        with self.opened(path) as store:
            put(store, "a", "bike")
        with connected(self.url_of(path)) as connection:
            for statement in ("DELETE FROM documents", "UPDATE access_classes SET roles = '{}'"):
                with (
                    pytest.raises(psycopg.Error) as refused,
                    reading(connection, AccessFilter(administrator=True)),
                ):
                    connection.execute(statement.encode())
                assert refused.value.sqlstate in {"25006", "42501"}


@pytest.mark.usefixtures("postgres_together")
class TestFencesBeforeOtherServers(TestFences):
    open_store = staticmethod(open_far)
    url_of = staticmethod(far_url_of)


def rows_of(connection: Connection, table: str) -> int | str:
    try:
        with connection.transaction():
            found = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return UNSEEN
    assert found is not None
    return int(found[0])


@pytest.fixture
def reader_url(postgres_url: str, tmp_path: Path) -> Iterator[str]:
    """An index with one document, as a login sees it that is only a reader."""
    path = str(tmp_path / "s.desk")
    store = open_postgres(path)
    put(store, "a", "bike fee", rule=AccessRule(roles=frozenset({"everyone"})))
    store.close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE web LOGIN IN ROLE {READER}".encode())
        yield url_of(path).replace("user=postgres", "user=web")
        connection.execute("DROP ROLE web")


def test_a_login_that_is_only_a_reader_reads_and_cannot_write(reader_url: str) -> None:
    store = PostgresStore.open(reader_url, clock=FixedClock())
    with store.read(access=AccessFilter(roles=frozenset({"everyone"}))) as snapshot:
        assert snapshot.chunk("a:c0") is not None
    with pytest.raises(IndexUnavailableError) as refused, store.write():
        pass
    assert refused.value.code == "index_read_only"
    assert not store.ledger().writable
    store.close()


def test_a_reader_login_answers_and_says_that_there_is_no_receipt(reader_url: str) -> None:
    keywords = Settings.model_validate({"embedding": {"model": "none"}})
    with Desk.open(reader_url, settings=keywords) as desk:
        hits = desk.search("bike", principal=Principal(roles=frozenset({"everyone"})))
        answer = desk.ask("bike?", principal=Principal(roles=frozenset({"everyone"})))
    assert [hit.chunk.id for hit in hits] == ["a:c0"]
    assert answer.degraded
