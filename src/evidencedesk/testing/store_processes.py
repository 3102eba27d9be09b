"""Conformance of stores: killed writers, readers beside a writer, in processes of their own."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable, Iterable
from multiprocessing.context import ForkServerProcess
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from queue import Empty
from typing import Any, NamedTuple

import pytest

from evidencedesk.model import StoreQuery
from evidencedesk.protocols import Snapshot, Store, Writer
from evidencedesk.testing.store_case import AS_STAFF, STAFF, StoreCase, for_all, put
from evidencedesk.testing.strategies import make_chunks, make_document, vector_of

_PROCESSES = multiprocessing.get_context("forkserver")
"""Children are forked from a server that has this module loaded and no store open."""

_PROCESSES.set_forkserver_preload([__name__])
_PATIENCE = 60.0
_READERS = 8

OpenStore = Callable[[str], Store]


def write_version(store: Store, version: int) -> None:
    """Replace the document ``torn`` by its next version, of a length of its own."""
    with store.write() as writer:
        _replace(writer, version)


def write_versions(store: Store, versions: Iterable[int]) -> None:
    """The same for several versions, which share transactions."""
    with store.write() as writer, writer.together():
        for version in versions:
            _replace(writer, version)


def _replace(writer: Writer, version: int) -> None:
    texts = [f"bike v{version} n{number}" for number in range(3 + 7 * version % 11)]
    document = make_document("torn", texts, STAFF)
    writer.replace_document(document, for_all(writer, document))


def version_seen(snapshot: Snapshot) -> int:
    """The version that a snapshot shows, by every way of reading it.

    Raises:
        AssertionError: when it shows a mixture, or not all of a version.
    """
    document = snapshot.document("torn")
    assert document is not None
    expected = document.text.split("\n\n")
    version = int(expected[0].split()[1].removeprefix("v"))
    assert [chunk.text for chunk in snapshot.document_chunks("torn")] == expected
    for query in (
        StoreQuery((("bike",),), None, 100),
        StoreQuery(((f"v{version}",),), None, 100),
        StoreQuery((), vector_of("bike"), 100),
    ):
        result = snapshot.search(query)
        assert [chunk.text for chunk in snapshot.chunks(result.keys.tolist())] == expected
    assert result.statistics.chunks == result.statistics.vectors == len(expected)
    by_text = {chunk.chunk.text: chunk.vector for chunk in make_chunks(document)}
    for text, vector in zip(expected, result.vectors, strict=True):
        assert (by_text[text] == vector).all()
    return version


def write_for_ever(open_store: OpenStore, path: str, version: int, ready: Any) -> None:
    """A writer that is killed in the middle."""
    store = open_store(path)
    while True:
        write_version(store, version + 1)
        write_versions(store, range(version + 2, version + 5))
        version += 4
        ready.set()


def read_until_told(
    open_store: OpenStore, path: str, written: Synchronized[int], stop: Any, report: Any
) -> None:
    """A reader that checks every snapshot, and that it shows what was committed before it."""
    store = open_store(path)
    queries = 0
    with store.read(access=AS_STAFF) as snapshot:
        version_seen(snapshot)
    report.put("ready")
    while not stop.is_set():
        committed = written.value
        with store.read(access=AS_STAFF) as snapshot:
            seen = version_seen(snapshot)
        if seen < committed:
            report.put(f"saw version {seen} after {committed} was committed")
            return
        queries += 1
    store.close()
    report.put(queries)


class Survived(NamedTuple):
    """What a store holds after a writer was killed."""

    before: int
    """The version that the writer before it left."""
    version: int
    problems: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether the store agrees with itself and has what was written before the kill."""
        return not self.problems and self.version > self.before


class ReadBeside(NamedTuple):
    """What readers tell of themselves that read while another process wrote."""

    counts: list[int | str]
    """How many whole versions each has read, or what it saw that was none."""
    problems: tuple[str, ...]


class ProcessContract(StoreCase):
    """Processes that die or read while another writes."""

    def test_a_killed_writer_leaves_all_or_nothing(self, tmp_path: Path) -> None:
        survived = self.kill_writers(tmp_path / "s.desk", times=20)
        assert [each.whole for each in survived] == [True] * 20, survived

    @pytest.mark.slow
    def test_a_writer_killed_two_hundred_times(self, tmp_path: Path) -> None:
        survived = self.kill_writers(tmp_path / "s.desk", times=200)
        assert [each.whole for each in survived] == [True] * 200, survived

    def kill_writers(self, path: Path, times: int) -> list[Survived]:
        """Kill a writer ``times`` times at random instants; what is there after each kill."""
        instants = random.Random(7)  # noqa: S311
        with self.opened(path) as store:
            write_version(store, 0)
        survived: list[Survived] = []
        for _ in range(times):
            version = survived[-1].version if survived else 0
            ready = _PROCESSES.Event()
            open_store = type(self).open_store
            writer = _started(write_for_ever, open_store, str(path), version, ready)
            assert ready.wait(_PATIENCE)
            time.sleep(instants.uniform(0.0, 0.06))
            writer.kill()
            writer.join(_PATIENCE)
            with self.opened(path) as store, store.read(access=AS_STAFF) as snapshot:
                survived.append(Survived(version, version_seen(snapshot), store.check()))
        return survived

    def test_eight_readers_beside_a_writer(self, tmp_path: Path) -> None:
        counts, problems = self.read_beside_a_writer(tmp_path / "s.desk")
        assert len(counts) == _READERS
        assert all(isinstance(count, int) and count > 0 for count in counts), counts
        assert problems == ()

    def read_beside_a_writer(self, path: Path) -> ReadBeside:
        """Eight processes read while 149 versions are written; what they and the store tell then."""
        written = _PROCESSES.Value("q", 0)
        stop = _PROCESSES.Event()
        report = _PROCESSES.Queue()
        with self.opened(path) as store:
            write_version(store, 0)
            readers = [
                _started(read_until_told, type(self).open_store, str(path), written, stop, report)
                for _ in range(_READERS)
            ]
            assert [report.get(timeout=_PATIENCE) for _ in readers] == ["ready"] * _READERS
            for version in range(1, 150):
                write_version(store, version)
                written.value = version
                if version % 40 == 0:
                    self.tidy(store)
            stop.set()
            counts = [report.get(timeout=_PATIENCE) for _ in readers]
            for reader in readers:
                reader.join(_PATIENCE)
            with pytest.raises(Empty):
                report.get_nowait()
            return ReadBeside(counts, store.check())

    def test_a_change_by_another_store_is_seen_by_the_next_query(self, tmp_path: Path) -> None:
        path = tmp_path / "s.desk"
        with self.opened(path) as first, self.opened(path) as second:
            for version in range(30):
                write_version(first if version % 2 else second, version)
                for store in (first, second):
                    with store.read(access=AS_STAFF) as snapshot:
                        assert version_seen(snapshot) == version

    def test_a_snapshot_stays_what_it_was(self, store: Store) -> None:
        write_version(store, 0)
        with store.read(access=AS_STAFF) as snapshot:
            write_version(store, 1)
            self.tidy(store)
            assert version_seen(snapshot) == 0
            with store.write() as writer:
                writer.remove_document("default", "torn")
            self.tidy(store)
            put(store, "b", "bike")
            assert version_seen(snapshot) == 0
        with store.read(access=AS_STAFF) as snapshot:
            assert snapshot.document("torn") is None


def _started(target: Callable[..., None], *arguments: object) -> ForkServerProcess:
    process = _PROCESSES.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process
