"""Documents change: the new text answers at once, the old is gone, and unchanged ones cost nothing."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sample_corpora import CUSTOMER, OPERATOR, RETURNS, STUDENT, copy_of, folded

from evidencedesk import Desk, EvidenceDeskError, IngestReport, Reason, Settings, Status
from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.ingestion.metadata import AccessDefaults, DeclaredMetadata
from evidencedesk.model import DocumentRecord
from evidencedesk.pipeline import Indexing, Reading, run_ingestion
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.testing.memory import MemoisedEmbedder
from evidencedesk.wiring import Models, open_store, parser_pool, parser_version

OLD, NEW = "within 30 days of delivery", "within 45 days of delivery"


class CountingEmbedder(MemoisedEmbedder):
    """Counts the passages that it is asked for."""

    def __init__(self, embedder: OnnxEmbedder) -> None:
        super().__init__(embedder)
        self.passages = 0

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.passages += len(texts)
        return super().embed_passages(texts)

    def token_vectors(self, texts: Sequence[str], *, query: bool = False) -> list:
        self.passages += 0 if query else len(texts)
        return super().token_vectors(texts, query=query)


def ingest(folder: Path, index: Path, embedder: CountingEmbedder) -> IngestReport:
    """Ingestion as the desk composes it, with an embedder of ours."""
    settings, clock = Settings(), SteppingClock()
    store = open_store(index, settings, clock, create=True, models=Models(settings))
    with store.write() as writer, parser_pool(settings) as parsers:
        reading = Reading(
            parsers, parser_version, clock, DeclaredMetadata(), AccessDefaults(frozenset({"all"}))
        )
        report = run_ingestion([folder], reading, Indexing(writer, lambda _: embedder))
    store.close()
    return report


def records(index: Path) -> tuple[DocumentRecord, ...]:
    """Everything recorded of every document."""
    with Desk.open(index) as desk:
        return desk.documents(principal=OPERATOR, statuses=set(Status))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return copy_of("kestrel", tmp_path)


@pytest.fixture(scope="module")
def counting(minilm: OnnxEmbedder) -> CountingEmbedder:
    return CountingEmbedder(minilm)


def test_unchanged_files_embed_nothing_and_write_nothing(
    shop: Path, tmp_path: Path, counting: CountingEmbedder
):
    first = ingest(shop, tmp_path / "a.desk", counting)
    assert len(first.added) == 13
    assert counting.passages >= 36
    before = records(tmp_path / "a.desk")
    counting.passages = 0
    for path in shop.iterdir():
        path.touch()
    again = ingest(shop, tmp_path / "a.desk", counting)
    assert (again.unchanged, again.added, again.changed, again.metadata) == (13, (), (), ())
    assert (again.chunks, counting.passages) == (0, 0)
    assert records(tmp_path / "a.desk") == before


def test_what_is_not_embedded_changes_without_embedding(
    shop: Path, tmp_path: Path, counting: CountingEmbedder
):
    ingest(shop, tmp_path / "a.desk", counting)
    counting.passages = 0
    for old, new in (
        ("roles: [everyone]", "roles: [staff]"),
        ("roles: [staff]", "roles: [staff]\ndeny: [guest]"),
        ("status: current", "status: archived"),
        ("owner: customer-care", "owner: legal"),
        ('version: "3"', 'version: "4"'),
        ("owner: legal", "owner: legal\n# positions move by a line"),
    ):
        edit(shop / "returns-policy.md", old, new)
        report = ingest(shop, tmp_path / "a.desk", counting)
        assert report.metadata == ("kc-returns-v3",), new
        assert (report.changed, report.unchanged, counting.passages) == ((), 12, 0)


def test_one_changed_paragraph_embeds_that_paragraph_alone(
    shop: Path, tmp_path: Path, counting: CountingEmbedder
):
    ingest(shop, tmp_path / "a.desk", counting)
    counting.passages = 0
    edit(shop / "returns-policy.md", OLD, NEW)
    report = ingest(shop, tmp_path / "a.desk", counting)
    assert report.changed == ("kc-returns-v3",)
    assert 1 <= counting.passages <= 4


def test_a_changed_title_embeds_the_document_again(
    shop: Path, tmp_path: Path, counting: CountingEmbedder
):
    ingest(shop, tmp_path / "a.desk", counting)
    counting.passages = 0
    edit(shop / "returns-policy.md", "title: Returns policy", "title: Bringing things back")
    assert ingest(shop, tmp_path / "a.desk", counting).changed == ("kc-returns-v3",)
    assert counting.passages >= 4


def everything_read(desk: Desk, document: str) -> str:
    """All that a reader can be shown of the document now, history apart, and of the question."""
    shown = [
        desk.ask(RETURNS, principal=CUSTOMER).to_json(),
        desk.document(document, principal=CUSTOMER).text,
        [hit.chunk.text for hit in desk.search(RETURNS, principal=CUSTOMER, k=1000)],
        [hit.chunk.text for hit in desk.search("30 days delivery", principal=CUSTOMER, k=1000)],
        [hit.chunk.text for hit in desk.search("45 days delivery", principal=CUSTOMER, k=1000)],
    ]
    for number in itertools.count():
        try:
            shown.append(desk.chunk(f"{document}:c{number}", principal=CUSTOMER).text)
        except EvidenceDeskError:
            break
    assert number > 3
    return folded(str(shown))


@pytest.mark.parametrize("model", ["minilm", "none"])
def test_a_changed_text_answers_at_once_and_the_old_is_in_history_only(
    shop: Path, tmp_path: Path, minilm_directory: Path, model: str
):
    assert minilm_directory.is_dir()
    settings = Settings.model_validate({"embedding": {"model": model}})
    (shop / "returns-policy.bn.md").unlink()
    with (
        Desk.open(tmp_path / "a.desk", settings=settings) as writer,
        Desk.open(tmp_path / "a.desk", settings=settings) as reader,
    ):
        writer.ingest(shop)
        assert OLD in folded(reader.ask(RETURNS, principal=CUSTOMER).text)
        edit(shop / "returns-policy.md", OLD, NEW)
        assert writer.ingest(shop).changed == ("kc-returns-v3",)
        answer = reader.ask(RETURNS, principal=CUSTOMER)
        assert answer.reason is Reason.OK
        assert NEW in folded(answer.text)
        for desk in (reader, writer):
            shown = everything_read(desk, "kc-returns-v3")
            assert OLD not in shown
            assert NEW in shown
        (earlier,) = reader.history("kc-returns-v3", principal=CUSTOMER)
        changes = reader.diff("kc-returns-v3", principal=CUSTOMER)
        assert earlier.content_hash != answer.citations[0].content_hash
        assert OLD in changes
        assert NEW in changes


@pytest.mark.parametrize("way", ["prune", "remove"])
def test_a_removed_document_is_gone_from_every_way_of_reading(shop: Path, tmp_path: Path, way: str):
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    question = "When do gift cards expire?"
    with Desk.open(tmp_path / "a.desk", settings=settings) as desk:
        desk.ingest(shop)
        edit(shop / "gift-cards.md", "36 months", "48 months")
        desk.ingest(shop)
        (shop / "gift-cards.md").unlink()
        assert desk.ingest(shop).removed == ()
        assert desk.ask(question, principal=CUSTOMER).reason is Reason.OK
        if way == "prune":
            assert desk.ingest(shop, prune=True).removed == ("kc-giftcards-v1",)
        else:
            assert desk.remove("kc-giftcards-v1")
    with Desk.open(tmp_path / "a.desk", settings=settings) as desk:
        assert desk.ask(question, principal=CUSTOMER).reason is Reason.NO_EVIDENCE
        hits = desk.search(question, principal=OPERATOR, statuses=set(Status), k=1000)
        assert "kc-giftcards-v1" not in {hit.chunk.document_id for hit in hits}
        for read in (desk.document, desk.history, desk.diff):
            with pytest.raises(EvidenceDeskError, match="There is no document 'kc-giftcards-v1'"):
                read("kc-giftcards-v1", principal=OPERATOR)
        with pytest.raises(EvidenceDeskError, match="There is no chunk"):
            desk.chunk("kc-giftcards-v1:c0", principal=OPERATOR)
        assert any(
            entry.outcome == "removed" and entry.document_id == "kc-giftcards-v1"
            for entry in desk.log(principal=OPERATOR)
        )
    left = b"".join(
        path.read_bytes() for path in (tmp_path / "a.desk").rglob("*") if path.is_file()
    )
    assert b"48 months" not in left
    assert b"36 months" not in left


def test_a_withdrawn_role_closes_the_document_at_once_for_readers_already_open(
    shop: Path, tmp_path: Path
):
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with (
        Desk.open(tmp_path / "a.desk", settings=settings) as writer,
        Desk.open(tmp_path / "a.desk", settings=settings) as reader,
    ):
        writer.ingest(shop)
        assert reader.ask(RETURNS, principal=CUSTOMER).reason is Reason.OK
        edit(shop / "returns-policy.md", "roles: [everyone]", "roles: [staff]")
        writer.ingest(shop)
        answer = reader.ask(RETURNS, principal=CUSTOMER)
        assert "kc-returns-v3" not in str(answer.to_json())
        assert reader.search(RETURNS, principal=STUDENT) == ()
