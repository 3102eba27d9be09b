"""A desk over files that a test writes, by keywords only unless it says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evidencedesk import Desk, Principal, Settings
from evidencedesk.testing.clock import SteppingClock

WITHOUT_MODEL = Settings.model_validate({"embedding": {"model": "none"}})


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk.open(
        tmp_path / "a.desk", settings=WITHOUT_MODEL, create=True, clock=SteppingClock()
    ) as opened:
        yield opened


Write = Callable[..., Path]


def writer_into(folder: Path) -> Write:
    """Writes ``NAME.md`` with front matter and text into ``folder``; gives the folder."""
    folder.mkdir()

    def put(name: str, text: str, *, roles: str | None = "[staff]", more: str = "") -> Path:
        head = [f"id: {name}", f"title: {name}", "lang: en"]
        head += [f"roles: {roles}"] if roles is not None else []
        head += [more] if more else []
        content = "\n".join(["---", *head, "---", "## Rules", text, ""])
        (folder / f"{name}.md").write_text(content, "utf-8")
        return folder

    return put


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer_into(tmp_path / "docs")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, Write]]:
    """A desk and a folder for the tests of a module that only read."""
    folder = tmp_path_factory.mktemp("shared")
    with Desk.open(
        folder / "a.desk", settings=WITHOUT_MODEL, create=True, clock=SteppingClock()
    ) as opened:
        yield opened, writer_into(folder / "docs")


@pytest.fixture
def staff() -> Principal:
    return Principal(roles=frozenset({"staff"}))
