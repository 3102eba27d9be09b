from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evidencedesk.errors import UsageError
from evidencedesk.indexing import Change, classify, lost_sources
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


def records(count: int, root: str = "/docs") -> list[DocumentRecord]:
    return [
        record_of(replace(DOCUMENT, id=f"d{n}", source=f"d{n}.md", root=root)) for n in range(count)
    ]


def test_prune_names_only_what_is_gone_from_its_root() -> None:
    lost = lost_sources(
        [*records(5), *records(5, "/elsewhere")], "/docs", {"d0.md", "d1.md", "d2.md"}, force=False
    )
    assert [record.source for record in lost] == ["d3.md", "d4.md"]


@pytest.mark.parametrize("found", [set(), {"d0.md"}, {"d0.md", "d1.md"}])
def test_prune_refuses_to_lose_over_half_or_everything(found: set[str]) -> None:
    with pytest.raises(UsageError) as caught:
        lost_sources(records(5), "/docs", found, force=False)
    assert caught.value.code == "prune_refused"
    assert len(lost_sources(records(5), "/docs", found, force=True)) == 5 - len(found)


def test_prune_of_one_vanished_document_from_an_empty_root_is_refused() -> None:
    with pytest.raises(UsageError):
        lost_sources(records(1), "/docs", set(), force=False)
