"""What the server remembers: keys, sessions, jobs; shared by processes, held for a while, lost never."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.access import Principal
from evidencedesk.desk.keeping import Said
from evidencedesk.errors import IndexUnavailableError, UsageError
from evidencedesk.server.identity import GRANTABLE, Permission
from evidencedesk.server.state.database import StateDatabase
from evidencedesk.server.state.jobs import KEPT, LEASE, JobFile, Jobs, _said_from, _said_text
from evidencedesk.server.state.keys import ApiKeys, KeyGrant
from evidencedesk.testing.clock import SteppingClock

FILE = JobFile(0, "a.md", 3, "sha256:00", "ab" * 12)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[StateDatabase]:
    opened = StateDatabase(tmp_path / "state" / "server.sqlite3")
    yield opened
    opened.close()


@pytest.fixture
def jobs(database: StateDatabase, clock: SteppingClock) -> Jobs:
    return Jobs(database, clock)


def added(jobs: Jobs, job_id: str, owner: str = "me", **more: Any) -> str | None:
    options = {"idempotency_key": None, "request_hash": b"", **more}
    return jobs.add(job_id, owner, Principal(roles=frozenset({"a"})), Said(), [FILE], **options)


def test_a_job_is_held_by_one_worker_at_a_time(jobs: Jobs, clock: SteppingClock) -> None:
    added(jobs, "j1")
    first = jobs.claim("w1")
    assert first is not None
    assert (first.id, first.attempts, first.principal.roles) == ("j1", 1, frozenset({"a"}))
    assert jobs.claim("w2") is None
    clock.move(LEASE - timedelta(seconds=1))
    assert jobs.renew("j1", "w1")
    clock.move(LEASE - timedelta(seconds=1))
    assert jobs.claim("w2") is None
    clock.move(timedelta(seconds=2))
    again = jobs.claim("w2")
    assert again is not None
    assert again.attempts == 2
    assert not jobs.renew("j1", "w1"), "it is another worker's by now"


def test_what_was_done_is_not_done_again(jobs: Jobs, clock: SteppingClock) -> None:
    added(jobs, "j1")
    jobs.claim("w1")
    jobs.record("j1", 0, {"state": "done"})
    clock.move(LEASE)
    again = jobs.claim("w2")
    assert again is not None
    assert [file.outcome for file in again.files] == [{"state": "done"}]
    jobs.finish("j1")
    clock.move(LEASE)
    assert jobs.claim("w3") is None
    assert jobs.waiting("me") == 0


def test_a_job_that_was_put_back_waits_first(jobs: Jobs, clock: SteppingClock) -> None:
    added(jobs, "j1")
    jobs.claim("w1")
    jobs.put_back("j1", timedelta(seconds=2))
    assert jobs.claim("w2") is None
    clock.move(timedelta(seconds=2))
    assert jobs.claim("w2") is not None


def test_jobs_are_taken_in_their_order_and_once(jobs: Jobs, clock: SteppingClock) -> None:
    for number in range(20):
        clock.move(timedelta(milliseconds=1))
        added(jobs, f"j{number:02}")
    taken: list[str] = []
    lock = threading.Lock()

    def work(name: str) -> None:
        while (job := jobs.claim(name)) is not None:
            with lock:
                taken.append(job.id)
            jobs.finish(job.id)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [f"j{number:02}" for number in range(20)]


def test_jobs_that_are_over_are_forgotten_with_their_keys(jobs: Jobs, clock: SteppingClock) -> None:
    added(jobs, "j1", idempotency_key="k")
    jobs.finish("j1")
    clock.move(KEPT - timedelta(seconds=1))
    jobs.forget()
    assert jobs.get("j1", "me") is not None
    assert added(jobs, "j2", idempotency_key="k") == "j1"
    clock.move(timedelta(seconds=1))
    jobs.forget()
    assert jobs.get("j1", "me") is None
    assert added(jobs, "j3", idempotency_key="k") == "j3"


names = st.frozensets(st.sampled_from(["a", "b", "c"])) | st.none()
texts = st.text(max_size=10) | st.none()


@given(st.builds(Said, names, names, texts, texts, texts, texts))
def test_what_was_said_survives_the_way(said: Said) -> None:
    assert _said_from(_said_text(said)) == said


def test_the_file_is_for_its_owner_only_and_another_version_is_refused(
    database: StateDatabase,
) -> None:
    assert database.path.stat().st_mode & 0o077 == 0
    with database.writing() as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(IndexUnavailableError) as caught:
        StateDatabase(database.path)
    assert caught.value.code == "state_unavailable"


def test_a_file_that_is_none_of_ours_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "server.sqlite3"
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(IndexUnavailableError):
        StateDatabase(path)


def test_a_change_that_fails_is_undone(database: StateDatabase) -> None:
    def half_done() -> None:
        with database.writing() as connection:
            connection.execute("INSERT INTO suspensions VALUES ('t', 's')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_done()
    with database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM suspensions").fetchone()[0] == 0


@pytest.fixture
def keys(database: StateDatabase, clock: SteppingClock) -> ApiKeys:
    return ApiKeys(
        database,
        clock,
        new_id=lambda: secrets.token_hex(8),
        new_secret=lambda: secrets.token_urlsafe(32),
    )


@given(data=st.data())
def test_no_change_of_a_key_is_a_key(tmp_path_factory: Any, data: st.DataObject) -> None:
    database = StateDatabase(tmp_path_factory.mktemp("keys") / "server.sqlite3")
    made = ApiKeys(database, SteppingClock(), new_id=lambda: "0" * 16, new_secret=lambda: "s" * 43)
    text, _ = made.create(KeyGrant("k", Principal(), frozenset({Permission.READ}), None))
    assert made.identify(text) is not None
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.characters(exclude_characters=text[place]))
    assert made.identify(text[:place] + letter + text[place + 1 :]) is None
    assert made.identify(text + letter) is None
    database.close()


def test_the_last_use_is_noted_once_a_minute(keys: ApiKeys, clock: SteppingClock) -> None:
    text, _ = keys.create(KeyGrant("k", Principal(), GRANTABLE, None))
    keys.identify(text)
    first = keys.list()[0].used_at
    clock.move(timedelta(seconds=30))
    keys.identify(text)
    assert keys.list()[0].used_at == first
    clock.move(timedelta(seconds=30))
    keys.identify(text)
    assert keys.list()[0].used_at == clock.now()


@pytest.mark.parametrize(
    ("permissions", "lifetime", "code"),
    [
        (frozenset(), None, "bad_permission"),
        (frozenset({Permission.PUBLIC}), None, "bad_permission"),
        (GRANTABLE, timedelta(0), "bad_lifetime"),
    ],
)
def test_keys_that_are_of_no_use_are_refused(
    keys: ApiKeys, permissions: Any, lifetime: Any, code: str
) -> None:
    with pytest.raises(UsageError) as caught:
        keys.create(KeyGrant("k", Principal(), permissions, lifetime))
    assert caught.value.code == code


def test_a_key_of_nobody_in_particular_has_a_subject_of_its_own(keys: ApiKeys) -> None:
    text, key = keys.create(KeyGrant("k", Principal(), GRANTABLE, None))
    found = keys.identify(text)
    assert found is not None
    assert found.principal.subject == f"key:{key.id}"
    assert found.principal.auditor
