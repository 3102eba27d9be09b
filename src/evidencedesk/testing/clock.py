"""A clock for tests: fixed until it is moved, so that output can be compared byte for byte."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class SteppingClock:
    """The ``Clock`` port: a fixed time of day, and a timer that advances a millisecond a reading."""

    def __init__(self, start: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic = 0.0

    def now(self) -> datetime:
        """The time of day; the same until :meth:`move` is called."""
        return self._now

    def monotonic(self) -> float:
        """Seconds; a thousandth more at each reading."""
        self._monotonic += 0.001
        return self._monotonic

    def move(self, by: timedelta) -> None:
        """Set the time of day forward, or back with a negative ``by``."""
        self._now += by
