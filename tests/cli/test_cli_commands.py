"""Every command on a real index, typed as a person or a program would."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evidencedesk.settings import FILE_NAME, rows

QUESTION = "How long do I have to return a new bike?"
STAFF_QUESTION = "What needs the approval of the shop manager?"


def test_init_writes_settings_and_an_empty_index(cli: Callable, tmp_path: Path) -> None:
    ran = cli("init", "handbook", "--json")
    assert ran.code == 0
    assert ran.json == {
        "settings": "handbook/evidencedesk.toml",
        "index": str(tmp_path / "handbook" / "evidencedesk.desk"),
    }
    assert 'default_roles = ["everyone"]' in (tmp_path / "handbook" / FILE_NAME).read_text()
    assert cli("docs", "list", "--config", "handbook/evidencedesk.toml", "--json").json == {
        "documents": []
    }


def test_init_with_an_index_elsewhere_records_it(cli: Callable, tmp_path: Path) -> None:
    assert cli("init", "handbook", "--index", "other.desk").code == 0
    assert (tmp_path / "other.desk").is_dir()
    os.chdir("handbook")
    values = cli("doctor", "--settings", "--json").json["settings"]
    url = next(value for value in values if value["name"] == "index.url")
    assert url["value"] == str(tmp_path / "other.desk")


def test_ingest_without_init_makes_the_index_and_says_so(cli: Callable, library: Path) -> None:
    ran = cli("ingest", library, "--role", "everyone")
    assert ran.code == 0
    assert "Making a new index: " in ran.err
    assert "+ returns  added\n" in ran.out
    assert "3 added; " in ran.out
    assert "Making" not in cli("ingest", library, "--role", "everyone").err


def test_ingest_reports_in_the_stable_shape(cli: Callable, library: Path) -> None:
    report = cli("ingest", library, "--json").json
    assert report["added"] == ["returns-old", "returns", "staff-refunds"]
    assert (report["unchanged"], report["failed"]) == (0, [])
    again = cli("ingest", library, "--json").json
    assert (again["added"], again["unchanged"], again["chunks"]) == ([], 3, 0)


def test_ingest_names_what_failed_and_exits_with_1(cli: Callable, library: Path) -> None:
    (library / "broken.md").write_text("---\ntitle: [\n---\ntext\n")
    ran = cli("ingest", library)
    assert ran.code == 1
    assert "! broken.md  failed: " in ran.out
    assert "3 added, 1 failed" in ran.out
    report = cli("ingest", library, "--json").json
    assert [failure["source"] for failure in report["failed"]] == ["broken.md"]
    assert set(report["failed"][0]) == {"source", "code", "message"}


def test_prune_removes_what_has_gone(desk: Callable, library: Path) -> None:
    (library / "returns-old.md").unlink()
    assert desk("ingest", library, "--json").json["removed"] == []
    ran = desk("ingest", library, "--prune")
    assert "- returns-old  removed" in ran.out


def test_prune_of_a_folder_that_is_gone_needs_force(desk: Callable, library: Path) -> None:
    for file in library.iterdir():
        file.unlink()
    refused = desk("ingest", library, "--prune", "--json")
    assert (refused.code, refused.error["code"]) == (2, "prune_refused")
    library.rmdir()
    assert desk("ingest", library, "--prune", "--json").error["code"] == "path_missing"
    forced = desk("ingest", library, "--prune", "--force", "--json")
    assert len(forced.json["removed"]) == 3


def test_ask_answers_with_title_place_and_quote(ready: Callable) -> None:
    ran = ready("ask", QUESTION)
    assert ran.code == 0
    assert "within 30 days of delivery" in ran.out
    assert "[1] Returns policy (Returning a bike, lines 9-10) [returns:c0]" in ran.out
    assert "returns.md:9" in ran.out


def test_ask_in_json_is_the_stable_shape(ready: Callable) -> None:
    answer = ready("ask", QUESTION, "--json").json
    assert answer["reason"] == "ok"
    assert answer["citations"][0]["document_id"] == "returns"
    assert answer["citations"][0]["location"]["first_line"] == 9
    assert {"answer_id", "confidence", "threshold", "checks", "retrieved", "timing_ms"} <= set(
        answer
    )


def test_ask_abstains_with_a_reason_and_a_next_step(ready: Callable) -> None:
    ran = ready("ask", "Can I pay in instalments?")
    assert ran.code == 0
    assert "Reason: no_evidence: " in ran.out
    assert "Next:   " in ran.out
    assert ready("ask", "Can I pay in instalments?", "--fail-on-abstain").code == 3
    assert ready("ask", QUESTION, "--fail-on-abstain").code == 0


def test_ask_sees_what_the_reader_may_see(ready: Callable) -> None:
    closed = ready("ask", STAFF_QUESTION, "--json").json
    opened = ready("ask", STAFF_QUESTION, "--role", "staff", "--role", "everyone", "--json").json
    assert (closed["reason"], closed["citations"]) == ("no_evidence", [])
    assert opened["citations"][0]["document_id"] == "staff-refunds"
    assert "staff" not in str(closed["retrieved"])


def test_ask_explains(ready: Callable) -> None:
    out = ready("ask", QUESTION, "--explain").out
    assert "Retrieved  confidence " in out
    assert "quote_found" in out
    assert "Generator  extractive" in out


def test_the_threshold_can_be_given(ready: Callable) -> None:
    assert ready("ask", QUESTION, "--threshold", "1", "--json").json["reason"] == "no_evidence"
    assert ready("ask", QUESTION, "--threshold", "0", "--json").json["threshold"] == 0


def test_superseded_documents_are_seen_when_asked_for(ready: Callable) -> None:
    statuses = ("--status", "superseded")
    assert ready("ask", QUESTION, *statuses, "--json").json["citations"][0]["document_id"] == (
        "returns-old"
    )
    found = ready("search", QUESTION, *statuses, "--status", "current", "--json").json["hits"]
    assert {hit["document_id"] for hit in found} == {"returns", "returns-old"}


def test_search(ready: Callable) -> None:
    ran = ready("search", "helmets", "-k", "1")
    assert ran.out.startswith("1. Returns policy (Helmets, line 13) [returns:c1]\n   score ")
    hits = ready("search", "helmets", "--json").json["hits"]
    assert hits[0]["text"] == "Opened helmets cannot be returned."
    assert set(hits[0]) == {
        "chunk_id", "document_id", "title", "text", "location", "score", "vector_score",
        "keyword_score",
    }  # fmt: skip


def test_search_that_finds_nothing_says_so_on_stderr(cli: Callable, library: Path) -> None:
    cli("ingest", library)
    ran = cli("search", "helmets", "--role", "nobody")
    assert (ran.code, ran.out) == (0, "")
    assert "Nothing found" in ran.err


def test_show_marks_the_passage_in_its_document(ready: Callable) -> None:
    out = ready("show", "returns:c0", "--context", "1").out
    assert out.startswith("Returns policy (Returning a bike, lines 9-10)\nreturns.md:9\n")
    assert ">    9  You can return a new bike" in out
    assert "     8  ## Returning a bike" in out
    assert "Helmets" not in out
    assert ready("show", "returns:c0", "--json").json["location"]["last_line"] == 10


def test_show_of_a_document_is_its_text(ready: Callable) -> None:
    assert "Opened helmets cannot be returned." in ready("show", "returns").out
    assert ready("show", "returns", "--json").json["roles"] == ["everyone"]


@pytest.mark.parametrize("name", ["staff-refunds", "staff-refunds:c0", "nothing", "nothing:c0"])
def test_what_may_not_be_seen_is_refused_like_what_is_not_there(ready: Callable, name: str) -> None:
    ran = ready("show", name, "--json")
    assert (ran.code, ran.error["code"]) == (2, "not_found")
    other = ready("show", "x" * len(name), "--json")
    assert ran.error["message"].replace(name, "#") == other.error["message"].replace(
        "x" * len(name), "#"
    )
    assert ran.error["hint"] == other.error["hint"]


def _opener(folder: Path) -> Path:
    """A program that stands where the desktop's opener does and writes down what it is given."""
    folder.mkdir()
    program = folder / "xdg-open"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(folder / 'opened')!r}, 'w').write(sys.argv[1])\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder / "opened"


