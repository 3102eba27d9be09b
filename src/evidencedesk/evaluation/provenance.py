"""Which commit a run was made at."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def git_commit(folder: Path) -> str:
    """Commit checked out in ``folder``; empty outside a repository or without git."""
    git = shutil.which("git")
    if git is None:
        return ""
    asked = [git, "-C", str(folder), "rev-parse", "--verify", "--quiet", "HEAD"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
    return done.stdout.strip() if done.returncode == 0 else ""
