"""docs/security.md lists every class once, and names tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROWS = re.findall(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)


def test_every_class_has_its_row() -> None:
    assert [int(number) for number, _, _ in ROWS] == list(range(1, 42))


def test_every_row_names_tests_that_are_there() -> None:
    missing = [
        name
        for _, _, told in ROWS
        for name in re.findall(r"`(tests/[^`]+)`", told)
        if not _is_there(name)
    ]
    assert missing == []
    assert all("`tests/" in told for _, _, told in ROWS)


def _is_there(name: str) -> bool:
    path, _, function = name.partition("::")
    file = ROOT / path
    if not file.is_file():
        return False
    tree = ast.parse(file.read_text("utf-8"))
    return any(isinstance(each, ast.FunctionDef) and each.name == function for each in tree.body)
