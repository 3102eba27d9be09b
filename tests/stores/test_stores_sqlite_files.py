from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from evidencedesk.adapters.stores.sqlite import SQLiteStore, schema
from evidencedesk.errors import EvidenceDeskError, IndexDamagedError, IndexMismatchError
from evidencedesk.model import ChunkingSettings
from evidencedesk.testing.store_case import AS_STAFF, STAFF, put, texts
from evidencedesk.testing.strategies import SPEC, make_chunks, make_document

OpenSQLite = Callable[..., SQLiteStore]

CHILD = """
import os, resource, sys
from datetime import UTC, datetime
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.errors import EvidenceDeskError
from evidencedesk.testing.store_case import AS_STAFF, put, texts

class Clock:
    def now(self): return datetime(2026, 1, 1, tzinfo=UTC)
    def monotonic(self): return 0.0

path = sys.argv[1]
"""


def run_child(code: str, path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CHILD + code, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def code_of(action: object, *arguments: object, **options: object) -> str:
    with pytest.raises(EvidenceDeskError) as refused:
        action(*arguments, **options)  # type: ignore[operator]
    assert refused.value.message
    assert refused.value.hint
    return refused.value.code


def test_files_are_for_their_owner_only(path: Path, open_sqlite: OpenSQLite) -> None:
    store = open_sqlite(compact_after=1)
    put(store, "a", "bike")
    kinds = set()
    for file in (path, *path.rglob("*")):
        kinds.add(file.suffix)
        expected = 0o700 if file.is_dir() else 0o600
        assert stat.S_IMODE(file.stat().st_mode) == expected, file
    assert {".desk", ".sqlite3", ".sqlite3-wal", ".segment"} <= kinds


def test_a_missing_index(path: Path, open_sqlite: OpenSQLite) -> None:
    assert code_of(open_sqlite, create=False) == "index_missing"
    assert not path.exists()
    path.mkdir()
    assert code_of(open_sqlite, create=False) == "index_missing"
    assert list(path.iterdir()) == []


@pytest.mark.parametrize("create", [True, False])
def test_what_is_not_ours_is_left_alone(path: Path, open_sqlite: OpenSQLite, create: bool) -> None:
    path.write_text("a file")
    assert code_of(open_sqlite, create=create) == "index_not_ours"
    assert path.read_text() == "a file"
    path.unlink()
    path.mkdir()
    (path / "index.sqlite3").write_text("not a database at all")
    assert code_of(open_sqlite, create=create) == "index_not_ours"
    (path / "index.sqlite3").unlink()
    with sqlite3.connect(path / "index.sqlite3") as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = (path / "index.sqlite3").read_bytes()
    assert code_of(open_sqlite, create=create) == "index_not_ours"
    assert (path / "index.sqlite3").read_bytes()[:18] == before[:18]


def test_a_folder_with_other_things_is_not_made_an_index(
    path: Path, open_sqlite: OpenSQLite
) -> None:
    path.mkdir()
    (path / "thesis.txt").write_text("precious")
    assert code_of(open_sqlite) == "index_not_ours"
    assert [file.name for file in path.iterdir()] == ["thesis.txt"]


def test_a_crash_during_creation_can_be_repeated(path: Path, open_sqlite: OpenSQLite) -> None:
    path.mkdir()
    (path / "index.sqlite3").touch()
    assert code_of(open_sqlite, create=False) == "index_missing"
    store = open_sqlite()
    put(store, "a", "bike")
    assert texts(store, "a") == ["bike"]


def test_a_newer_schema_is_named(path: Path, open_sqlite: OpenSQLite) -> None:
    open_sqlite().close()
    with sqlite3.connect(path / "index.sqlite3") as database:
        database.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    database.close()
    with pytest.raises(IndexMismatchError, match=f"version {schema.VERSION + 1}"):
        open_sqlite()


def test_a_damaged_database_is_an_error_with_a_way_out(path: Path, open_sqlite: OpenSQLite) -> None:
    store = open_sqlite()
    put(store, "a", *(f"bike w{number}" for number in range(300)))
    store.compact()
    store.close()
    database = path / "index.sqlite3"
    data = bytearray(database.read_bytes())
    data[16384:] = os.urandom(len(data) - 16384)
    database.write_bytes(data)
    with pytest.raises(IndexDamagedError) as refused:
        texts(open_sqlite(), "a")
    assert refused.value.code == "index_damaged"
    assert refused.value.hint


def test_two_writers_at_once(open_sqlite: OpenSQLite) -> None:
    first = open_sqlite()
    second = open_sqlite(busy_timeout=0.05)
    put(first, "b", "rain")
    document = make_document("a", ["bike"], STAFF)
    with first._pool.connection() as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert code_of(second.write().__enter__) == "index_busy"
        assert texts(second, "b") == ["rain"]
        connection.execute("ROLLBACK")
    with second.write() as writer:
        writer.replace_document(document, {1: make_chunks(document)})
    assert texts(first, "a") == ["bike"]


def test_a_read_only_folder_is_read_and_not_written() -> None:
    base = Path(tempfile.mkdtemp(prefix="evidencedesk-"))
    path = base / "test.desk"
    try:
        made = run_child(
            """
store = SQLiteStore.open(path, create=True, clock=Clock())
put(store, "a", "bike")
store.close()
""",
            path,
        )
        assert made == ""
        for file in (base, path, *path.rglob("*")):
            file.chmod(0o555 if file.is_dir() else 0o444)
        printed = run_child(
            """
if os.geteuid() == 0:
    os.seteuid(65534)
store = SQLiteStore.open(path, clock=Clock())
print(texts(store, "a"))
for action in (store.write().__enter__, store.compact):
    try:
        action()
    except EvidenceDeskError as error:
        print(error.code)
print(store.check())
""",
            path,
        )
        assert printed.splitlines() == ["['bike']", "index_read_only", "index_read_only", "()"]
    finally:
        for file in (base, path, *path.rglob("*")):
            file.chmod(0o755)
        shutil.rmtree(base)


def test_a_full_disk_undoes_the_change_and_the_next_one_works(
    path: Path, open_sqlite: OpenSQLite
) -> None:
    store = open_sqlite()
    put(store, "a", "bike")
    store.close()
    printed = run_child(
        """
import signal
from evidencedesk.testing.strategies import SPEC
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SQLiteStore.open(path, clock=Clock(), compact_after=10**9)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
try:
    put(store, "a", *(f"rain w{number}" for number in range(5000)))
except EvidenceDeskError as error:
    print(error.code)
print(texts(store, "a"))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
put(store, "a", "lock")
print(texts(store, "a"), store.check())
""",
        path,
    )
    assert printed.splitlines() == ["disk_full", "['bike']", "['lock'] ()"]


def test_a_full_disk_while_a_segment_is_written(path: Path, open_sqlite: OpenSQLite) -> None:
    store = open_sqlite(compact_after=10**9)
    put(store, "a", *(f"bike w{number}" for number in range(3000)))
    store.close()
    printed = run_child(
        """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SQLiteStore.open(path, clock=Clock())
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
try:
    store.compact()
except EvidenceDeskError as error:
    print(error.code)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(len(texts(store, "a")), store.check())
store.compact()
print(len(texts(store, "a")), store.check())
""",
        path,
    )
    assert printed.splitlines() == ["disk_full", "3000 ()", "3000 ()"]
    assert [file.suffix for file in (path / "gen-1").iterdir()] == [".segment"]


def test_what_an_index_records_of_itself(path: Path, open_sqlite: OpenSQLite) -> None:
    chunking = ChunkingSettings("fixed", (("overlap", 0), ("size", 9)))
    runtime = {"onnxruntime": "1.2", "instructions": "avx512"}
    store = open_sqlite(chunking=chunking, normalisation="3", runtime=runtime)
    put(store, "a", "bike", "rain")
    info = open_sqlite(create=False).info()
    assert info.path == path
    assert info.schema_version == schema.VERSION
    assert info.facts == {"created_at": "2026-03-02T09:00:00+00:00", **runtime}
    (generation,) = info.generations
    assert (generation.embedding, generation.chunking) == (SPEC, chunking)
    assert (generation.normalisation, generation.state) == ("3", "active")
    assert (info.documents, info.chunks) == (1, {1: 2})
    assert info.bytes > 0


def test_closing_twice_is_harmless_and_using_afterwards_is_not(open_sqlite: OpenSQLite) -> None:
    store = open_sqlite()
    store.close()
    store.close()
    assert code_of(store.read(access=AS_STAFF).__enter__) == "index_closed"


def test_opening_again_leaves_creation_settings_alone(open_sqlite: OpenSQLite) -> None:
    open_sqlite(embedding=None).close()
    assert open_sqlite(embedding=SPEC).info().generations[0].embedding is None


def test_two_processes_may_make_the_index_at_once(path: Path, open_sqlite: OpenSQLite) -> None:
    first, second = open_sqlite(), open_sqlite()
    put(first, "a", "bike")
    assert texts(second, "a") == ["bike"]
    assert len(first.info().generations) == 1


def test_the_type_is_what_the_entry_point_names() -> None:
    assert SQLiteStore.__module__.startswith("evidencedesk.adapters.stores.sqlite")
