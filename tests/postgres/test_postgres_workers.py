"""Workers: each file is done whatever happens to those who do it, and tenants take turns."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from postgres_stores import url_of

from evidencedesk.access import Principal
from evidencedesk.adapters.queues.postgres import FileFailedError, Pace, PostgresQueue
from evidencedesk.desk import Desk
from evidencedesk.desk.queueing import jobs_for, working
from evidencedesk.errors import IndexUnavailableError, UsageError
from evidencedesk.model.job import IngestJob
from evidencedesk.settings import Settings

OPERATOR = Principal(administrator=True)
KEYWORDS = Settings.model_validate({"embedding": {"model": "none"}})
NOTHING: dict[str, Any] = dict.fromkeys(("deny", "status", "lang", "owner"))
EVERYONE = {**NOTHING, "roles": frozenset({"everyone"})}
QUICK = Pace(sign_of_life=0.3, given_up=1.5, poll=0.3)

WORKER = """
import sys
from evidencedesk.adapters.queues.postgres import PostgresQueue
from evidencedesk.desk import Desk
from evidencedesk.desk.queueing import working
sys.path.insert(0, sys.argv[2])
from test_postgres_workers import KEYWORDS, QUICK
with Desk.open(sys.argv[1], settings=KEYWORDS) as desk, working(desk) as run:
    PostgresQueue.open(sys.argv[1], QUICK).work(run)
"""


@pytest.fixture
def url(postgres_url: str, tmp_path: Path) -> str:
    return url_of(str(tmp_path))


@pytest.fixture
def queue(url: str) -> PostgresQueue:
    return PostgresQueue.open(url, QUICK)


def write_files(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        text = f"# File {number}\n\nThe code of file {number} is w{number}.\n"
        (folder / f"f{number}.md").write_text(text)
    return folder


def job(tenant: str, number: int) -> IngestJob:
    return IngestJob(tenant, "/x", ((f"/x/{number}.md", f"{number}.md"),), {})


def test_a_queue_is_done_once_and_then_empty(
    url: str, queue: PostgresQueue, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "docs", 30)
    with Desk.open(url, settings=KEYWORDS, create=True) as desk:
        jobs = jobs_for(desk, [folder], EVERYONE)
        assert [len(each.files) for each in jobs] == [25, 5]
        assert queue.put(jobs) == 2
        assert queue.put(jobs) == 0
        with working(desk) as run:
            queue.work(run, wait=False)
        records = list(desk.documents(principal=OPERATOR))
        assert sorted(record.id for record in records) == sorted(f"f{n}" for n in range(30))
        assert {record.roles for record in records} == {frozenset({"everyone"})}
        assert [entry.outcome for entry in desk.log(principal=OPERATOR)] == ["added"] * 30
    counts = queue.counts()
    assert (dict(counts.waiting), counts.doing, counts.failed) == ({}, 0, 0)


def test_tenants_take_turns(queue: PostgresQueue) -> None:
    queue.put([job("big", number) for number in range(100)])
    queue.put([job("small", number) for number in range(3)])
    done: list[str] = []
    queue.work(lambda each: done.append(each.tenant), wait=False)
    assert done.count("big") == 100
    assert max(place for place, tenant in enumerate(done) if tenant == "small") < 15


def test_a_file_that_cannot_be_read_is_given_up_seen_and_retried(queue: PostgresQueue) -> None:
    tried: list[str] = []

    def run(each: IngestJob) -> None:
        tried.append(each.files[0][1])
        if tried[-1] == "1.md" and tried.count("1.md") == 1:
            raise FileFailedError("1.md: damaged")

    queue.put([job("default", number) for number in range(3)])
    queue.work(run, wait=False)
    failed = queue.failed()
    assert [(each.job.files, each.attempts) for each in failed] == [(job("default", 1).files, 1)]
    with pytest.raises(UsageError) as unknown:
        queue.retry(failed[0].id + 1000, datetime.now(UTC))
    assert unknown.value.code == "not_found"
    queue.retry(failed[0].id, datetime.now(UTC))
    queue.work(run, wait=False)
    assert queue.failed() == ()
    assert tried.count("1.md") == 2


def test_an_index_that_is_busy_is_tried_again(queue: PostgresQueue) -> None:
    tried: list[float] = []

    def run(each: IngestJob) -> None:
        tried.append(time.monotonic())
        if len(tried) == 1:
            raise IndexUnavailableError("busy", code="index_busy")

    queue.put([job("default", 0)])
    deadline = time.monotonic() + 20
    while len(tried) < 2 and time.monotonic() < deadline:
        queue.work(run, wait=False)
    assert len(tried) == 2
    assert tried[1] - tried[0] > 1.0


def test_a_full_queue_takes_no_more(url: str) -> None:
    queue = PostgresQueue.open(url, Pace(most_waiting=5))
    queue.put([job("default", number) for number in range(5)])
    with pytest.raises(UsageError) as refused:
        queue.put([job("default", 9)])
    assert refused.value.code == "queue_full"


@contextmanager
def workers(url: str, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    here = str(Path(__file__).parent)
    started = [
        subprocess.Popen([sys.executable, "-c", WORKER, url, here], cwd=here) for _ in range(count)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


class Done(NamedTuple):
    """What is there when all work is done."""

    indexed: list[str]
    logged: set[str]
    failed: int
    agrees: bool
    """Whether the index agrees with itself."""


def expected(files: int) -> Done:
    """Each file once, and no more."""
    ids = sorted(f"f{number}" for number in range(files))
    return Done(ids, set(ids), failed=0, agrees=True)


def done_by_workers_that_are_killed(
    url: str, queue: PostgresQueue, folder: Path, *, files: int, killed: int
) -> Done:
    instants = random.Random(5)
    write_files(folder, files)
    started = time.monotonic()
    with Desk.open(url, settings=KEYWORDS, create=True) as desk:
        queue.put(jobs_for(desk, [folder], EVERYONE))
        kills = 0
        while sum(queue.counts().waiting.values()) + queue.counts().doing:
            with workers(url, 4) as running:
                if kills < killed:
                    time.sleep(instants.uniform(2.0, 5.0))
                    for process in running:
                        process.kill()
                    kills += len(running)
                    continue
                while sum(queue.counts().waiting.values()) + queue.counts().doing:
                    assert any(process.poll() is None for process in running)
                    time.sleep(0.2)
        seconds = time.monotonic() - started
        ids = [record.id for record in desk.documents(principal=OPERATOR)]
        added = [e.document_id for e in desk.log(principal=OPERATOR, limit=10 * files)]
        sys.stdout.write(
            f"{files} files, {kills} workers killed, {len(ids)} indexed, "
            f"{len(ids) - len(set(ids))} twice, {files / seconds:.0f} files/s\n"
        )
        return Done(sorted(ids), set(added), queue.counts().failed, desk.doctor()[2].ok)


@pytest.mark.slow
def test_four_workers_killed_at_random_index_each_file_once(
    url: str, queue: PostgresQueue, tmp_path: Path
) -> None:
    done = done_by_workers_that_are_killed(url, queue, tmp_path / "docs", files=400, killed=8)
    assert done == expected(400)


@pytest.mark.slow
def test_ten_thousand_documents_through_four_workers_killed_at_random(
    url: str, queue: PostgresQueue, tmp_path: Path
) -> None:
    done = done_by_workers_that_are_killed(url, queue, tmp_path / "docs", files=10_000, killed=40)
    assert done == expected(10_000)
