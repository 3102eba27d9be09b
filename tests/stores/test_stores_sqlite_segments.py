from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evidencedesk.adapters.stores.sqlite import SQLiteStore, schema
from evidencedesk.adapters.stores.sqlite.compaction import compact
from evidencedesk.adapters.stores.sqlite.state import State
from evidencedesk.model import ChunkingSettings, StoreQuery
from evidencedesk.testing.store_case import AS_STAFF, for_all, put, texts
from evidencedesk.testing.store_permissions import everything_seen
from evidencedesk.testing.strategies import SPEC, make_chunks, vector_of

OpenSQLite = Callable[..., SQLiteStore]
GROUPS = (("bike",), ("rain", "gear"))


def state_of(store: SQLiteStore) -> State:
    """The state that readers of the active generation share."""
    return store._states[1]


def segments(path: Path) -> list[Path]:
    return sorted((path / "gen-1").glob("*.segment"))


def filled(store: SQLiteStore, documents: int = 6) -> None:
    for number in range(documents):
        put(store, f"d{number}", f"bike w{number}", f"rain w{number}", "gear")


def seen(store: SQLiteStore) -> dict[str, object]:
    with store.read(access=AS_STAFF) as snapshot:
        return everything_seen(snapshot, GROUPS)


def mapped(store: SQLiteStore) -> int:
    with store.read(access=AS_STAFF):
        pass
    return sum(bool(part.segment) for part in state_of(store).parts)


def test_a_segment_answers_like_rows(path: Path, open_sqlite: OpenSQLite) -> None:
    store = open_sqlite()
    filled(store)
    before = seen(store)
    assert mapped(store) == 0
    store.compact()
    assert mapped(store) == mapped(open_sqlite()) == 1
    assert seen(store) == seen(open_sqlite()) == before
    assert store.check() == ()


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-64])


