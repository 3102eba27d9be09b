"""Versions, differences and near-duplicates of documents, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidencedesk.cli.app import run as run_command

TEXT = "\n\n".join(
    f"Rule {n} of the house says that bikes of class {n} stay inside." for n in range(12)
)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert run_command([*arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVIDENCEDESK_EMBEDDING__MODEL", "none")
    made = tmp_path / "docs"
    made.mkdir()
    return made


def test_two_versions_are_compared_and_sized(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in ("one", "two", "three"):
        (folder / "a.md").write_text(f"The answer is {number}.\n")
        run(capsys, "ingest", "docs")
    versions = run(capsys, "docs", "history", "a", "--administrator")["versions"]
    assert isinstance(versions, list)
    assert [each["characters"] for each in versions] == [len("The answer is two.\n"), 19]
    hashes = [each["content_hash"] for each in versions]
    shown = run(
        capsys, "docs", "diff", "a", "--old", hashes[1], "--new", hashes[0], "--administrator"
    )
    assert "-The answer is one.\n+The answer is two." in str(shown["diff"])
    shown = run(capsys, "docs", "diff", "a", "--administrator")
    assert "-The answer is two.\n+The answer is three." in str(shown["diff"])


def test_near_duplicates_are_reported_and_set_aside(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "old.md").write_text(TEXT)
    run(capsys, "ingest", "docs")
    (folder / "new.md").write_text(TEXT.replace("class 3 stay", "class 3 remain"))
    (folder / "other.md").write_text("Something that is not at all like the two other texts here.")
    run(capsys, "ingest", "docs")
    found = run(capsys, "docs", "duplicates")
    (pair,) = found["pairs"]  # type: ignore[misc]
    assert {pair["first"], pair["second"]} == {"old", "new"}
    assert 0.8 < pair["similarity"] < 1
    assert found["set_aside"] == []
    assert run(capsys, "docs", "duplicates", "--set-aside")["set_aside"] == ["old"]
    listed = run(capsys, "docs", "list", "--administrator")["documents"]
    assert [each["document_id"] for each in listed] == ["new", "other"]  # type: ignore[union-attr]
    assert run(capsys, "docs", "duplicates")["pairs"] == []
