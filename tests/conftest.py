"""What every test may use."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


class SteppingClock:
    """A clock for tests: starts at a fixed instant and moves only when asked or read."""

    def __init__(self, start: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        self._monotonic += 0.001
        return self._monotonic

    def advance(self, **delta: float) -> None:
        self._now += timedelta(**delta)


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()
