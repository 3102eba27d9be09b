"""A circuit breaker: a provider that fails again and again is left alone for a while."""

from __future__ import annotations

import threading


class CircuitBreaker:
    """Opens after consecutive failures, and then lets one call through to see (Nygard, Release It!).

    Times are the caller's seconds, so that nothing here reads a clock. Safe for threads.
    """

    def __init__(self, failures: int = 5, cooldown_s: float = 30.0) -> None:
        """Open after ``failures`` (1 or more) failures in a row, for ``cooldown_s`` seconds."""
        self._limit = failures
        self._cooldown = cooldown_s
        self._lock = threading.Lock()
        self._failed = 0
        self._closed_from = 0.0

    def admits(self, now: float) -> bool:
        """Whether a call may be made. Of the calls after a cooldown only the first is let through."""
        with self._lock:
            if self._failed < self._limit:
                return True
            if now < self._closed_from:
                return False
            self._closed_from = now + self._cooldown
            return True

    def succeeded(self) -> None:
        """The provider answered."""
        with self._lock:
            self._failed = 0

    def failed(self, now: float) -> None:
        """The provider failed in a way that another call would too."""
        with self._lock:
            self._failed += 1
            self._closed_from = now + self._cooldown
