"""A small library behind a desk with a clock of its own and no model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from records_library import GIFT_CARDS, RETURNS, SALARIES, OpenDesk

from evidencedesk.desk import Desk
from evidencedesk.settings import Settings
from evidencedesk.testing.clock import SteppingClock


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    folder.mkdir()
    for name, text in {"returns": RETURNS, "gift": GIFT_CARDS, "salaries": SALARIES}.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


@pytest.fixture
def open_desk(tmp_path: Path, library: Path) -> Iterator[OpenDesk]:
    """Opens a desk over the library, ingested; keyword arguments are tables of settings."""
    opened: list[Desk] = []

    def call(*, generator: Any = None, ingest: bool = True, **tables: dict[str, Any]) -> Desk:
        settings = Settings.model_validate({"embedding": {"model": "none"}, **tables})
        desk = Desk.open(
            tmp_path / "index.desk", settings=settings, clock=SteppingClock(), generator=generator
        )
        opened.append(desk)
        if ingest:
            desk.ingest(library)
        return desk

    yield call
    for desk in opened:
        desk.close()


@pytest.fixture
def desk(open_desk: OpenDesk) -> Desk:
    return open_desk()


@pytest.fixture
def edit(library: Path, desk: Desk) -> Callable[..., tuple[str, ...]]:
    """Replaces text in a file, ingests, and gives the warnings."""

    def call(name: str, old: str, new: str) -> tuple[str, ...]:
        path = library / f"{name}.md"
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")
        return desk.ingest(library).warnings

    return call
