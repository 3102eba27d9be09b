"""The walk through the code in docs/architecture.md is true: every name in it resolves."""

from __future__ import annotations

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

import evidencedesk

DOCUMENT = Path(__file__).parents[2] / "docs" / "architecture.md"
PACKAGE = Path(evidencedesk.__file__).parent
NAMED = re.compile(r"`((?:[a-z_]\w*\.)+\w+)`")
STAGES = (
    "ingestion",
    "chunking",
    "indexing",
    "retrieval",
    "assembly",
    "generation",
    "verification",
    "answering",
)


def named() -> list[str]:
    walk = DOCUMENT.read_text("utf-8").split("## One sentence")[1].split("## Decisions")[0]
    return sorted(set(NAMED.findall(" ".join(walk.split()))))


def resolve(name: str) -> object:
    parts = name.split(".")
    depth = next(
        depth
        for depth in range(len(parts) - 1, 0, -1)
        if PACKAGE.joinpath(*parts[:depth]).with_suffix(".py").is_file()
        or PACKAGE.joinpath(*parts[:depth], "__init__.py").is_file()
    )
    module = importlib.import_module(".".join(["evidencedesk", *parts[:depth]]))
    return reduce(getattr, parts[depth:], module)


@pytest.mark.parametrize("name", named())
def test_every_name_of_the_walk_resolves(name: str) -> None:
    assert callable(resolve(name))


def test_the_walk_names_a_function_of_every_stage() -> None:
    assert {name.split(".")[0] for name in named()} >= set(STAGES)


def test_a_name_that_is_not_there_is_noticed() -> None:
    with pytest.raises(AttributeError):
        resolve("retrieval.retrieve.retrieve_everything")
