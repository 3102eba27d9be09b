"""The command line over an index on a server: every command that an index answers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from postgres_stores import url_of

from evidencedesk.cli.app import run as command_line

SAMPLES = Path(__file__).parents[2] / "samples" / "kestrel"

Command = Callable[..., Any]


@pytest.fixture
def command(
    postgres_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    """Runs a command with ``--json`` over an index of the test's own."""
    url = url_of(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVIDENCEDESK_EMBEDDING__MODEL", "none")
    shutil.copytree(SAMPLES, tmp_path / "docs")

    def run(*arguments: str, code: int = 0) -> Any:
        ended = command_line([*arguments, "--index", url, "--json"])
        out, err = capsys.readouterr()
        assert ended == code, err
        return json.loads(out or err)

    return run


def test_a_desk_on_a_server_from_the_first_file_to_a_rebuild(
    command: Command, tmp_path: Path
) -> None:
    report = command("ingest", "docs", "--role", "everyone")
    assert len(report["added"]) == 13
    assert command("ingest", "docs", "--role", "everyone")["unchanged"] == 13
    reader = ("--role", "everyone", "--as", "amal")
    answer = command("ask", "How long do I have to return a bike?", *reader)
    assert answer["citations"][0]["label"] == (
        "Returns policy (Returning a bike, lines 11-12) [kc-returns-v3:c0]"
    )
    assert command("ask", "How long do I have to return a bike?", "--role", "none")["reason"] == (
        "no_evidence"
    )
    assert command("search", "refund", *reader)["hits"]
    assert len(command("docs", "list", *reader)["documents"]) == 12
    assert [entry["answer_id"] for entry in command("answers", "list", *reader)["answers"]] == [
        answer["answer_id"]
    ]
    assert command("log")["entries"]
    findings = {each["check"]: each["ok"] for each in command("doctor")["findings"]}
    assert findings["index"]
    command("reindex", "--chunking", "sentence", "--yes")
    again = command("ask", "How long do I have to return a bike?", *reader)
    assert again["citations"][0]["quote"] == answer["citations"][0]["quote"]
    command("reindex", "--rollback")
    command("docs", "remove", "kc-returns-v3")
    assert command("ask", "How long do I have to return a bike?", *reader)["text"] != answer["text"]
    assert not (tmp_path / "evidencedesk.desk").exists()


def test_an_index_that_is_not_there_is_an_error_and_not_made(command: Command) -> None:
    assert command("search", "refund", code=1)["error"]["code"] == "index_missing"


def test_a_server_that_is_not_there_is_an_error_without_the_password(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"postgresql://amal:s3cret@/postgres?host={tmp_path}"
    assert command_line(["search", "refund", "--index", url]) == 1
    err = capsys.readouterr().err
    assert "cannot be reached" in err
    assert "s3cret" not in err


def test_files_are_queued_and_a_worker_brings_them_in(command: Command) -> None:
    assert command("jobs", "put", "docs", "--role", "everyone")["queued"] == 1
    assert command("jobs", "put", "docs", "--role", "everyone")["waiting_already"] == 1
    assert command("jobs", "list")["waiting"] == {"default": 1}
    assert command("worker", "--once") == {"done": 1, "failed": 0}
    assert command("jobs", "list") == {"waiting": {}, "doing": 0, "failed": []}
    assert len(command("docs", "list", "--role", "everyone")["documents"]) == 12
    assert command("jobs", "retry", "17", code=2)["error"]["code"] == "not_found"


def test_an_index_moves_from_a_server_to_a_folder_and_is_verified(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command("ingest", "docs", "--role", "everyone")
    exported = command("export", "kestrel.edx")
    assert (exported["documents"], exported["receipts"]) == (13, 0)
    assert command("verify-index") == {"problems": []}
    assert command("restore", "kestrel.edx", code=1)["error"]["code"] == "index_not_empty"
    folder = str(tmp_path / "moved.desk")
    assert command_line(["import", "kestrel.edx", "--index", folder]) == 0
    assert command_line(["verify-index", "--index", folder]) == 0
    assert command_line(["db", "graph", "--index", folder]) == 2
    assert command_line(["jobs", "list", "--index", folder]) == 2
    assert "postgresql://" in capsys.readouterr().err
    asked = ["ask", "How long do I have to return a bike?", "--role", "everyone", "--json"]
    assert command_line([*asked, "--index", folder]) == 0
    moved = json.loads(capsys.readouterr().out)
    answer = command(*asked[:-1])
    for name in ("text", "claims", "citations", "reason", "confidence"):
        assert moved[name] == answer[name]
