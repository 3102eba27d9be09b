"""Desks over the sample corpora, ingested once with the real model and once without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_corpora import SAMPLES

from evidencedesk import Desk, Settings

WITHOUT_MODEL = Settings.model_validate({"embedding": {"model": "none"}})


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory, minilm_directory: Path) -> Iterator[Desk]:
    """Both corpora with the semantic model. To be read, never written to."""
    assert minilm_directory.is_dir()
    with Desk.open(tmp_path_factory.mktemp("samples") / "samples.desk") as desk:
        report = desk.ingest(SAMPLES / "kestrel", SAMPLES / "academy")
        assert (report.failed, report.refused, report.warnings) == ((), (), ())
        yield desk


@pytest.fixture(scope="session")
def worded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Both corpora by keywords only. To be read, never written to."""
    path = tmp_path_factory.mktemp("worded") / "worded.desk"
    with Desk.open(path, settings=WITHOUT_MODEL) as desk:
        report = desk.ingest(SAMPLES / "kestrel", SAMPLES / "academy")
        assert (report.failed, report.refused, report.warnings) == ((), (), ())
        yield desk
