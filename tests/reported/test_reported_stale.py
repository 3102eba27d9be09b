"""Stale indexes and deletes that do not propagate, as reported of comparable products."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencedesk import Desk, EvidenceDeskError, Principal, Reason, Settings, Status
from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.errors import ModelError, UsageError
from evidencedesk.ingestion.metadata import AccessDefaults, DeclaredMetadata
from evidencedesk.pipeline import Indexing, Reading, run_ingestion
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.testing.memory import MemoisedEmbedder
from evidencedesk.wiring import Models, open_store, parser_pool, parser_version

OPERATOR = Principal(administrator=True)
QUESTION = "What is the deposit for a key?"
Write = Callable[..., Path]


def deposit(euros: int) -> str:
    return f"The deposit for a key is {euros} euros."


def ways_to(desk: Desk, document: str) -> list[str]:
    """The ways of reading on which something of the document still shows."""
    statuses = set(Status)
    found = []
    answer = desk.ask(QUESTION, principal=OPERATOR, statuses=statuses, threshold=0.0)
    if document in str([c.document_id for c in answer.citations]) + str(answer.retrieved_ids):
        found.append("ask")
    hits = desk.search(QUESTION, principal=OPERATOR, statuses=statuses, k=1000)
    if document in {hit.chunk.document_id for hit in hits}:
        found.append("search")
    for name, read in (
        ("show", desk.document), ("history", desk.history), ("diff", desk.diff),
    ):  # fmt: skip
        try:
            read(document, principal=OPERATOR, statuses=statuses)
        except UsageError:
            continue
        found.append(name)
    if document in {d.id for d in desk.documents(principal=OPERATOR, statuses=statuses)}:
        found.append("list")
    return found


@pytest.mark.parametrize("model", ["minilm", "none"])
def test_ragflow_6462_a_deleted_document_is_on_no_way_of_reading_after_a_restart_too(
    tmp_path: Path, write: Write, minilm_directory: Path, model: str
):
    assert minilm_directory.is_dir()
    settings = Settings.model_validate({"embedding": {"model": model}})
    write("keys", deposit(40))
    folder = write("yard", "The yard is swept on Fridays.")
    reader = Desk.open(tmp_path / "a.desk", settings=settings)
    with Desk.open(tmp_path / "a.desk", settings=settings) as desk:
        desk.ingest(folder)
        assert ways_to(reader, "keys") == ["ask", "search", "show", "history", "diff", "list"]
        assert desk.remove("keys")
        assert ways_to(desk, "keys") == []
        assert ways_to(reader, "keys") == []
    reader.close()
    with Desk.open(tmp_path / "a.desk", settings=settings) as desk:
        assert ways_to(desk, "keys") == []
        assert ways_to(desk, "yard") != []
    with sqlite3.connect(tmp_path / "a.desk" / "index.sqlite3") as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]  # fmt: skip
        assert {"documents", "chunks", "history"} <= set(tables)
        assert database.execute("SELECT count(*) FROM documents").fetchone() == (1,)
        assert database.execute("SELECT count(*) FROM chunks").fetchone() == (1,)
        assert database.execute("SELECT count(*) FROM history").fetchone() == (0,)
    database.close()


def test_open_webui_26438_the_same_bytes_come_back_after_removal(desk: Desk, write: Write):
    folder = write("keys", deposit(40))
    for _ in range(3):
        assert desk.ingest(folder).added == ("keys",)
        assert desk.remove("keys")
        assert ways_to(desk, "keys") == []
    assert desk.ingest(folder).added == ("keys",)
    assert desk.ingest(folder).unchanged == 1


class FailingEmbedder(MemoisedEmbedder):
    """Fails for every passage that holds the word ``poison``."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._refuse(texts)
        return super().embed_passages(texts)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list:
        self._refuse(texts)
        return super().token_vectors(texts, query=query)

    def _refuse(self, texts: Sequence[str]) -> None:
        if any("poison" in text for text in texts):
            raise ModelError("The model fell over.", code="model_error")


def test_open_webui_23787_when_embedding_fails_the_old_version_is_served_and_the_call_says_so(
    tmp_path: Path, write: Write, minilm: OnnxEmbedder, staff: Principal
):
    embedder, settings, clock = FailingEmbedder(minilm), Settings(), SteppingClock()
    folder = write("keys", deposit(40))
    path = tmp_path / "a.desk"

    def ingest() -> tuple[str, ...]:
        store = open_store(path, settings, clock, create=True, models=Models(settings))
        try:
            with store.write() as writer, parser_pool(settings) as parsers:
                reading = Reading(
                    parsers, parser_version, clock, DeclaredMetadata(), AccessDefaults()
                )
                return run_ingestion(
                    [folder], reading, Indexing(writer, lambda _: embedder)
                ).changed
        finally:
            store.close()

    ingest()
    write("keys", deposit(99) + " It is poison.")
    with pytest.raises(ModelError, match="fell over"):
        ingest()
    with Desk.open(path) as desk:
        assert "40 euros" in desk.ask(QUESTION, principal=staff).text
        assert all(finding.ok for finding in desk.doctor() if finding.check == "index")
        (record,) = desk.documents(principal=staff)
        assert record.vectors == record.chunks == 1
    write("keys", deposit(99))
    assert ingest() == ("keys",)
    with Desk.open(path) as desk:
        assert "99 euros" in desk.ask(QUESTION, principal=staff).text


