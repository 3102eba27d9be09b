"""Bad input: a clear error with a stable code, nothing half-written, and the next command works."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evidencedesk import Desk, Principal
from evidencedesk.errors import IndexingError
from evidencedesk.settings import FILE_NAME

QUESTION = "How long do I have to return a new bike?"


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (("ask", ""), 2, "empty_question"),
        (("ask", " \n\t"), 2, "empty_question"),
        (("ask", "why " * 600), 2, "question_too_long"),
        (("search", ""), 2, "empty_question"),
        (("search", "why " * 600), 2, "question_too_long"),
        (("ask", QUESTION, "--role", "a b"), 2, "bad_role"),
        (("ask", QUESTION, "--role", ""), 2, "bad_role"),
        (("ask", QUESTION, "--tenant", "a b"), 2, "bad_tenant"),
        (("ask", QUESTION, "--status", "new"), 2, "bad_status"),
        (("ask", QUESTION, "--config", "nowhere.toml"), 2, "settings_missing"),
        (("ask", QUESTION, "--index", "nowhere.desk"), 1, "index_missing"),
        (("ingest", "nowhere"), 2, "path_missing"),
        (("ingest", "policies", "--role", "a b"), 2, "bad_role"),
        (("ingest", "policies", "--deny", "-x"), 2, "bad_role"),
        (("ingest", "policies", "--status", "new"), 2, "bad_status"),
        (("ingest", "policies", "--tenant", "a b"), 2, "bad_tenant"),
        (("docs", "status", "returns", "new"), 2, "bad_status"),
        (("docs", "status", "nothing", "draft"), 2, "not_found"),
        (("docs", "diff", "nothing"), 2, "not_found"),
        (("docs", "history", "nothing"), 2, "not_found"),
        (("models", "pull", "nothing"), 1, "model_unknown"),
        (("init",), 2, "settings_exist"),
    ],
)
def test_each_has_its_code_and_the_next_command_works(
    ready: Callable, arguments: tuple[str, ...], exit_code: int, code: str
) -> None:
    ran = ready(*arguments, "--json")
    assert (ran.code, ran.error["code"], ran.out) == (exit_code, code, "")
    assert ran.error["message"]
    plain = ready(*arguments)
    assert plain.err.startswith("error: ")
    assert "Traceback" not in plain.err
    assert ready("ask", QUESTION, "--json").json["reason"] == "ok"


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", QUESTION, "--role", "stuff"),
        ("ingest", "policies", "--role", "stuff"),
        ("ingest", "policies", "--deny", "stuff"),
    ],
)
def test_a_role_that_is_not_known(
    ready: Callable, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("EVIDENCEDESK_ACCESS__KNOWN_ROLES", "everyone,staff")
    ran = ready(*arguments, "--json")
    assert (ran.code, ran.error["code"]) == (2, "unknown_role")
    assert "everyone, staff" in ran.error["message"]


def test_an_unknown_setting_stops_every_command(ready: Callable, tmp_path: Path) -> None:
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write("\n[verificaton]\nrequire = 'proven'\n")
    for arguments in (("ask", QUESTION), ("ingest", "policies"), ("docs", "list"), ("doctor",)):
        ran = ready(*arguments, "--json")
        assert (ran.code, ran.error["code"]) == (2, "unknown_setting")
        assert ran.error["hint"] == "Did you mean 'verification.require'?"


def test_a_wrong_path_makes_no_index(cli: Callable, tmp_path: Path) -> None:
    for arguments in (("nowhere",), (".", "--role", "a b"), (".", "--status", "new")):
        assert cli("ingest", *arguments).code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"not a database at all, but long enough" * 200, b""])
def test_an_index_that_is_not_ours(cli: Callable, tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "evidencedesk.desk"
    folder.mkdir()
    (folder / "index.sqlite3").write_bytes(content)
    ran = cli("ask", QUESTION, "--json")
    assert ran.code == 1
    assert ran.error["code"] in {"index_not_ours", "index_missing"}
    if content:
        assert (folder / "index.sqlite3").read_bytes() == content


def test_an_index_path_that_is_a_file(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "evidencedesk.desk").write_text("mine")
    (tmp_path / "a.md").write_text("# A\n\ntext\n")
    for arguments in (("ask", QUESTION), ("ingest", "a.md")):
        ran = cli(*arguments, "--json")
        assert ran.code == 1
        assert ran.error["code"].startswith("index_")
    assert (tmp_path / "evidencedesk.desk").read_text() == "mine"


def test_a_file_where_the_folder_of_init_should_be(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    ran = cli("init", "taken", "--json")
    assert (ran.code, ran.error["code"]) == (2, "settings_not_writable")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.pdf", b"%PDF-1.7 and then nothing of the kind"),
        ("bad.docx", b"PK\x03\x04 not a zip"),
        ("bad.md", b"---\ntitle: x\nno end of front matter\n"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\x00\x00"),
    ],
)
def test_a_broken_file_fails_alone(
    desk: Callable, library: Path, name: str, content: bytes
) -> None:
    (library / name).write_bytes(content)
    ran = desk("ingest", library, "--json")
    assert ran.code == 1
    report = ran.json
    failures = [*report["failed"], *report["refused"]]
    assert [failure["source"] for failure in failures] == [name]
    assert failures[0]["code"]
    assert report["unchanged"] == 3
    assert desk("ask", QUESTION, "--json").json["reason"] == "ok"


def test_output_that_nobody_reads_to_the_end_is_no_error(
    ready: Callable, tmp_path: Path, environment: dict[str, str]
) -> None:
    command = f"{sys.executable} -m evidencedesk docs list --json; echo code $? >&2"
    ran = subprocess.run(
        ["bash", "-c", f"({command}) | true"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.stderr == "code 0\n"


def _on_a_terminal(folder: Path, environment: dict[str, str], *arguments: str) -> bytes:
    """What a command prints on a terminal, stdout and stderr together."""
    master, slave = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-m", "evidencedesk", *arguments],
        cwd=folder, env={"TERM": "xterm-256color", **environment}, stdout=slave, stderr=slave,
    )  # fmt: skip
    os.close(slave)
    printed = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other side has closed it
            break
        if not part:
            break
        printed += part
    os.close(master)
    assert started.wait(timeout=60) == 0
    return printed


def test_colour_is_for_terminals_only(
    ready: Callable, tmp_path: Path, environment: dict[str, str]
) -> None:
    assert b"\x1b[" in _on_a_terminal(tmp_path, environment, "ask", QUESTION)
    plain = _on_a_terminal(tmp_path, {**environment, "NO_COLOR": "1"}, "ask", QUESTION)
    assert b"\x1b[3" not in plain
    assert "\x1b" not in ready("ask", QUESTION).out


def test_progress_is_drawn_on_terminals_only(
    cli: Callable, library: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    drawn = _on_a_terminal(tmp_path, environment, "ingest", "policies", "--index", "a.desk")
    assert b"3/3" in drawn
    piped = cli("ingest", library, "--index", "b.desk")
    assert "3/3" not in piped.out + piped.err


def _documents(index: Path) -> int:
    if not (index / "index.sqlite3").exists():
        return 0
    try:
        with Desk.open(index) as desk:
            return len(desk.documents(principal=Principal(administrator=True)))
    except IndexingError:  # it is being made
        return 0


def test_ctrl_c_in_the_middle_of_ingestion(
    tmp_path: Path, environment: dict[str, str], process: Callable
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(1500):
        text = f"# Document {number}\n\nThe number of this one is {number}.\n"
        (folder / f"d{number:04}.md").write_text(text)
    started = subprocess.Popen(
        [sys.executable, "-m", "evidencedesk", "ingest", "many", "--role", "everyone"],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    limit = time.monotonic() + 30
    while time.monotonic() < limit and not _documents(tmp_path / "evidencedesk.desk"):
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=30)
    assert started.returncode == 130, err
    assert "Traceback" not in err
    assert err.rstrip().endswith(
        "Interrupted. What was finished is in the index; the same command goes on from there."
    )
    kept = process("docs", "list", "--role", "everyone", "--json").json["documents"]
    assert 0 < len(kept) < 1500
    assert [d["document_id"] for d in kept if d["chunks"] != 1] == []
    one = process("ask", "What is the number of document 0000?", "--role", "everyone", "--json")
    assert one.code == 0


def test_ctrl_c_ends_watching(tmp_path: Path, environment: dict[str, str], library: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "evidencedesk", "ingest", "policies", "--watch", "--json"],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert started.stdout is not None
    first = started.stdout.readline()
    assert '"added": ["returns-old", "returns", "staff-refunds"]' in first
    time.sleep(0.5)
    (library / "new.md").write_text("# New\n\nSomething new.\n")
    assert '"added": ["new"]' in started.stdout.readline()
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=30)
    assert (started.returncode, "Traceback" in err) == (130, False)


def test_a_folder_that_nobody_may_write_to(cli: Callable, library: Path) -> None:
    nowhere = Path("/sys")
    ran = cli("ingest", library, "--index", nowhere / "x.desk", "--json")
    assert (ran.code, ran.error["code"]) == (1, "index_read_only")
    assert cli("init", nowhere / "x", "--json").error["code"] == "settings_not_writable"
