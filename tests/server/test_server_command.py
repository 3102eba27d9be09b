"""The commands ``serve`` and ``apikeys``, as processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from evidencedesk.cli.app import run

QUESTION = {"question": "How long do I have to return a bike?"}
ENVIRONMENT = {**os.environ, "EVIDENCEDESK_EMBEDDING__MODEL": "none"}


def command(*arguments: str, folder: Path, **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "evidencedesk", *arguments, "--json"],
        cwd=folder,
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@contextmanager
def serving(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[Any, str]]:
    """A running ``serve`` and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evidencedesk", "serve", "--port", "0", "--json", *arguments],
        cwd=folder,
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, "the server ended before it served"
            text += line
        address = json.loads(text)["address"]
        wait_for(f"{address}/health/ready")
        yield process, address
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def wait_for(url: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if httpx2.get(url).status_code == 200:
                return
        except httpx2.HTTPError:
            time.sleep(0.05)
    raise AssertionError(url)


def test_it_serves_at_once_where_there_is_no_index_yet(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, address):
        answer = httpx2.post(f"{address}/v1/ask", json=QUESTION).json()
        assert answer["reason"] == "no_evidence"
        assert httpx2.get(f"{address}/v1/me").json()["method"] == "local"
        assert httpx2.get(address, headers={"Accept": "text/html"}).status_code == 200
    assert (tmp_path / "evidencedesk.desk" / "server.sqlite3").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"EVIDENCEDESK_SERVER__HOST": "0.0.0.0"}, "open_to_all"),
        ({"EVIDENCEDESK_SERVER__HOST": "::"}, "open_to_all"),
        ({"EVIDENCEDESK_SERVER__AUTHENTICATION": "local,keys"}, "bad_authentication"),
        ({"EVIDENCEDESK_SERVER__AUTHENTICATION": ""}, "bad_authentication"),
        ({"EVIDENCEDESK_SERVER__AUTHENTICATION": "oidc"}, "bad_authentication"),
    ],
)
def test_it_refuses_to_let_in_whoever_comes(
    tmp_path: Path,
    environment: dict[str, str],
    code: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert run(["serve", "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == code


def test_a_taken_port_is_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVIDENCEDESK_EMBEDDING__MODEL", "none")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["serve", "--port", port, "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "address_unavailable"


def test_keys_and_figures_are_the_same_in_all_workers(index: Path, tmp_path: Path) -> None:
    settings = {
        "EVIDENCEDESK_SERVER__AUTHENTICATION": "keys",
        "EVIDENCEDESK_INDEX__URL": str(index),
    }
    with serving(tmp_path, "--workers", "2", **settings) as (_, address):
        made = json.loads(
            command(
                "apikeys", "create", "intranet", "--role", "staff", folder=tmp_path, **settings
            ).stdout
        )
        headers = {"Authorization": f"Bearer {made['key']}"}
        for _ in range(6):
            reply = httpx2.post(f"{address}/v1/ask", json=QUESTION, headers=headers)
            assert "30 days" in reply.json()["text"]
        listed = command("apikeys", "list", folder=tmp_path, **settings)
        (key,) = json.loads(listed.stdout)["keys"]
        assert key["used_at"] is not None
        assert made["key"] not in listed.stdout
        assert command("apikeys", "revoke", key["id"], folder=tmp_path, **settings).returncode == 0
        replies = {
            httpx2.post(f"{address}/v1/ask", json=QUESTION, headers=headers).status_code
            for _ in range(6)
        }
        assert replies == {401}
        made = command(
            "apikeys", "create", "figures", "--allow", "metrics", folder=tmp_path, **settings
        )
        headers = {"Authorization": f"Bearer {json.loads(made.stdout)['key']}"}
        figures = httpx2.get(f"{address}/metrics", headers=headers).text
        assert 'evidencedesk_answers_total{reason="ok"} 6.0' in figures


@pytest.mark.slow
def test_killed_workers_lose_no_upload(index: Path, tmp_path: Path) -> None:
    """Every worker is killed while it reads; the parent starts new ones, and they go on."""
    settings = {
        "EVIDENCEDESK_INDEX__URL": str(index),
        "EVIDENCEDESK_ACCESS__LOCAL__ROLES": "staff",
        "EVIDENCEDESK_ACCESS__LOCAL__SUBJECT": "erika",
    }
    files = [
        ("files", (f"note-{n}.md", f"# Note {n}\n\nThe shelf {n} holds spare part {n * 7}.\n"))
        for n in range(20)
    ]
    with serving(tmp_path, "--workers", "2", **settings) as (process, address):
        reply = httpx2.post(f"{address}/v1/documents", files=files, data={"roles": "staff"})
        job = f"{address}{reply.headers['location']}"
        deadline = time.monotonic() + 30
        while httpx2.get(job).json()["files_done"] < 2:
            assert time.monotonic() < deadline
        for child in children(process.pid):
            os.kill(child, signal.SIGKILL)
        wait_for(f"{address}/health/ready")
        deadline = time.monotonic() + 90
        while (found := httpx2.get(job).json())["state"] != "done":
            assert time.monotonic() < deadline, found
            time.sleep(0.2)
        outcomes = [file["outcome"]["state"] for file in found["files"]]
        assert outcomes == ["done"] * 20
        documents = httpx2.get(f"{address}/v1/documents?limit=200").json()["documents"]
        names = [each["source"] for each in documents if each["source"].startswith("note-")]
        assert sorted(names) == sorted(f"note-{n}.md" for n in range(20))


@pytest.mark.slow
def test_workers_killed_while_they_answer_are_replaced_at_once(index: Path, tmp_path: Path) -> None:
    """A worker that dies while it is asked whether it lives must not be waited for."""
    settings = {
        "EVIDENCEDESK_INDEX__URL": str(index),
        "EVIDENCEDESK_ACCESS__LOCAL__ROLES": "staff",
    }
    stop = threading.Event()
    statuses: set[int] = set()

    with serving(tmp_path, "--workers", "2", **settings) as (process, address):

        def ask() -> None:
            while not stop.is_set():
                with suppress(httpx2.HTTPError):
                    reply = httpx2.post(f"{address}/v1/ask", json={"question": "Where is it?"})
                    statuses.add(reply.status_code)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(6):
            time.sleep(1.0)
            for child in children(process.pid)[:1]:
                os.kill(child, signal.SIGKILL)
        wait_for(f"{address}/health/ready")
        deadline = time.monotonic() + 20
        while len(children(process.pid)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        stop.set()
        for thread in threads:
            thread.join()
    assert statuses == {200}


def children(pid: int) -> list[int]:
    """Worker processes of ``serve``; the parent's helper for shared resources is none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            words = path.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == pid and b"spawn_main" in words:
            found.append(int(path.parent.name))
    return found


def test_what_is_being_answered_is_finished_when_the_server_is_stopped(
    index: Path, tmp_path: Path
) -> None:
    settings = {"EVIDENCEDESK_INDEX__URL": str(index)}
    with serving(tmp_path, **settings) as (process, address):
        headers = {"Accept": "text/event-stream"}
        with httpx2.stream("POST", f"{address}/v1/ask", json=QUESTION, headers=headers) as reply:
            process.send_signal(signal.SIGTERM)
            text = reply.read().decode()
        assert "event: answer" in text
        assert process.wait(30) in {0, -signal.SIGTERM}


def test_without_the_extra_the_command_names_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None; sys.modules['uvicorn'] = None;"
        "from evidencedesk.cli.app import run; sys.exit(run(['serve', '--json']))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=60,
        check=False,
    )
    error = json.loads(ended.stderr)["error"]
    assert error["code"] == "package_missing"
    assert "evidencedesk[server]" in error["hint"]
