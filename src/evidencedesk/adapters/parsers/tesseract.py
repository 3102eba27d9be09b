"""Whether tesseract is on this machine, and which languages it reads."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

PROGRAM = "tesseract"
_NO_LANGUAGES = frozenset({"osd", "equ"})
_MOST_LANGUAGES = 4


def is_installed() -> bool:
    """Whether the program is there, with at least one language."""
    return bool(languages())


def languages() -> str:
    """The languages to read in, as the program takes them; empty when it is not there."""
    return "+".join([name for name in models() if name not in _NO_LANGUAGES][:_MOST_LANGUAGES])


def finds_orientation() -> bool:
    """Whether it can tell how a page is turned."""
    return "osd" in models()


@cache
def models() -> tuple[str, ...]:
    """Names of what it can read with: languages, ``osd`` for orientation; none when it is not there."""
    if shutil.which(PROGRAM) is None:
        return ()
    try:
        listed = subprocess.run(  # noqa: S603 - a fixed program, nothing of the file
            [PROGRAM, "--list-langs"], capture_output=True, text=True, check=False, timeout=20
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(line.strip() for line in listed.split("\n")[1:] if line.strip())
