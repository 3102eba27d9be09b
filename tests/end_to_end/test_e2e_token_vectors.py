"""Stored token vectors switched on and off: what answers, what is refused, what a rebuild changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_corpora import SAMPLES

from evidencedesk import Desk, Principal, Settings
from evidencedesk.cli.app import run
from evidencedesk.errors import IndexMismatchError

KEEPING = Settings.model_validate({"embedding": {"token_vectors": True}})
QUESTION = "How long can a bike be returned?"
READER = Principal(roles=frozenset({"everyone", "staff"}))


@pytest.fixture
def index(tmp_path: Path, minilm_directory: Path) -> Path:
    """The Kestrel shop with stored token vectors."""
    assert minilm_directory.is_dir()
    path = tmp_path / "kestrel.desk"
    with Desk.open(path, settings=KEEPING) as desk:
        report = desk.ingest(SAMPLES / "kestrel")
        assert report.failed == ()
    return path


def test_an_answer_from_stored_token_vectors_is_the_same_each_time(index: Path):
    with Desk.open(index, settings=KEEPING) as desk:
        first, second = (desk.ask(QUESTION, principal=READER) for _ in range(2))
        findings = desk.doctor()
    assert first.claims
    assert first.text == second.text
    assert first.confidence == second.confidence
    assert [
        one.message for one in findings if one.check in {"index", "probes"} and not one.ok
    ] == []


def test_an_index_with_token_vectors_is_refused_where_none_are_wanted(index: Path):
    with Desk.open(index) as desk, pytest.raises(IndexMismatchError) as refused:
        desk.ask(QUESTION, principal=READER)
    assert "token vectors of 96" in refused.value.message
    assert "reindex --model minilm --yes" in refused.value.hint


def test_reindex_takes_them_out_and_puts_them_in(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert run(["reindex", "--yes", "--index", str(index)]) == 0
    with Desk.open(index) as desk:
        assert desk.generation().embedding.token_dimensions == 0
        without = desk.ask(QUESTION, principal=READER)
    monkeypatch.setenv("EVIDENCEDESK_EMBEDDING__TOKEN_VECTORS", "true")
    assert run(["reindex", "--yes", "--index", str(index)]) == 0
    with Desk.open(index, settings=KEEPING) as desk:
        assert desk.generation().embedding.token_dimensions == 96
        assert desk.ask(QUESTION, principal=READER).claims
    assert without.claims


def test_a_document_added_later_is_kept_with_its_tokens_in_both_generations(
    index: Path, tmp_path: Path
):
    late = tmp_path / "late.md"
    late.write_text("---\nid: late\nroles: [everyone]\n---\nHelmets are tested by TUV.\n", "utf-8")
    with Desk.open(index) as desk:
        desk.reindex(yes=True)
        assert desk.ingest(late).added == ("late",)
        desk.rollback()
    with Desk.open(index, settings=KEEPING) as desk:
        assert [one.message for one in desk.doctor() if one.check == "index" and not one.ok] == []
        (record,) = (one for one in desk.documents(principal=READER) if one.id == "late")
    assert (record.chunks, record.vectors) == (1, 1)


def test_with_and_without_can_be_compared_without_touching_what_answers(index: Path):
    with Desk.open(index, settings=KEEPING) as desk:
        before = desk.generation()
        with desk.trial(Settings()) as other:
            assert other.generation().embedding.token_dimensions == 0
            assert other.ask(QUESTION, principal=READER).claims
        assert desk.generation() == before
