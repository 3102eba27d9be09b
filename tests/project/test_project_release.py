"""Version and changelog agree, and what the package names is there."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import evidencedesk

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_version_is_one():
    assert PROJECT["version"] == evidencedesk.__version__ == version("evidencedesk")


def test_the_changelog_begins_with_what_is_new():
    headings = re.findall(r"(?m)^## (.+)$", CHANGELOG)
    assert headings[0] == "Unreleased" or headings[0].startswith(PROJECT["version"])
    section = CHANGELOG.split("## ")[1]
    assert re.search(r"(?m)^- \S", section)
    assert headings == list(dict.fromkeys(headings))


@pytest.mark.parametrize("name", evidencedesk.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name: str):
    value = getattr(evidencedesk, name)
    assert name in dir(evidencedesk)
    if isinstance(value, type) or callable(value):
        assert value.__doc__


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        evidencedesk.nonsense  # noqa: B018


def test_the_licence_is_the_one_that_is_named():
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text("utf-8")
