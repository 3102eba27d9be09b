"""A reader that followed every change sees, bit for bit, what one sees that has just opened."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_stores_contract import FixedClock

from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.sqlite import SQLiteStore, rows
from evidencedesk.adapters.stores.sqlite.parts import Part
from evidencedesk.adapters.stores.sqlite.similarity import numpy_products
from evidencedesk.adapters.stores.sqlite.spreading import SpreadProducts
from evidencedesk.adapters.stores.sqlite.state import State
from evidencedesk.model import StoreQuery
from evidencedesk.testing.store_case import (
    AS_ADMINISTRATOR,
    AS_STAFF,
    apply_step,
    put,
    texts,
)
from evidencedesk.testing.store_permissions import everything_seen
from evidencedesk.testing.strategies import (
    SPEC,
    Step,
    filters,
    steps,
    term_groups,
    vector_of,
)

OpenSQLite = Callable[..., SQLiteStore]


def state_of(store: SQLiteStore) -> State:
    """The state that readers of the active generation share."""
    return store._states[1]


def opened(path: Path, compact_after: int = 6) -> SQLiteStore:
    return SQLiteStore.open(
        path, create=True, clock=FixedClock(), embedding=SPEC, compact_after=compact_after
    )


@given(
    history=steps(max_size=25),
    access=filters(),
    groups=term_groups(),
    compact_after=st.sampled_from((1, 6, 1000)),
    peeks=st.sets(st.integers(0, 24)),
)
@settings(max_examples=40)
def test_following_changes_leads_to_the_same_state_as_opening(
    history: list[Step],
    access: AccessFilter,
    groups: tuple[tuple[str, ...], ...],
    compact_after: int,
    peeks: set[int],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.desk"
        writing, following = opened(path, compact_after), opened(path)
        documents: dict = {}
        with writing.write() as writer:
            for number, step in enumerate(history):
                if step.kind == "tidy":
                    writing.compact()
                else:
                    apply_step(writer, step, documents)
                if number in peeks:
                    with following.read(access=access) as snapshot:
                        snapshot.search(StoreQuery(groups, None, 3))
        fresh = opened(path)
        with following.read(access=access) as snapshot, fresh.read(access=access) as other:
            assert everything_seen(snapshot, groups) == everything_seen(other, groups)
            query = StoreQuery(groups, vector_of("rain"), 5)
            assert np.array_equal(snapshot.search(query).keys, other.search(query).keys)
        assert fresh.check() == ()
        for store in (writing, following, fresh):
            store.close()


def test_a_reader_far_behind_loads_anew(
    open_sqlite: OpenSQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_CHANGES_KEPT", 3)
    writing, following = open_sqlite(), open_sqlite()
    put(writing, "a", "bike")
    assert texts(following, "a") == ["bike"]
    for number in range(10):
        put(writing, "a", f"bike w{number}")
    with following.read(access=AS_STAFF) as snapshot:
        result = snapshot.search(StoreQuery((("bike",),), None, 10))
        assert [c.text for c in snapshot.chunks(result.keys)] == ["bike w9"]
        assert result.statistics.chunks == 1


def test_many_small_changes_keep_the_parts_of_a_reader_few(open_sqlite: OpenSQLite) -> None:
    writing, following = open_sqlite(), open_sqlite()
    for number in range(200):
        put(writing, f"d{number}", "bike", "rain")
        assert texts(following, f"d{number}") == ["bike", "rain"]
    state = state_of(following)
    assert len(state.parts) <= 9
    assert sum(map(len, state.parts)) == 400


def test_a_document_replaced_again_and_again_does_not_pile_up(open_sqlite: OpenSQLite) -> None:
    writing, following = open_sqlite(), open_sqlite()
    for number in range(100):
        put(writing, "a", *["bike"] * (number % 7 + 1))
        with following.read(access=AS_STAFF) as snapshot:
            query = StoreQuery((("bike",),), None, 100)
            assert len(snapshot.search(query).keys) == number % 7 + 1
    state = state_of(following)
    assert sum(map(len, state.parts)) < 40


def test_threads_share_a_store(open_sqlite: OpenSQLite) -> None:
    store = open_sqlite(compact_after=20)
    put(store, "a", "bike v0")
    failures: list[BaseException] = []
    stop = threading.Event()

    def read() -> None:
        last = 0
        try:
            while not stop.is_set():
                with store.read(access=AS_STAFF) as snapshot:
                    snapshot.search(StoreQuery((), vector_of("bike"), 50))
                    result = snapshot.search(StoreQuery((("bike",),), None, 50))
                    found = [chunk.text for chunk in snapshot.chunks(result.keys)]
                    assert found == [chunk.text for chunk in snapshot.document_chunks("a")]
                    version = int(found[0].split("v")[1])
                    assert version >= last
                    last = version
        except AssertionError as error:
            failures.append(error)

    def write(first: int) -> None:
        for number in range(30):
            put(store, f"other{first}", f"gear w{number}")

    readers = [threading.Thread(target=read) for _ in range(4)]
    writers = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in (*readers, *writers):
        thread.start()
    for version in range(1, 60):
        put(store, "a", *[f"bike v{version}"] * (version % 5 + 1))
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert failures == []
    assert store.check() == ()


def test_numpy_alone_finds_the_same(open_sqlite: OpenSQLite) -> None:
    first, second = open_sqlite(), open_sqlite()
    second._products = SpreadProducts(numpy_products, 2)
    put(first, "a", *(f"w{number} bike" for number in range(300)))
    query = StoreQuery((("bike",),), vector_of("rain"), 7)
    for access in (AS_STAFF, AS_ADMINISTRATOR):
        with first.read(access=access) as one, second.read(access=access) as other:
            left, right = one.search(query), other.search(query)
        assert np.array_equal(left.keys, right.keys)
        assert left.statistics == right.statistics
        assert left.vector_scores.tobytes() == right.vector_scores.tobytes()


def test_merging_parts_is_reading_them_together(open_sqlite: OpenSQLite) -> None:
    writing, following = open_sqlite(), open_sqlite()
    parts = []
    for name, *paragraphs in (("a", "bike fee", "rain rain", "lock"), ("b", "gear bike", "noise")):
        put(writing, name, *paragraphs)
        assert texts(following, name) == paragraphs
        parts.append(state_of(following).parts)
    assert [list(map(len, known)) for known in parts] == [[3], [5]]
    fresh = open_sqlite()
    assert texts(fresh, "b") == ["gear bike", "noise"]
    assert _bytes_of(parts[1][0]) == _bytes_of(state_of(fresh).parts[0])


def _bytes_of(part: Part) -> list[bytes]:
    postings = part.postings
    arrays = (part.slots, part.lengths, part.scales, part.codes, postings.terms, postings.offsets)
    rest = (postings.rows, postings.counts.astype(np.uint32))
    return [np.ascontiguousarray(array).tobytes() for array in (*arrays, *rest)]
