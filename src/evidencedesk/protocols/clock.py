"""Time, passed in."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Where time comes from. Passed in, so that output can be reproduced byte for byte."""

    def now(self) -> datetime:
        """The time of day, UTC, aware."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
