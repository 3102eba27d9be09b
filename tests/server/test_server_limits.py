"""How much one caller may ask for: 413, 422 and 429, with the time to wait."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.errors import CallCancelledError
from evidencedesk.model import Reply, Usage
from evidencedesk.server.limits import Allowance, Turns
from evidencedesk.server.problems import RequestError
from evidencedesk.testing.clock import SteppingClock

QUESTION = {"question": "How long do I have to return a bike?"}


def allowance(per_minute: int, clock: Any) -> Allowance:
    return Allowance(per_minute, clock, code="rate_limited", what="requests")


def test_what_is_spent_flows_back(serve: Any, clock: Any) -> None:
    server = serve(limits={"requests_per_minute": 3})
    own, other = server.key("staff"), server.key("staff")
    statuses = [server.client.get("/v1/me", headers=own).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    refused = server.client.get("/v1/me", headers=own)
    assert refused.json()["code"] == "rate_limited"
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert server.client.get("/v1/me", headers=other).status_code == 200
    clock._monotonic += 21
    assert server.client.get("/v1/me", headers=own).status_code == 200
    assert '"code": "rate_limited"' in server.logged.getvalue()


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 3)), max_size=60), st.integers(1, 20))
def test_no_minute_holds_more_than_twice_the_allowance(
    steps: list[tuple[float, int]], per_minute: int
) -> None:
    """A full bucket at its begin, and what flows back during it."""
    clock = SteppingClock()
    bucket = allowance(per_minute, clock)
    granted: list[float] = []
    for wait, requests in steps:
        clock._monotonic += wait
        for _ in range(requests):
            try:
                bucket.spend("a")
            except RequestError:
                continue
            granted.append(clock._monotonic)
    assert bool(granted) == any(requests for _, requests in steps)
    for begin in granted:
        assert sum(begin <= at < begin + 60 for at in granted) <= 2 * per_minute + 1


@pytest.mark.parametrize(("per_minute", "granted"), [(0, 10_000), (7, 7)])
def test_no_limit_is_none(clock: Any, per_minute: int, granted: int) -> None:
    bucket = allowance(per_minute, clock)
    spent = 0
    with suppress(RequestError):
        for _ in range(10_000):
            bucket.spend("a")
            spent += 1
    assert spent == granted


class CostlyReader:
    """A generator whose replies cost tokens."""

    name = "costly"

    def generate(self, _: Any) -> Reply:
        return Reply('{"insufficient": true, "claims": []}', usage=Usage(800, 300))


def test_tokens_are_charged_to_whoever_asked(serve: Any) -> None:
    server = serve(generator=CostlyReader(), limits={"tokens_per_minute": 1000})
    own = server.key("staff")
    assert server.client.post("/v1/ask", json=QUESTION, headers=own).status_code == 200
    refused = server.client.post("/v1/ask", json=QUESTION, headers=own)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_tokens")
    assert int(refused.headers["retry-after"]) >= 6
    assert server.client.post("/v1/ask", json=QUESTION, headers=server.key("staff")).is_success


class SlowReader:
    """A generator that replies when it is told to."""

    name = "slow"

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.running = 0
        self.most = 0
        self._lock = threading.Lock()

    def generate(self, _: Any) -> Reply:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.go_on.wait(20)
        with self._lock:
            self.running -= 1
        return Reply('{"insufficient": true, "claims": []}')


def test_answers_wait_for_their_turn_and_too_many_are_refused(serve: Any) -> None:
    reader = SlowReader()
    server = serve(generator=reader, limits={"concurrent_answers": 2, "waiting_answers": 3})
    own = server.key("staff")
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(server.client.post("/v1/ask", json=QUESTION, headers=own).status_code)

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while server.services.turns._present < 5 or reader.running < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    refused = server.client.post("/v1/ask", json=QUESTION, headers=own)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_answers")
    assert refused.headers["retry-after"]
    reader.go_on.set()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 5
    assert reader.most == 2


class PatientReader:
    """A generator that replies once whoever asked has gone."""

    name = "patient"

    def __init__(self) -> None:
        self.began = threading.Event()
        self.noticed = threading.Event()

    def generate(self, request: Any) -> Reply:
        self.began.set()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if request.cancelled():
                self.noticed.set()
                raise CallCancelledError("gone")
            time.sleep(0.01)
        return Reply('{"insufficient": true, "claims": []}')


def test_a_model_is_stopped_when_nobody_listens_any_more(live_with: Any) -> None:
    reader = PatientReader()
    address, server = live_with(generator=reader)
    headers = {**server.key("staff"), "Accept": "text/event-stream"}
    with httpx2.stream("POST", f"{address}/v1/ask", json=QUESTION, headers=headers) as reply:
        assert next(reply.iter_lines()) == "event: retrieved"
        assert reader.began.wait(10)
    assert reader.noticed.wait(10)
    deadline = time.monotonic() + 10
    while server.services.turns._present:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_searches_do_not_wait_for_a_model(serve: Any) -> None:
    reader = SlowReader()
    server = serve(generator=reader, limits={"concurrent_answers": 1})
    own = server.key("staff")
    asking = threading.Thread(
        target=lambda: server.client.post("/v1/ask", json=QUESTION, headers=own)
    )
    asking.start()
    deadline = time.monotonic() + 20
    while not reader.running:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    found = server.client.post("/v1/search", json={"query": "return"}, headers=own)
    assert found.status_code == 200
    assert reader.running == 1
    reader.go_on.set()
    asking.join()


def test_a_turn_is_given_back_whatever_happens() -> None:
    async def body() -> None:
        turns = Turns(1, 0)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                async with turns.turn():
                    raise ZeroDivisionError
        async with turns.turn():
            with pytest.raises(RequestError):
                async with turns.turn():
                    pass

    anyio.run(body)


def test_a_body_over_the_limit_is_not_read_to_its_end(serve: Any) -> None:
    server = serve(limits={"body_kb": 1})
    own = server.key("staff")
    reply = server.client.post("/v1/ask", json={"question": "a" * 2000}, headers=own)
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")

    def pieces() -> Any:
        for _ in range(1000):
            yield b" " * 100

    kind = {"Content-Type": "application/json"}
    reply = server.client.post("/v1/ask", content=pieces(), headers={**own, **kind})
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")


def test_an_upload_over_the_limit_leaves_nothing_behind(serve: Any) -> None:
    server = serve(limits={"upload_mb": 1})
    files = [("files", ("a.txt", b"a" * (2 << 20)))]
    reply = server.client.post("/v1/documents", files=files, headers=server.key("staff"))
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
    assert not list(server.services.originals._coming.glob("*"))


def test_uploads_that_wait_are_counted(serve: Any) -> None:
    server = serve(limits={"waiting_jobs": 1})
    server.services.stopping.set()  # nothing is carried out
    own = server.key("staff")
    sent = {"files": [("files", ("a.md", b"# A\n\nText.\n"))], "headers": own}
    assert server.client.post("/v1/documents", **sent).status_code == 202
    refused = server.client.post("/v1/documents", **sent)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_jobs")
    other = {**sent, "headers": server.key("staff")}
    assert server.client.post("/v1/documents", **other).status_code == 202


def test_a_body_that_drips_is_given_up(serve: Any, live_with: Any) -> None:
    address, server = live_with(limits={"body_timeout_s": 0.5})
    key = server.key("staff")["Authorization"]
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        head = (
            f"POST /v1/ask HTTP/1.1\r\nHost: {host}\r\nAuthorization: {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
        )
        connection.sendall(head.encode())
        started = time.monotonic()
        reply = connection.recv(4000)
    assert reply.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - started < 10


def test_a_key_expires_to_the_second(server: Any, clock: Any) -> None:
    headers = server.key("staff", lifetime=timedelta(days=1))
    clock.move(timedelta(days=1) - timedelta(seconds=1))
    assert server.client.get("/v1/me", headers=headers).status_code == 200
    clock.move(timedelta(seconds=1))
    assert server.client.get("/v1/me", headers=headers).status_code == 401
