"""Names, questions, folders and readers that nobody expects, and what they must not do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidencedesk import Desk, EvidenceDeskError, Principal, Settings
from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.sqlite.schema import APPLICATION_ID
from evidencedesk.cli.app import run
from evidencedesk.errors import AccessRuleError, SourceError, UsageError
from evidencedesk.ingestion.load import INDEX_MARK

WITHOUT_MODEL = Settings.model_validate({"embedding": {"model": "none"}})
READER = Principal(roles=frozenset({"r"}))
FACT = "The deposit for a key is 40 euros."


def put(folder: Path, name: str, text: str = FACT) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"---\nroles: [r]\nlang: en\n---\n{text}\n", "utf-8")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk over one document, to be read only."""
    folder = tmp_path_factory.mktemp("key")
    put(folder / "docs", "a.md")
    with Desk.open(folder / "a.desk", settings=WITHOUT_MODEL) as desk:
        desk.ingest(folder / "docs")
        yield desk


@pytest.mark.parametrize(
    "question",
    [
        "\x00key", "key\ud800deposit", "ＫＥＹ deposit", "\u202edeposit key", "a" * 2000, "key " * 499,
        'key"deposit', "NEAR(key deposit)", "key AND", "\u0301" * 1990 + " key", "％d %s {} {0}",
        "key\u2028deposit", "deposit\n\n\nkey", "٤٠ euros", "İ deposit",
    ],
    ids=ascii,
)  # fmt: skip
def test_any_question_is_answered_or_refused_and_can_be_printed(key: Desk, question: str):
    shown = json.dumps(key.ask(question, principal=READER).to_json(), allow_nan=False)
    assert json.loads(shown)["question"] == question.strip()
    hits = key.search(question, principal=READER)
    assert len(hits) == len({hit.chunk.id for hit in hits})


@pytest.mark.parametrize("question", ["🔑", '"', "-", "()", "\u200b", "\u202e"], ids=ascii)
def test_a_question_without_a_letter_is_empty(key: Desk, question: str):
    with pytest.raises(UsageError) as caught:
        key.ask(question, principal=READER)
    assert caught.value.code == "empty_question"


@pytest.mark.parametrize(
    "name",
    ["a:c" + "1" * 5000, "a:c" + "9" * 19, "a:c00", "a:c-1", "a:c٠", "a:c", "", ":c0", "\x00",
     "a:c\ud800", "a\ud800:c0", "a" * 100_000],
    ids=lambda name: ascii(name[:12]),
)  # fmt: skip
def test_any_id_that_is_not_there_is_not_found(key: Desk, name: str):
    for read in (key.chunk, key.document, key.history, key.diff):
        with pytest.raises(UsageError) as caught:
            read(name, principal=READER)
        assert caught.value.code == "not_found"


def test_a_string_is_no_set_of_roles(key: Desk):
    with pytest.raises(AccessRuleError, match="one role where a set"):
        Principal(roles="admin")  # type: ignore[arg-type]
    for option in ("roles", "deny"):
        with pytest.raises(AccessRuleError, match="one role where a set"):
            key.ingest(key.path.parent / "docs", **{option: "admin"})  # type: ignore[arg-type]


def test_a_status_that_is_none_is_refused_when_read(key: Desk):
    for statuses in ({"bogus"}, "current"):
        with pytest.raises(AccessRuleError) as caught:
            key.documents(principal=READER, statuses=statuses)  # type: ignore[arg-type]
        assert caught.value.code == "bad_status"
    named = AccessFilter.for_principal(READER, {"current"})  # type: ignore[arg-type]
    assert named == AccessFilter.for_principal(READER)


def test_a_threshold_that_is_no_number_opens_nothing(key: Desk):
    with pytest.raises(UsageError) as caught:
        key.ask("What is the weather in Paris?", principal=READER, threshold=float("nan"))
    assert caught.value.code == "bad_threshold"


def test_a_file_name_that_is_no_text_fails_alone(tmp_path: Path):
    put(tmp_path / "docs", "a.md")
    (tmp_path / "docs" / os.fsdecode(b"bad\xff.md")).write_bytes(b"text\n")
    with Desk.open(tmp_path / "a.desk", settings=WITHOUT_MODEL) as desk:
        for _ in range(2):
            report = desk.ingest(tmp_path / "docs")
            assert [each.code for each in report.failed] == ["bad_file_name"]
            json.dumps(report.to_json()).encode()
        assert [each.id for each in desk.documents(principal=READER)] == ["a"]


