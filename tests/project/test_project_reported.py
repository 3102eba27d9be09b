"""Every test that docs/reported_problems.md names exists, and every numbered test is named there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reported_problems.md").read_text("utf-8")
DEFINED = {
    name
    for path in (ROOT / "tests" / "reported").glob("test_*.py")
    for name in re.findall(r"(?m)^def (test_\w+)", path.read_text("utf-8"))
}


def test_every_test_that_is_named_exists():
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 30
    assert named - DEFINED == set()
    assert all((ROOT / path).exists() for path in re.findall(r"`(tests/[\w/]+(?:\.py)?)`", PAGE))


def test_every_numbered_test_is_named():
    numbered = {name for name in DEFINED if re.search(r"_\d{3,}", name)}
    missing = {name for name in numbered if name not in PAGE}
    assert {name for name in missing if not name.endswith("_and_are_closed_are_not_named")} == set()
