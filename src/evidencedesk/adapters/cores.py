"""How many processor cores are ours."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Cores that this process may use, at least 1: those it is bound to where that can be asked."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
