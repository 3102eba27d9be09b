"""A network that is really cut, a disk that is really full, clocks that really disagree."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import psycopg
import pytest
from postgres_stores import FixedClock, url_of

from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.errors import IndexUnavailableError
from evidencedesk.testing.postgres_server import PostgresServer, temporary_server
from evidencedesk.testing.store_case import AS_STAFF, put, texts
from evidencedesk.testing.strategies import SPEC

NAMESPACE = "evidencedesk-test"
NETWORK = "10.123.45"

CLIENT = """
import sys, time
from postgres_stores import FixedClock
from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.adapters.stores.postgres.connections import Limits
from evidencedesk.errors import IndexUnavailableError
from evidencedesk.testing.store_case import AS_STAFF, put, texts
from evidencedesk.testing.strategies import SPEC

limits = Limits(connect=3.0, cut=3.0)
store = PostgresStore.open(
    sys.argv[1], create=True, clock=FixedClock(), embedding=SPEC, limits=limits
)
put(store, "a", "version 0")
print("ready", flush=True)
written, failure, started = 0, "", time.monotonic()
while not failure:
    try:
        put(store, "a", f"version {written + 1}")
        written, started = written + 1, time.monotonic()
    except IndexUnavailableError as error:
        failure = error.code
print(failure, round(time.monotonic() - started, 1), flush=True)
sys.stdin.readline()
seen = int(texts(store, "a")[0].split()[1])
print("whole" if seen in (written, written + 1) and not store.check() else "torn", flush=True)
store.close()
"""


def network(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextmanager
def cable() -> Iterator[None]:
    """A network namespace of the test's own with one cable to it."""
    network("netns", "add", NAMESPACE)
    try:
        network("link", "add", "ed-test0", "type", "veth", "peer", "name", "ed-test1")
        network("link", "set", "ed-test1", "netns", NAMESPACE)
        network("addr", "add", f"{NETWORK}.1/24", "dev", "ed-test0")
        network("link", "set", "ed-test0", "up")
        inside = ("netns", "exec", NAMESPACE, "ip")
        network(*inside, "addr", "add", f"{NETWORK}.2/24", "dev", "ed-test1")
        network(*inside, "link", "set", "ed-test1", "up")
        yield
    finally:
        network("netns", "del", NAMESPACE)


@pytest.mark.slow
def test_a_network_that_is_cut_is_an_error_soon_and_heals() -> None:
    """Needs root: the client runs in a network namespace of its own."""
    with cable(), temporary_server(listen_addresses=f"{NETWORK}.1") as server:
        server.stop()
        server.let_in(f"{NETWORK}.0/24")
        server.start()
        url = f"postgresql://postgres@{NETWORK}.1/postgres?schema=cut"
        client = subprocess.Popen(
            ["ip", "netns", "exec", NAMESPACE, sys.executable, "-c", CLIENT, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent,
        )
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
        network("link", "set", "ed-test0", "down")
        code, seconds = client.stdout.readline().split()
        network("link", "set", "ed-test0", "up")
        client.stdin.write("healed\n")
        client.stdin.flush()
        assert client.stdout.readline() == "whole\n"
        assert client.wait(30) == 0
        client.stdin.close()
        client.stdout.close()
    assert code == "index_unreachable"
    assert float(seconds) < 15.0


@contextmanager
def small_disk(server: PostgresServer, megabytes: int) -> Iterator[Path]:
    folder = server.folder / "small"
    folder.mkdir()
    owner = server.data.stat().st_uid
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,uid={owner}", "tmpfs", str(folder)],
        check=True,
    )
    try:
        yield folder
    finally:
        server.stop()
        subprocess.run(["umount", str(folder)], check=True)


def fill(store: PostgresStore) -> int:
    """Write documents until the disk is full; how many were acknowledged."""
    codes: list[str] = []
    for number in count():
        try:
            put(store, f"d{number}", *(f"bike w{number} n{row} " + "x" * 500 for row in range(60)))
        except IndexUnavailableError as error:
            codes.append(error.code)
        if codes:
            break
    assert codes == ["disk_full"]
    return number


@pytest.mark.slow
def test_a_full_disk_undoes_the_last_change_and_nothing_else() -> None:
    """Needs root: the tables lie on a small file system that is mounted for them."""
    with temporary_server() as server, small_disk(server, 24) as folder:
        with psycopg.connect(server.url(), autocommit=True) as operator:
            operator.execute("CREATE EXTENSION vector")
            operator.execute(f"CREATE TABLESPACE small LOCATION '{folder}'".encode())
            operator.execute("ALTER DATABASE postgres SET default_tablespace = 'small'")
        url = server.url(schema="full")
        with closing(
            PostgresStore.open(url, create=True, clock=FixedClock(), embedding=SPEC)
        ) as store:
            written = fill(store)
            assert written > 2
            assert store.check() == ()
            assert [len(texts(store, f"d{number}")) for number in range(written)] == [60] * written
            assert texts(store, f"d{written}") == []


class SkewedClock:
    """Goes back an hour every time it is asked."""

    def __init__(self) -> None:
        self._now = datetime(2026, 3, 2, tzinfo=UTC)

    def now(self) -> datetime:
        self._now -= timedelta(hours=1)
        return self._now

    def monotonic(self) -> float:
        return 0.0


@pytest.mark.usefixtures("postgres_url")
@pytest.mark.parametrize("clock", [SkewedClock, FixedClock])
def test_order_is_that_of_writing_whatever_clocks_say(
    tmp_path: Path, clock: Callable[[], SkewedClock | FixedClock]
) -> None:
    url = url_of(str(tmp_path))
    with closing(PostgresStore.open(url, create=True, clock=clock(), embedding=SPEC)) as store:
        made = [put(store, "a", f"version {number}") for number in range(4)]
        with store.read(access=AS_STAFF) as snapshot:
            hashes = [record.content_hash for record in snapshot.history("a")]
    assert hashes == [document.content_hash for document in reversed(made[:-1])]
