"""Every attack as body, title, file name and metadata of a document of its own, in one index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks import ROWS, HostileModel, write_documents

from evidencedesk import Desk, Settings


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index in which each attacking document has a role of its own."""
    folder = tmp_path_factory.mktemp("attacks")
    write_documents(folder / "documents", ROWS)
    with Desk.open(folder / "index", settings=settings()) as desk:
        report = desk.ingest(folder / "documents")
    refused = {str(one.source) for one in (*report.failed, *report.refused)}
    assert len(refused) <= len(ROWS), report.failed
    return folder / "index"


@pytest.fixture(scope="session")
def reader_desk(library: Path) -> Iterator[Desk]:
    """The library with the extractive reader."""
    with Desk.open(library, settings=settings()) as desk:
        yield desk


@pytest.fixture(scope="session")
def hostile(library: Path) -> Iterator[tuple[Desk, HostileModel]]:
    """The library with a model that does whatever it is told to write."""
    model = HostileModel()
    with Desk.open(library, settings=settings(), generator=model) as desk:
        yield desk, model


def settings() -> Settings:
    return Settings.model_validate({"embedding": {"model": "none"}})
