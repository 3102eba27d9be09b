"""What the library holds, its past, and its generations, typed as a person or a program would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

QUESTION = "How long do I have to return a new bike?"
STAFF_QUESTION = "What needs the approval of the shop manager?"


def test_docs_list_shows_what_the_reader_may_see(ready: Callable) -> None:
    assert [d["document_id"] for d in ready("docs", "list", "--json").json["documents"]] == [
        "returns"
    ]
    everything = ready("docs", "list", "--administrator", "--status", "current", "--json").json
    assert [d["document_id"] for d in everything["documents"]] == ["returns", "staff-refunds"]
    assert "Large refunds" in ready("docs", "list", "--role", "staff").out


def test_docs_show(ready: Callable) -> None:
    shown = ready("docs", "show", "returns", "--json").json
    assert (shown["version"], shown["owner"], shown["status"]) == ("3", "care", "current")
    assert "text" not in shown
    assert "roles        everyone" in ready("docs", "show", "returns").out


def test_history_and_diff(desk: Callable, library: Path) -> None:
    assert desk("docs", "history", "returns", "--json").json == {"versions": []}
    assert "Nothing changed" in desk("docs", "diff", "returns").err
    file = library / "returns.md"
    file.write_text(file.read_text().replace("30 days", "60 days"))
    assert desk("ingest", library, "--json").json["changed"] == ["returns"]
    assert len(desk("docs", "history", "returns", "--json").json["versions"]) == 1
    diff = desk("docs", "diff", "returns").out
    assert "-You can return a new bike within 30 days" in diff
    assert "+You can return a new bike within 60 days" in diff
    assert "30 days" in desk("docs", "diff", "returns", "--json").json["diff"]
    assert desk("docs", "diff", "staff-refunds", "--json").error["code"] == "not_found"


def test_docs_remove(ready: Callable) -> None:
    assert ready("docs", "remove", "returns", "--json").json == {"removed": "returns"}
    assert ready("ask", QUESTION, "--json").json["reason"] == "no_evidence"
    assert ready("docs", "remove", "returns", "--json").error["code"] == "not_found"


def test_docs_status_takes_effect_at_once(ready: Callable) -> None:
    assert ready("docs", "status", "returns", "draft").out == "returns is draft.\n"
    assert ready("ask", QUESTION, "--json").json["reason"] == "no_evidence"
    assert ready("ask", QUESTION, "--status", "draft", "--json").json["reason"] == "ok"


def test_log_and_its_filters(desk: Callable, library: Path) -> None:
    (library / "broken.md").write_text("---\ntitle: [\n---\ntext\n")
    desk("ingest", library)
    entries = desk("log", "--json").json["entries"]
    assert {entry["outcome"] for entry in entries} >= {"added", "failed"}
    failed = desk("log", "--outcome", "failed", "--json").json["entries"]
    assert [entry["source"] for entry in failed] == ["broken.md"]
    assert failed[0]["code"] != ""
    assert len(desk("log", "--limit", "2", "--json").json["entries"]) == 2
    assert desk("log", "--since", "2999-01-01", "--json").json["entries"] == []
    assert {e["source"] for e in desk("log", "--source", "staff", "--json").json["entries"]} == {
        "staff.md"
    }
    assert "broken.md" in desk("log").out
    assert desk("log", "--since", "yesterday", "--json").error["code"] == "bad_time"


def test_reindex_rollback_discard(ready: Callable) -> None:
    unsure = ready("reindex", "--chunking", "sentence", "--json")
    assert (unsure.code, unsure.error["code"]) == (2, "reindex_unconfirmed")
    model = ("--model", "none")
    built = ready(
        "reindex", *model, "--chunking", "sentence", "--option", "max_chars=200", "--yes", "--json"
    )
    assert built.code == 0
    assert built.json["chunking"] == {
        "strategy": "sentence",
        "max_chars": 200,
        "overlap_sentences": 0,
    }
    assert built.json["documents"] == 3
    assert ready("ask", QUESTION, "--json").json["reason"] == "ok"
    assert ready("reindex", "--rollback", "--json").json["chunking"]["strategy"] == "structure"
    assert ready("reindex", "--discard", "--json").json == {"discarded": True}
    assert ready("reindex", "--rollback", "--json").error["code"] == "no_rollback"
    assert ready("reindex", "--rollback", "--discard").code == 2
    assert ready("reindex", "--option", "x", "--yes", "--json").error["code"] == "bad_option"
