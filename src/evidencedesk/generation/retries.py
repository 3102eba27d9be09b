"""How often a failed call is made again, and how long is waited before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evidencedesk.errors import ProviderError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounded retries with full jitter (Brooker, Exponential Backoff And Jitter, 2015).

    Attributes:
        max_retries: calls after the first, 0 or more.
        first_s: upper limit of the first wait; each next one is twice as long.
        longest_s: upper limit of every wait that the provider did not ask for.
    """

    max_retries: int = 2
    first_s: float = 0.5
    longest_s: float = 8.0

    def wait(
        self, error: ProviderError, attempts: int, left_s: float, random: Callable[[], float]
    ) -> float | None:
        """Seconds to wait before the next call, or None when there is none.

        Args:
            error: why the last call failed.
            attempts: calls made so far, 1 or more.
            left_s: seconds until everything must be over; nothing is waited for beyond.
            random: a number in [0, 1).
        """
        if not error.retryable or attempts > self.max_retries:
            return None
        if error.retry_after is not None:
            wait = error.retry_after
        else:
            wait = random() * min(self.longest_s, self.first_s * 2.0 ** (attempts - 1))
        return wait if wait < left_s else None
