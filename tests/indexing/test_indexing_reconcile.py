from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evidencedesk.errors import UsageError
from evidencedesk.indexing import Change, classify, lost_documents
from evidencedesk.model import Document, DocumentRecord

DOCUMENT = Document(
    id="a", text="Bikes come back within 30 days.", title="Returns", source="a.md", root="/docs"
)


def record_of(document: Document) -> DocumentRecord:
    names = {
        name: getattr(document, name)
        for name in DocumentRecord.__dataclass_fields__
        if hasattr(document, name)
    }
    names["ingested_at"] = datetime(2026, 1, 1, tzinfo=UTC)
    return DocumentRecord(**names, chunks=1, vectors=1)


def test_unknown_key_is_added() -> None:
    assert classify(DOCUMENT, None) is Change.ADDED


def test_the_same_document_is_unchanged() -> None:
    assert classify(DOCUMENT, record_of(DOCUMENT)) is Change.UNCHANGED


@pytest.mark.parametrize(
    "difference",
    [{"text": "Within 14 days."}, {"title": "Refunds"}, {"lang": "de"}, {"parser_version": "2"}],
)
def test_what_is_embedded_decides_changed(difference: dict[str, str]) -> None:
    assert classify(replace(DOCUMENT, **difference), record_of(DOCUMENT)) is Change.CHANGED


@pytest.mark.parametrize(
    "difference",
    [
        {"roles": frozenset({"staff"})},
        {"deny": frozenset({"guest"})},
        {"status": "draft"},
        {"owner": "legal"},
        {"version": "4"},
        {"first_line": 9},
        {"source": "b.md"},
    ],
)
def test_everything_else_is_metadata(difference: dict[str, object]) -> None:
    changed = replace(DOCUMENT, **difference)  # type: ignore[arg-type]
    assert classify(changed, record_of(DOCUMENT)) is Change.METADATA


def stored(count: int) -> dict[Path, DocumentRecord]:
    return {
        Path(f"/docs/d{n}.md"): record_of(replace(DOCUMENT, id=f"d{n}", source=f"d{n}.md"))
        for n in range(count)
    }


def paths(*names: str) -> set[Path]:
    return {Path("/docs", name) for name in names}


def test_prune_names_only_what_is_gone() -> None:
    lost = lost_documents("/docs", stored(5), paths("d0.md", "d1.md", "d2.md"), force=False)
    assert [record.source for record in lost] == ["d3.md", "d4.md"]


@pytest.mark.parametrize("found", [paths(), paths("d0.md"), paths("d0.md", "d1.md")])
def test_prune_refuses_to_lose_over_half_or_everything(found: set[Path]) -> None:
    with pytest.raises(UsageError) as caught:
        lost_documents("/docs", stored(5), found, force=False)
    assert caught.value.code == "prune_refused"
    assert len(lost_documents("/docs", stored(5), found, force=True)) == 5 - len(found)


def test_prune_of_one_vanished_document_from_an_empty_folder_is_refused() -> None:
    with pytest.raises(UsageError):
        lost_documents("/docs", stored(1), paths(), force=False)