def _flip_header(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[9] ^= 1
    file.write_bytes(data)


def _flip_magic(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[0] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("damage", [Path.unlink, _truncate, _flip_header, _flip_magic])
def test_an_unusable_segment_is_reported_read_around_and_mended(
    path: Path, open_sqlite: OpenSQLite, damage: Callable[[Path], None]
) -> None:
    store = open_sqlite()
    filled(store)
    before = seen(store)
    store.compact()
    (file,) = segments(path)
    damage(file)
    fresh = open_sqlite()
    assert mapped(fresh) == 0
    assert seen(fresh) == before
    (report,) = fresh.check()
    assert file.name in report
    put(fresh, "more", "bike")
    fresh.compact()
    assert fresh.check() == ()
    assert mapped(fresh) == 1


def test_silent_damage_in_a_segment_is_found_by_its_checksum(
    path: Path, open_sqlite: OpenSQLite
) -> None:
    store = open_sqlite()
    filled(store)
    store.compact()
    (file,) = segments(path)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert [line for line in store.check() if "checksum" in line]


def test_segments_stay_few_and_orphans_go(path: Path, open_sqlite: OpenSQLite) -> None:
    store = open_sqlite(compact_after=4)
    (path / "gen-1").mkdir()
    (path / "gen-1" / "77-0.segment").write_text("left by a crash")
    (path / "gen-1" / "78-0.part").write_text("left by a crash")
    (path / "gen-9").mkdir()
    (path / "gen-x").mkdir()
    for number in range(120):
        put(store, f"d{number}", "bike", "rain")
    assert not (path / "gen-1" / "77-0.segment").exists()
    assert not (path / "gen-9").exists()
    assert (path / "gen-x").exists()
    assert mapped(store) <= 8
    store.compact()
    assert len(segments(path)) == mapped(store)
    assert store.check() == ()


def test_a_segment_that_is_mostly_dead_is_written_anew(path: Path, open_sqlite: OpenSQLite) -> None:
    store = open_sqlite(compact_after=1000)
    filled(store, 10)
    store.compact()
    with store.write() as writer:
        for number in range(4):
            writer.remove_document("default", f"d{number}")
    _compact_gently(store)
    with store.read(access=AS_STAFF):
        pass
    assert sum(map(len, state_of(store).parts)) == 30
    with store.write() as writer:
        for number in range(4, 7):
            writer.remove_document("default", f"d{number}")
    before = seen(store)
    _compact_gently(store)
    assert seen(store) == before
    assert sum(map(len, state_of(store).parts)) == 9
    with store.write() as writer:
        for number in range(7, 10):
            writer.remove_document("default", f"d{number}")
    store.compact()
    assert segments(path) == []
    assert mapped(store) == 0
    put(store, "a", "bike")
    assert texts(store, "a") == ["bike"]
    assert store.check() == ()


def _compact_gently(store: SQLiteStore) -> None:
    with store._pool.connection() as connection:
        compact(connection, store._files, tail=1000)


def test_a_reader_is_not_disturbed_by_compaction(path: Path, open_sqlite: OpenSQLite) -> None:
    store, other = open_sqlite(), open_sqlite()
    filled(store)
    store.compact()
    with store.read(access=AS_STAFF) as snapshot:
        before = everything_seen(snapshot, GROUPS)
        with other.write() as writer:
            writer.remove_document("default", "d0")
        other.compact()
        other.compact()
        assert everything_seen(snapshot, GROUPS) == before
    with store.read(access=AS_STAFF) as snapshot:
        assert snapshot.document("d0") is None


def test_only_one_compacts_at_a_time(path: Path, open_sqlite: OpenSQLite) -> None:
    import fcntl  # noqa: PLC0415

    store = open_sqlite()
    filled(store)
    store.compact()
    put(store, "more", "bike")
    with (path / "compaction.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        store.compact()
        assert len(segments(path)) == 1
    store.compact()
    assert mapped(store) == len(segments(path))
    with store.read(access=AS_STAFF):
        assert all(part.segment for part in state_of(store).parts)


def test_generations_have_segments_of_their_own(path: Path, open_sqlite: OpenSQLite) -> None:
    store = open_sqlite(compact_after=2)
    document = put(store, "a", "bike", "rain")
    with store.write() as writer:
        writer.begin_generation(None, ChunkingSettings(), "2")
        writer.put_chunks(2, "default", "a", make_chunks(document, None))
        assert (path / "gen-2").is_dir()
        writer.replace_document(document, for_all(writer, document))
        writer.switch_generation(2)
        writer.switch_generation(1)
        writer.discard_generation(2)
    assert not (path / "gen-2").exists()
    assert texts(store, "a") == ["bike", "rain"]
    assert store.check() == ()


DAMAGE = {
    "text does not have its hash": "UPDATE contents SET text = text || 'x'",
    "an earlier text does not have its hash": "UPDATE history SET text = 'x'",
    "earlier text number 1: belongs to no": "UPDATE history SET doc = 77",
    "is not that of its rights": "UPDATE documents SET class = class + 1",
    "its record belongs to": "UPDATE documents SET id = 'other'",
    "has another access class": "UPDATE placements SET class = 99",
    "should hold 3 chunks and holds 2": "DELETE FROM chunks WHERE ordinal = 1",
    "should hold 3 vectors and holds 2": "DELETE FROM vectors WHERE slot = (SELECT max(slot) FROM vectors)",
    "belongs to no document": "UPDATE placements SET last = last - 1",
    "has no postings": "DELETE FROM features WHERE slot % 2",
    "postings without a chunk": "DELETE FROM chunks WHERE ordinal = 1",
    "vectors without a chunk": "DELETE FROM chunks WHERE ordinal = 1",
    "its text is not that of its span": "UPDATE chunks SET text = 'bikes' WHERE ordinal = 0",
    "is not in the active generation": "DELETE FROM placements",
    "do not add up to its length": "UPDATE features SET length = length + 1",
    "int8 codes are not those of its vector": "UPDATE features SET scale = scale * 2",
    "of a document that is not there": "DELETE FROM documents",
    "does not hold the chunks of its slots": "UPDATE features SET terms = x'0000000000000000' "
    "WHERE slot % 2 = 0 AND length = 1",
    "overlaps the one before it": "INSERT INTO segments "
    "(generation, first, last, rows, file, size, checksum) SELECT generation, first, last, rows, "
    "file, size, checksum FROM segments",
}


@pytest.mark.parametrize(("report", "damage"), DAMAGE.items())
def test_planted_damage_is_found(
    path: Path, open_sqlite: OpenSQLite, report: str, damage: str
) -> None:
    store = open_sqlite()
    put(store, "a", "bike")
    put(store, "a", "bike", "rain", "gear")
    store.compact()
    assert store.check() == ()
    store.close()
    database = sqlite3.connect(path / "index.sqlite3")
    database.execute(damage)
    database.commit()
    database.close()
    assert any(report in line for line in open_sqlite().check())


def test_an_old_database_is_brought_up_to_date(path: Path) -> None:
    later = (*schema.MIGRATIONS, "CREATE TABLE later (x);\nINSERT INTO later VALUES (1);")
    old = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(old)
    old.execute("INSERT INTO facts VALUES ('a', 'b')")
    blank = sqlite3.connect(":memory:", isolation_level=None)
    for database in (old, blank):
        schema.migrate(database, later)
        assert database.execute("PRAGMA user_version").fetchone() == (len(later),)
        assert database.execute("SELECT x FROM later").fetchall() == [(1,)]
        assert schema.application_id(database) == schema.APPLICATION_ID
    assert old.execute("SELECT * FROM facts").fetchall() == [("a", "b")]
    layouts = [
        database.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
        for database in (old, blank)
    ]
    assert layouts[0] == layouts[1]
    for database in (old, blank):
        database.close()


def test_a_clock_set_back_does_not_matter(open_sqlite: OpenSQLite) -> None:
    store = open_sqlite()
    put(store, "a", "bike")
    other = open_sqlite(clock=_Yesterday())
    put(other, "a", "rain")
    put(other, "b", "bike")
    assert texts(store, "a") == ["rain"]
    with store.read(access=AS_STAFF) as snapshot:
        result = snapshot.search(StoreQuery((("bike",), ("rain",)), vector_of("rain"), 5))
        assert [c.document_id for c in snapshot.chunks(result.keys)] == ["a", "b"]
        assert len(snapshot.history("a")) == 1


class _Yesterday:
    def now(self):
        from datetime import UTC, datetime  # noqa: PLC0415

        return datetime(2001, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


def test_very_frequent_terms_are_counted_exactly(open_sqlite: OpenSQLite) -> None:
    store = open_sqlite()
    put(store, "a", " ".join(["bike"] * 70_000), "bike " + "rain " * 300 + "x")
    for _ in range(2):
        with store.read(access=AS_STAFF) as snapshot:
            result = snapshot.search(StoreQuery((("bike",), ("rain",)), None, 5))
            scores = result.keyword_scores
        assert result.group_frequencies.tolist() == [2, 1]
        store.compact()
    assert scores[1] > scores[0] > 0.0
    part = state_of(store).parts[0]
    assert part.postings.counts.dtype == np.uint32
    assert SPEC.dimensions == part.dimensions