def test_names_that_look_alike_are_documents_of_their_own(tmp_path: Path):
    names = ["a b.md", "A B.md", "a-b.md", "ä.md", "a\u0308.md", "a\nb.md", "%s.md",
             "a.md.md", "a.txt.md", "💥.md", "x" * 200 + ".md", "a~b.md"]  # fmt: skip
    for number, name in enumerate(names):
        put(tmp_path / "docs", name, f"Number {number} is here.")
    with Desk.open(tmp_path / "a.desk", settings=WITHOUT_MODEL) as desk:
        report = desk.ingest(tmp_path / "docs")
        assert (len(report.added), report.failed) == (len(names), ())
        before = {record.id: record.source for record in desk.documents(principal=READER)}
        assert len(set(before)) == len(set(before.values())) == len(names)
        assert desk.ingest(tmp_path / "docs").unchanged == len(names)
        (tmp_path / "docs" / "a b.md").unlink()
        assert len(desk.ingest(tmp_path / "docs", prune=True).removed) == 1
        after = {record.id: record.source for record in desk.documents(principal=READER)}
        assert after.items() < before.items()


def test_an_index_among_the_documents_is_no_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """It holds every text whatever its rights: as a document it would open them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVIDENCEDESK_EMBEDDING__MODEL", "none")
    put(tmp_path, "a.md")
    put(tmp_path / "theirs", "index.sqlite3", "a text that only has this name")
    assert run(["init"]) == 0
    for arguments in (["ingest", "."], ["ingest", ".", "--json"]):
        capsys.readouterr()
        assert run(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["unchanged"] == 2
    with Desk.open("evidencedesk.desk", settings=WITHOUT_MODEL) as desk:
        sources = {each.source for each in desk.documents(principal=Principal(administrator=True))}
        assert sources == {"a.md", "theirs/index.sqlite3"}
        for path in ("evidencedesk.desk", "evidencedesk.desk/index.sqlite3"):
            with pytest.raises(SourceError) as caught:
                desk.ingest(path)
            assert caught.value.code == "path_is_index"


def test_the_mark_of_an_index_is_the_stores():
    assert APPLICATION_ID.to_bytes(4, "big") == INDEX_MARK


def test_a_moved_file_and_a_moved_folder_leave_nothing_behind(tmp_path: Path):
    folder = tmp_path / "docs"
    for number in range(4):
        put(folder, f"n{number}.md", f"Number {number} is here.")
    with Desk.open(tmp_path / "a.desk", settings=WITHOUT_MODEL) as desk:
        desk.ingest(folder)
        (folder / "sub").mkdir()
        (folder / "n0.md").rename(folder / "sub" / "n0.md")
        report = desk.ingest(folder, prune=True)
        assert (report.added, report.removed) == (("sub-n0",), ("n0",))
        folder.rename(tmp_path / "moved")
        moved = desk.ingest(tmp_path / "moved")
        assert len(moved.metadata) == 4
        for again in (tmp_path / "moved", tmp_path / "moved" / "sub"):
            assert desk.ingest(again, prune=True).removed == ()
        records = desk.documents(principal=READER)
        assert len(records) == 4
        assert all(Path(each.root, each.source).is_file() for each in records)


def test_links_lead_nowhere_else(tmp_path: Path):
    put(tmp_path, "outside.md", "Nobody asked for this.")
    put(tmp_path / "docs", "a.md")
    for name, target in (("l.md", tmp_path / "outside.md"), ("etc", Path("/etc")), ("loop", tmp_path / "docs"), ("twin.md", tmp_path / "docs" / "a.md")):  # fmt: skip
        (tmp_path / "docs" / name).symlink_to(target)
    os.mkfifo(tmp_path / "docs" / "pipe.md")
    with Desk.open(tmp_path / "a.desk", settings=WITHOUT_MODEL) as desk:
        report = desk.ingest(tmp_path / "docs")
        assert report.added == ("a",)
        assert sorted(Path(each.source).name for each in report.refused) == ["etc", "l.md", "loop"]


def test_what_a_title_brings_along_does_not_reach_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVIDENCEDESK_EMBEDDING__MODEL", "none")
    title = r"\e[31mRed\e]0;owned\a \u202Egnirts \u0007\u009b31m"
    (tmp_path / "a.md").write_text(
        f'---\nid: "a\u202e"\ntitle: "{title}"\nroles: [r]\nlang: en\n---\n'
        f"## \x1b[2JHead\u202e\n{FACT} \x1b]8;;http://evil\x07link\x1b]8;;\x07\n",
        "utf-8",
    )
    assert run(["ingest", "a.md"]) == 0
    for command in (
        ["ask", "What is the deposit for a key?", "--explain"], ["search", "deposit"],
        ["docs", "list"], ["docs", "show", "a\u202e"], ["show", "a\u202e"], ["show", "a\u202e:c0"],
        ["docs", "history", "a\u202e"],
    ):  # fmt: skip
        assert run([*command, "--role", "r"]) == 0
        assert run(["log"]) == 0
        out, err = capsys.readouterr()
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(out + err), command


def test_the_error_names_no_more_than_was_typed(key: Desk):
    with pytest.raises(EvidenceDeskError) as caught:
        key.document("b", principal=Principal("other", administrator=True))
    assert "a.md" not in str(caught.value.to_json())
