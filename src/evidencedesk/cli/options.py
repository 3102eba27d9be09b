"""Options that several commands take, and how their values are checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from evidencedesk.errors import UsageError

DocumentRoles = Annotated[
    list[str] | None, typer.Option(help="Who may see them; any one role suffices.", metavar="ROLE")
]
DocumentTenant = Annotated[
    str | None, typer.Option(help="Whose documents they are.", metavar="TENANT")
]
DocumentStatus = Annotated[
    str | None, typer.Option(help="current, superseded, draft or archived.", metavar="STATUS")
]


def check_paths(paths: Sequence[Path], *, hint: str = "Correct the path.") -> None:
    """Refuse a path that is not there, before anything is made or written.

    Raises:
        UsageError: ``path_missing``.
    """
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise UsageError(
            f"There is no file or folder {str(missing)!r}; nothing was ingested.",
            code="path_missing",
            hint=hint,
        )


def numbers(pairs: Iterable[str]) -> dict[str, int]:
    """``NAME=NUMBER`` pairs as a mapping.

    Raises:
        UsageError: ``bad_option``.
    """
    found: dict[str, int] = {}
    for pair in pairs:
        name, _, number = pair.partition("=")
        if not name or not number.removeprefix("-").isdecimal():
            raise UsageError(
                f"{pair!r} is not an option of a strategy.",
                code="bad_option",
                hint="Write it as NAME=NUMBER, as in max_tokens=200.",
            )
        found[name] = int(number)
    return found
