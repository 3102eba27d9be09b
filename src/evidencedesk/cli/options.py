"""Values of options that several commands check the same way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from evidencedesk.errors import UsageError


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
