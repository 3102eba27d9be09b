"""A small library, open, for the retrievers of other frameworks."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from integrations_desk import DOCUMENTS

from evidencedesk.desk import Desk
from evidencedesk.settings import Settings

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["LANGSMITH_TRACING"] = "false"


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("integrations")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, "utf-8")
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with Desk.open(folder / "index.desk", settings=settings, create=True) as opened:
        for name in DOCUMENTS:
            opened.ingest(folder / name)
        yield opened