def test_show_opens_the_source(
    desk: Callable, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = _opener(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{opened.parent}{os.pathsep}{os.environ['PATH']}")
    assert desk("show", "returns:c0", "--open").code == 0
    assert opened.read_text() == str(library / "returns.md")
    (library / "returns.md").unlink()
    assert desk("show", "returns:c0", "--open", "--json").error["code"] == "source_gone"


def test_doctor_lists_findings_and_exits_with_1_when_one_is_bad(ready: Callable) -> None:
    ran = ready("doctor", "--json")
    findings = ran.json["findings"]
    assert ran.code == (0 if all(finding["ok"] for finding in findings) else 1)
    assert [f for f in findings if not f["ok"] and not f["hint"]] == []
    text = ready("doctor").out
    assert [f["check"] for f in findings if f["check"] not in text] == []


def test_doctor_shows_every_setting_and_its_source(
    ready: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENCEDESK_RETRIEVAL__K", "5")
    shown = ready("doctor", "--settings", "--json").json
    by_name = {value["name"]: value for value in shown["settings"]}
    assert set(by_name) == {row.name for row in rows()}
    assert shown["file"] == str(tmp_path / FILE_NAME)
    assert (by_name["retrieval.k"]["value"], by_name["retrieval.k"]["source"]) == (
        5,
        "environment (EVIDENCEDESK_RETRIEVAL__K)",
    )
    assert by_name["access.default_roles"]["source"].startswith(
        f"file ({tmp_path / FILE_NAME}, line"
    )
    assert "retrieval.k " in ready("doctor", "--settings").out


def test_doctor_prints_the_documentation_of_settings(cli: Callable) -> None:
    written = Path(__file__).parents[2] / "docs" / "settings.md"
    assert cli("doctor", "--settings", "--markdown").out == written.read_text("utf-8")


def test_models_without_any(cli: Callable) -> None:
    assert cli("models", "list", "--json").json["models"][0]["installed"] is False
    assert "minilm" in cli("models", "list").out
    for name in ("verify", "where"):
        ran = cli("models", name, "minilm", "--json")
        assert (ran.code, ran.error["code"]) == (1, "model_missing")
        assert "models pull minilm" in ran.error["hint"]
    assert cli("models", "where", "zzz", "--json").error["code"] == "model_unknown"


def test_offline_forbids_pulling_however_it_is_said(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FILE_NAME).write_text("offline = true\n")
    assert cli("models", "pull", "--json").error["code"] == "offline"
    (tmp_path / FILE_NAME).unlink()
    monkeypatch.setenv("EVIDENCEDESK_OFFLINE", "1")
    assert cli("models", "pull", "--json").error["code"] == "offline"


def test_a_model_that_cannot_be_had_from_a_path(cli: Callable, tmp_path: Path) -> None:
    ran = cli("models", "pull", "--from", "nowhere", "--json")
    assert (ran.code, ran.error["code"]) == (1, "model_unreachable")
    assert cli("models", "list", "--json").json["models"][0]["installed"] is False


_NO_NETWORK = """
import sys

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"}:
        raise RuntimeError(f"{event} {arguments}")

sys.addaudithook(refuse)
from evidencedesk.cli.app import run
commands = (
    ["init"], ["ingest", "policies"], ["ask", "How long can a bike be returned?", "--explain"],
    ["search", "helmets"], ["docs", "list"], ["log"], ["doctor", "--settings"], ["models", "list"],
    ["chunks", "compare", "policies"], ["reindex", "--model", "none", "--yes"],
)
sys.exit([command for command in commands if run(command) != 0] or 0)
"""


def test_nothing_but_pulling_opens_a_connection(
    library: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _NO_NETWORK],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ran.returncode, "RuntimeError" in ran.stderr) == (0, False), ran.stderr


def test_a_configured_administrator_does_not_carry_over_to_a_named_reader(
    ready: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENCEDESK_ACCESS__LOCAL__ADMINISTRATOR", "true")

    def seen(*options: str) -> list[str]:
        listed = ready("docs", "list", *options, "--json").json["documents"]
        return [document["document_id"] for document in listed]

    assert seen() == ["returns", "staff-refunds"]
    assert seen("--role", "everyone") == ["returns"]
    assert seen("--as", "ann") == ["returns"]
    assert seen("--no-administrator") == ["returns"]
    assert seen("--role", "everyone", "--administrator") == ["returns", "staff-refunds"]


def test_another_tenant_sees_nothing(ready: Callable) -> None:
    ran = ready("docs", "list", "--tenant", "other", "--administrator", "--json")
    assert ran.json["documents"] == []
