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
