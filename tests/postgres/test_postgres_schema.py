"""Migrations: from nothing, from every earlier version, by whom they may be made; and addresses."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from postgres_stores import FixedClock, open_postgres, url_of

from evidencedesk.adapters.stores.postgres import PostgresStore, schema
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import READER, Limits, Pool, transaction
from evidencedesk.errors import IndexMismatchError, SettingsError
from evidencedesk.model import ChunkingSettings
from evidencedesk.testing.store_case import put, texts

TABLES = (
    "SELECT table_name, column_name, data_type FROM information_schema.columns "
    "WHERE table_schema = %s ORDER BY 1, 2"
)


def make_old(url: str, version: int) -> None:
    """An index as an EvidenceDesk of that schema version left it."""
    address = Address.parse(url)
    pool = Pool(address, Limits())
    pool.open()
    with pool.connection() as connection, transaction(connection):
        schema.migrate(connection, address, schema.MIGRATIONS[:version])
        connection.execute(
            "INSERT INTO generations (state, chunking, normalisation, created_at, runtime) VALUES "
            """('active', '{"strategy": "structure", "options": []}', '1', """
            "'2026-01-01T00:00:00+00:00', '{}')"
        )
    pool.close()


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_an_older_index_is_brought_up_to_date(
    postgres_url: str, tmp_path: Path, version: int
) -> None:
    old, new = url_of(str(tmp_path / "old")), url_of(str(tmp_path / "new"))
    make_old(old, version)
    open_postgres(str(tmp_path / "new")).close()
    with closing(PostgresStore.open(old, clock=FixedClock())) as store:
        assert store.info().schema_version == schema.VERSION
        assert [each.chunking for each in store.info().generations] == [
            ChunkingSettings("structure", ())
        ]
        assert store.check() == ()
    with psycopg.connect(postgres_url) as connection:
        columns = [
            connection.execute(TABLES, (Address.parse(url).schema,)).fetchall()
            for url in (old, new)
        ]
    assert columns[0] == columns[1]


def test_a_login_that_may_not_update_the_tables_says_who_should(
    postgres_url: str, tmp_path: Path
) -> None:
    url = url_of(str(tmp_path))
    make_old(url, schema.VERSION - 1)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE onlooker LOGIN IN ROLE {READER}".encode())
        as_reader = url.replace("user=postgres", "user=onlooker")
        with (
            closing(PostgresStore.open(as_reader, clock=FixedClock())) as store,
            pytest.raises(IndexMismatchError) as refused,
        ):
            texts(store, "a")
        connection.execute("DROP ROLE onlooker")
    assert "as its owner" in refused.value.hint


def test_two_indexes_in_one_database_know_nothing_of_each_other(
    postgres_url: str, tmp_path: Path
) -> None:
    with (
        closing(open_postgres(str(tmp_path / "a"))) as first,
        closing(open_postgres(str(tmp_path / "b"))) as second,
    ):
        put(first, "a", "bike")
        assert texts(second, "a") == []
        assert second.info().documents == 0


def test_an_address_is_libpqs_but_for_the_schema() -> None:
    address = Address.parse("postgresql://amal:s3cret@db.example:5433/co?sslmode=require&schema=hr")
    assert address.conninfo == "postgresql://amal:s3cret@db.example:5433/co?sslmode=require"
    assert address.schema == "hr"
    assert address.shown == "postgresql://amal@db.example:5433/co?schema=hr"
    assert Address.parse("postgresql:///co").schema == "evidencedesk"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://db/co",
        "postgresql://db/co?schema=pg_catalog",
        "postgresql://db/co?schema=Hr",
        "postgresql://db/co?schema=a;drop",
        "postgresql://db:port/co",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Address.parse(url)
    assert refused.value.code == "bad_index_url"
    assert url not in str(refused.value)
