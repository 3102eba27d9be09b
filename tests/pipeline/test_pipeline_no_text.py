from __future__ import annotations

from pathlib import Path

import pytest

from evidencedesk import Desk, Principal
from evidencedesk.settings import Settings

ADMINISTRATOR = Principal(administrator=True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", ""),
        ("a.md", " \n\n\t\n"),
        ("a.md", "# A heading\n\n## And another\n"),
        ("a.md", "---\ntitle: Nothing else\n---\n"),
        ("a.txt", "\ufeff"),
        ("a.html", "<html><body><script>var a;</script></body></html>"),
        ("a.csv", "\n"),
    ],
)
def test_a_file_without_text_is_said_to_be_one(tmp_path: Path, name: str, content: str) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / name).write_text(content, "utf-8")
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with Desk.open(tmp_path / "a.desk", settings=settings) as desk:
        report = desk.ingest(folder)
        problems = [*report.warnings, *(failure.message for failure in report.failed)]
        assert any("no text" in problem or "nothing" in problem for problem in problems)
        (entry,) = desk.log(principal=ADMINISTRATOR)
        assert entry.details.get("status") == "no text"


def test_a_file_that_was_emptied_answers_no_more(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("The fee is 40 euros.\n")
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    with Desk.open(tmp_path / "a.desk", settings=settings) as desk:
        desk.ingest(folder)
        (folder / "a.md").write_text("")
        desk.ingest(folder)
        assert desk.search("fee", principal=ADMINISTRATOR) == ()
