"""A withdrawn right takes effect at once, also while the file cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencedesk.access import Principal
from evidencedesk.desk import Desk
from evidencedesk.settings import Settings

BINARY = bytes(range(256)) * 8
KEYWORDS = Settings.model_validate({"embedding": {"model": "none"}})


def write(folder: Path, manifest: str, content: bytes) -> None:
    (folder / "evidencedesk-folder.yaml").write_text(f"defaults: {{{manifest}}}\n", "utf-8")
    (folder / "a.txt").write_bytes(content)


def seen(desk: Desk, role: str) -> list[str]:
    return [record.id for record in desk.documents(principal=Principal(roles=frozenset({role})))]


@pytest.mark.parametrize(
    "withdrawn",
    [
        "roles: [boss]",
        "roles: []",
        "roles: [staff], deny: [staff]",
        "roles: [staff], status: draft",
    ],
)
def test_a_right_is_withdrawn_from_a_file_that_cannot_be_read(
    tmp_path: Path, withdrawn: str
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    with Desk.open(tmp_path / "x.desk", settings=KEYWORDS) as desk:
        write(folder, "roles: [staff]", b"Bikes come back within 30 days.")
        desk.ingest(folder)
        assert seen(desk, "staff") == ["a"]
        write(folder, withdrawn, BINARY)
        assert [failure.source for failure in desk.ingest(folder).failed] == ["a.txt"]
        assert seen(desk, "staff") == []


def test_nobody_is_let_in_before_the_file_can_be_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    with Desk.open(tmp_path / "x.desk", settings=KEYWORDS) as desk:
        write(folder, "roles: [staff]", b"Bikes come back within 30 days.")
        desk.ingest(folder)
        write(folder, "roles: [staff, guest]", BINARY)
        desk.ingest(folder)
        assert (seen(desk, "guest"), seen(desk, "staff")) == ([], ["a"])
        write(folder, "roles: [staff, guest]", b"Bikes come back within 14 days.")
        desk.ingest(folder)
        assert (seen(desk, "guest"), seen(desk, "staff")) == (["a"], ["a"])
