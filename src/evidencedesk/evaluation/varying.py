"""Settings to compare with: one varied at a time, or a grid."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from evidencedesk.errors import SettingsError, UsageError
from evidencedesk.settings import Row, Settings, rows


def variations(
    settings: Settings, vary: Sequence[str], *, grid: bool = False
) -> list[tuple[str, Settings]]:
    """Settings to compare with ``settings``, each with a name such as ``retrieval.k=5``.

    One setting is varied at a time; with ``grid`` all of them together. A value that the settings
    have already is left out.

    Args:
        settings: what is compared with.
        vary: ``name=value,value`` each; a list is written ``a+b``.
        grid: every combination.

    Raises:
        UsageError: ``bad_vary``.
        SettingsError: an unknown setting, or a value that is not accepted.
    """
    choices = [_choices(text) for text in vary]
    if grid:
        combined = [list(one) for one in itertools.product(*choices)]
    else:
        combined = [[one] for listed in choices for one in listed]
    found = []
    for values in combined:
        varied = settings
        for row, text in values:
            varied = _with(varied, row, text)
        if varied != settings:
            found.append((" ".join(f"{row.name}={text}" for row, text in values), varied))
    if not found:
        raise UsageError(
            "There is nothing to compare: every value is the one in force.",
            code="bad_vary",
            hint="Name other values, as in --vary retrieval.k=3,5.",
        )
    return found


def _choices(text: str) -> list[tuple[Row, str]]:
    name, _, listed = text.partition("=")
    values = [value.strip() for value in listed.split(",") if value.strip()]
    row = next((row for row in rows() if row.name == name.strip()), None)
    if row is None or not values:
        raise UsageError(
            f"{text!r} names no setting with its values.",
            code="bad_vary",
            hint="Write it as in --vary retrieval.k=3,5,8; docs/settings.md lists the settings.",
        )
    return [(row, value) for value in values]


def _with(settings: Settings, row: Row, text: str) -> Settings:
    """``settings`` with one value, read as JSON where that is accepted, else as it is written."""
    *path, key = row.name.split(".")
    for value in (*_json(text), text, tuple(text.split("+"))):
        nested = settings.model_dump()
        table = nested
        for part in path:
            table = table[part]
        table[key] = value
        try:
            return Settings.model_validate(nested)
        except ValidationError:
            continue
    raise SettingsError(
        f"{row.name}: {text!r} is not accepted.",
        code="bad_setting",
        hint="docs/settings.md has the type of each setting; a list is written with +.",
    )


def _json(text: str) -> tuple[Any, ...]:
    try:
        return (json.loads(text),)
    except json.JSONDecodeError:
        return ()
