from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import broken_parsers
import pytest

from evidencedesk.errors import InternalError, MetadataError, ParseError
from evidencedesk.ingestion.sandbox import ParseLimits, ParserPool

NAMES = [name for name in vars(broken_parsers) if name[0].isupper()]
PARSERS = {name: f"broken_parsers:{name}" for name in NAMES}
LIMITS = ParseLimits(
    memory_bytes=640 << 20, cpu_seconds=1, wall_seconds=10, max_chars=5_000, max_pages=10
)


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    with ParserPool(PARSERS, LIMITS) as pool:
        yield pool


def child_of(pool: ParserPool) -> int:
    return int(pool.parse(b"", "a", "Pid").text)


def gone(pid: int, within: float = 5.0) -> bool:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_every_field_survives_the_way(pool: ParserPool) -> None:
    sent = broken_parsers.Everything().parse("é🚲".encode(), "a")
    assert pool.parse("é🚲".encode(), "a", "Everything") == sent


def test_one_process_parses_many_files(pool: ParserPool) -> None:
    assert child_of(pool) == child_of(pool) != os.getpid()


@pytest.mark.parametrize(
    ("parser", "code"),
    [
        ("LoopsForever", "timeout"),
        ("EatsMemory", "memory"),
        ("Raises", "parser_crashed"),
        ("Exits", "parser_crashed"),
        ("Segfaults", "parser_crashed"),
        ("ManyPages", "too_large"),
        ("Endless", "too_large"),
        ("Refuses", "encrypted"),
        ("Lies", "parser_crashed"),
    ],
)
def test_a_file_that_breaks_a_parser_costs_that_file_only(
    pool: ParserPool, parser: str, code: str
) -> None:
    with pytest.raises(ParseError, match=r"bad\.file") as caught:
        pool.parse(b"x", "bad.file", parser)
    assert caught.value.code == code
    assert caught.value.hint
    assert pool.parse(b"next", "good.file", "Echo").text == "next"


def test_time_without_work_runs_out_too() -> None:
    limits = ParseLimits(wall_seconds=0.5)
    with ParserPool(PARSERS, limits) as pool, pytest.raises(ParseError, match=r"0\.5 seconds") as e:
        pool.parse(b"", "slow.file", "Sleeps")
    assert e.value.code == "timeout"


def test_errors_of_parsers_keep_their_kind(pool: ParserPool) -> None:
    with pytest.raises(MetadataError) as caught:
        pool.parse(b"", "a.md", "BadFrontMatter")
    assert caught.value.code == "duplicate_key"
    assert str(caught.value) == "a.md, line 2: no. Keep one."


def test_the_exception_that_ended_a_parser_is_named(pool: ParserPool) -> None:
    with pytest.raises(ParseError, match="KeyError: 'no such key'"):
        pool.parse(b"x", "a", "Raises")


def test_printing_does_not_disturb_the_conversation(pool: ParserPool) -> None:
    assert pool.parse(b"", "a", "Prints").text == "quiet"
    assert pool.parse(b"still here", "a", "Echo").text == "still here"


def test_large_files_pass_both_ways() -> None:
    with ParserPool(PARSERS) as pool:
        text = "0123456789" * 1_000_000
        assert pool.parse(text.encode(), "a", "Echo").text == text


def test_what_has_no_parser_is_unsupported(pool: ParserPool) -> None:
    with pytest.raises(ParseError) as caught:
        pool.parse(b"", "a.xyz", "application/xyz")
    assert caught.value.code == "unsupported"


def test_the_process_is_replaced_after_its_share_of_files() -> None:
    with ParserPool(PARSERS, ParseLimits(files_per_process=2)) as pool:
        pids = [child_of(pool) for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_a_process_that_died_between_files_is_replaced() -> None:
    with ParserPool(PARSERS) as pool:
        pid = child_of(pool)
        os.kill(pid, signal.SIGKILL)
        # Its threads end one by one: a zombie can be waited for only when the last one has gone.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert child_of(pool) != pid


def test_closing_ends_the_process() -> None:
    pool = ParserPool(PARSERS)
    pid = child_of(pool)
    pool.close()
    assert gone(pid)


def test_closing_ends_a_parse_in_another_thread() -> None:
    pool = ParserPool(PARSERS)
    child_of(pool)
    codes: list[str] = []

    def parse() -> None:
        with pytest.raises(ParseError) as caught:
            pool.parse(b"", "a", "Sleeps")
        codes.append(caught.value.code)

    thread = threading.Thread(target=parse)
    thread.start()
    time.sleep(0.2)
    pool.close()
    thread.join(timeout=10)
    assert codes == ["parser_crashed"]


def test_threads_take_turns() -> None:
    with ParserPool(PARSERS) as pool:
        found: list[str] = []

        def parse(name: str) -> None:
            found.extend(pool.parse(name.encode(), name, "Echo").text for _ in range(20))

        threads = [threading.Thread(target=parse, args=(f"t{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == sorted(f"t{n}" for n in range(4) for _ in range(20))


def test_a_parser_that_is_not_there_is_reported() -> None:
    with ParserPool({"x": "no_such_module:Parser"}) as pool, pytest.raises(ParseError) as caught:
        pool.parse(b"", "a", "x")
    assert "no_such_module" in caught.value.message


def test_a_process_that_cannot_start_is_our_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with ParserPool(PARSERS) as pool, pytest.raises(InternalError) as caught:
        pool.parse(b"", "a", "Echo")
    assert caught.value.code == "parser_start"


def test_a_broken_installation_says_what_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('numpy is in pieces')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with ParserPool(PARSERS) as pool, pytest.raises(InternalError, match="numpy is in pieces"):
        pool.parse(b"", "a", "Echo")


PARENT = """
import sys
sys.path.insert(0, {folder!r})
from evidencedesk.ingestion.sandbox import ParserPool
pool = ParserPool({{"Pid": "broken_parsers:Pid", "Busy": "broken_parsers:{busy}"}})
print(pool.parse(b"", "a", "Pid").text, flush=True)
pool.parse(b"", "a", "Busy")
"""


@pytest.mark.parametrize("busy", ["LoopsForever", "Sleeps"])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_the_process_dies_with_its_parent(busy: str, end: signal.Signals) -> None:
    script = PARENT.format(folder=str(Path(__file__).parent), busy=busy)
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.send_signal(end)
    assert gone(child)