def test_llama_index_8832_ingesting_twice_makes_no_second_chunk(desk: Desk, write: Write):
    for number in range(5):
        folder = write(f"d{number}", f"Rule {number}. " + deposit(number))
    first = desk.ingest(folder)
    for _ in range(2):
        again = desk.ingest(folder)
        assert (again.unchanged, again.chunks) == (5, 0)
    records = desk.documents(principal=OPERATOR)
    assert sum(record.chunks for record in records) == first.chunks == 5
    assert len(desk.search(QUESTION, principal=OPERATOR, k=1000)) == 5


def test_llama_index_13604_files_that_went_are_removed_when_asked_for(desk: Desk, write: Write):
    for number in range(5):
        folder = write(f"d{number}", deposit(number))
    desk.ingest(folder)
    for number in (1, 3):
        (folder / f"d{number}.md").unlink()
    assert desk.ingest(folder).removed == ()
    assert desk.ingest(folder, prune=True).removed == ("d1", "d3")
    assert {d.id for d in desk.documents(principal=OPERATOR)} == {"d0", "d2", "d4"}


def many_paragraphs(count: int, word: str) -> str:
    return "\n\n".join(
        f"Paragraph {number} about {word}. " + f"It goes on about {word} for a while, as it must. " * 10
        for number in range(count)
    )  # fmt: skip


def test_llama_index_22046_every_chunk_of_a_document_is_kept(desk: Desk, write: Write):
    report = desk.ingest(write("long", many_paragraphs(90, "locks")))
    (record,) = desk.documents(principal=OPERATOR)
    assert record.chunks == report.chunks >= 90
    text = "".join(desk.chunk(f"long:c{n}", principal=OPERATOR).text for n in range(record.chunks))
    assert text.count("Paragraph") == 90


def test_langchain_22135_more_chunks_than_a_batch_are_replaced_whole(desk: Desk, write: Write):
    write("long", many_paragraphs(150, "locks"))
    folder = write("keys", deposit(40))
    desk.ingest(folder)
    write("long", many_paragraphs(140, "hinges"))
    assert desk.ingest(folder).changed == ("long",)
    hits = desk.search("locks", principal=OPERATOR, k=1000)
    assert [hit for hit in hits if "locks" in hit.chunk.text] == []
    assert len(desk.search("hinges", principal=OPERATOR, k=1000)) == 100
    assert ways_to(desk, "keys") != []
    assert all(finding.ok for finding in desk.doctor())


def test_langchain_39937_what_is_called_unchanged_is_in_the_index_and_damage_is_found(
    tmp_path: Path, desk: Desk, write: Write
):
    for number in range(4):
        folder = write(f"d{number}", deposit(number))
    desk.ingest(folder)
    assert desk.ingest(folder).unchanged == 4
    assert len(desk.search(QUESTION, principal=OPERATOR, k=1000)) == 4
    desk.close()
    with sqlite3.connect(desk.path / "index.sqlite3") as database:
        database.execute("DELETE FROM chunks WHERE doc = (SELECT min(doc) FROM documents)")
    database.close()
    findings = {finding.check: finding for finding in desk.doctor()}
    assert not findings["index"].ok
    assert "reindex --yes" in findings["index"].hint
    assert "reindex --discard" in findings["index"].hint
    desk.reindex(yes=True)
    desk.discard()
    assert len(desk.search(QUESTION, principal=OPERATOR, k=1000)) == 4
    assert all(finding.ok for finding in desk.doctor())


def test_onyx_3780_the_only_document_can_be_removed(desk: Desk, write: Write):
    folder = write("keys", deposit(40))
    desk.ingest(folder)
    assert desk.remove("keys")
    assert desk.documents(principal=OPERATOR) == ()
    assert desk.ask(QUESTION, principal=OPERATOR).reason is Reason.NO_EVIDENCE
    desk.ingest(folder)
    (folder / "keys.md").unlink()
    with pytest.raises(EvidenceDeskError) as caught:
        desk.ingest(folder, prune=True)
    assert caught.value.code == "prune_refused"
    assert ways_to(desk, "keys") != []
    assert desk.ingest(folder, prune=True, force=True).removed == ("keys",)
    assert ways_to(desk, "keys") == []
