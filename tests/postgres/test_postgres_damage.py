"""``verify-index`` finds whatever is damaged; backups are whole or refused."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from postgres_stores import FixedClock, open_postgres, url_of

from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.errors import IndexDamagedError, UsageError
from evidencedesk.pipeline.backup import read_backup, write_backup
from evidencedesk.testing.store_case import AS_STAFF, put
from evidencedesk.testing.store_processes import version_seen, write_version
from evidencedesk.testing.strategies import SPEC

pytestmark = pytest.mark.usefixtures("postgres_url")

DAMAGE = {
    "a text": "UPDATE documents SET text = 'other' WHERE id = 'a'",
    "a chunk's text": "UPDATE chunks SET text = 'bike fed' WHERE ordinal = 0",
    "a chunk that is gone": "DELETE FROM chunks WHERE ordinal = 1",
    "a vector that is gone": "DELETE FROM vectors WHERE slot % 2 = 1",
    "codes of another vector": "UPDATE vectors SET codes = '[1,2,3,4,5,6,7,8]' WHERE slot % 2 = 1",
    "a scale": "UPDATE vectors SET scale = scale * 2",
    "a posting that is gone": "DELETE FROM postings WHERE ctid = (SELECT min(ctid) FROM postings)",
    "counts of a posting": "UPDATE postings SET entries = set_byte(entries, 12, 9)",
    "rights of a document": "UPDATE documents SET class = (SELECT max(id) FROM access_classes) "
    "WHERE id = 'a'",
    "rights of a chunk": "UPDATE chunks SET class = class + 1 WHERE ordinal = 0",
    "rights of postings": "UPDATE postings SET class = class + 1",
    "rights of vectors": "UPDATE vectors SET class = class + 1",
    "an earlier text": "UPDATE history SET text = 'never was'",
    "a count": "UPDATE placements SET length = length + 1",
    "a document out of the generation": "DELETE FROM placements",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PostgresStore]:
    with closing(open_postgres(str(tmp_path / "s.desk"))) as store:
        put(store, "a", "rain")
        put(store, "a", "bike fee", "lock gear")
        yield store


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_planted_damage_is_found(
    store: PostgresStore, tmp_path: Path, postgres_url: str, damage: str
) -> None:
    assert store.check() == ()
    schema = url_of(str(tmp_path / "s.desk")).rpartition("=")[2]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"SET search_path = {schema}, public".encode())
        connection.execute(
            "INSERT INTO access_classes (tenant, status, roles, deny) VALUES ('x', 'draft', '{}', '{}')"
        )
        connection.execute(damage.encode())
    assert store.check() != ()


def test_a_backup_made_while_somebody_writes_is_of_one_moment(
    store: PostgresStore, tmp_path: Path
) -> None:
    stop = threading.Event()
    with store.write() as operator:
        operator.remove_document("default", "a")
    write_version(store, 0)

    def write_on() -> None:
        version = 0
        while not stop.is_set():
            version += 1
            write_version(store, version)

    writer = threading.Thread(target=write_on)
    writer.start()
    files = [tmp_path / f"{number}.edx" for number in range(3)]
    for file in files:
        with store.pieces() as pieces:
            write_backup(pieces, file)
    stop.set()
    writer.join()
    for number, file in enumerate(files):
        path = tmp_path / f"{number}.desk"
        with closing(
            SQLiteStore.open(path, create=True, clock=FixedClock(), embedding=SPEC)
        ) as restored:
            restored.fill(read_backup(file))
            assert restored.check() == ()
            with restored.read(access=AS_STAFF) as snapshot:
                assert version_seen(snapshot) >= 0


def test_a_backup_is_never_overwritten(store: PostgresStore, tmp_path: Path) -> None:
    file = tmp_path / "a.edx"
    file.write_text("mine")
    with store.pieces() as pieces, pytest.raises(UsageError) as refused:
        write_backup(pieces, file)
    assert refused.value.code == "file_exists"
    assert file.read_text() == "mine"


@pytest.mark.parametrize("kind", ["cut", "changed", "extended", "other"])
def test_a_damaged_backup_is_refused_and_fills_nothing(
    store: PostgresStore, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "a.edx"
    with store.pieces() as pieces:
        write_backup(pieces, file)
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    damaged = {
        "cut": lines[:-1],
        "changed": [line.replace(b"rain", b"snow") for line in lines],
        "extended": [*lines, lines[1]],
        "other": [b"hello\n"],
    }[kind]
    file.write_bytes(gzip.compress(b"".join(damaged)))
    with closing(open_postgres(str(tmp_path / "b.desk"))) as target:
        with pytest.raises(IndexDamagedError) as refused:
            target.fill(read_backup(file))
        assert refused.value.code == "backup_damaged"
        assert target.info().documents == 0
        assert [each.id for each in target.info().generations] == [1]
