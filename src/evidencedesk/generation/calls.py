"""Calls to a provider, bounded in time and number: one generator around any adapter.

Retries, the deadline, the circuit breaker, cancellation and cost are here and the same for all.
Clock, sleep and randomness are passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from evidencedesk.errors import ProviderError
from evidencedesk.generation.breaker import CircuitBreaker
from evidencedesk.generation.prices import Prices
from evidencedesk.generation.retries import RetryPolicy
from evidencedesk.model import (
    CallBounds,
    Reply,
    Request,
    StopReason,
    StreamBreak,
    StreamItem,
    Usage,
)
from evidencedesk.protocols import Clock, Provider

WAIT_STEP_S = 0.1
"""While waiting for a retry, the asker is looked after this often."""


@dataclass(frozen=True, slots=True, eq=False)
class CallSettings:
    """How calls are bounded.

    Attributes:
        clock: the timer of the deadline.
        sleep: waits for seconds.
        random: a number in [0, 1); spreads retries.
        retries: how often, and after how long, a failed call is made again.
        prices: what tokens cost.
        timeout_s: everything together, waits included, takes no longer.
        connect_s: making a connection takes no longer.
    """

    clock: Clock
    sleep: Callable[[float], None]
    random: Callable[[], float]
    retries: RetryPolicy
    prices: Prices
    timeout_s: float = 60.0
    connect_s: float = 5.0


class ModelCalls:
    """The ``StreamingGenerator`` port over a ``Provider``. Safe for threads if the provider is."""

    def __init__(
        self, provider: Provider, settings: CallSettings, breaker: CircuitBreaker | None = None
    ) -> None:
        """Call ``provider``; ``breaker`` holds what is known of its health between calls."""
        self.name = provider.name
        self.model = provider.model
        self._provider = provider
        self._settings = settings
        self._breaker = breaker or CircuitBreaker()

    def generate(self, request: Request) -> Reply:
        """The reply; after bounded retries a failure is a reply with that stop reason.

        Raises:
            CallCancelledError: whoever asked has gone.
        """
        last = Reply("", StopReason.ERROR, self.name, self.model, attempts=0)
        for item in self._calls(request, stream=False):
            if isinstance(item, Reply):
                last = item
        return last

    def stream(self, request: Request) -> Iterator[StreamItem]:
        """The reply while it is written; see the port."""
        return self._calls(request, stream=True)

    def close(self) -> None:
        """Release what the provider holds."""
        self._provider.close()

    def _calls(self, request: Request, *, stream: bool) -> Iterator[StreamItem]:
        settings = self._settings
        now = settings.clock.monotonic
        bounds = CallBounds(now, now() + settings.timeout_s, settings.connect_s, request.cancelled)
        for attempt in range(1, settings.retries.max_retries + 2):
            if not self._breaker.admits(now()):
                yield self._failure(_OPEN, attempt - 1)
                return
            pieces: list[str] = []
            try:
                with closing(self._provider.call(request, bounds, stream=stream)) as items:
                    for item in items:
                        if isinstance(item, str):
                            pieces.append(item)
                            yield item
                        elif isinstance(item, Reply):
                            self._breaker.succeeded()
                            yield self._finished(item, attempt)
                            return
                error = ProviderError("the reply has no end", retryable=True)
            except ProviderError as failed:
                error = failed
            failure = self._failure(error, attempt, "".join(pieces))
            wait = self._after(error, attempt, bounds)
            if wait is None:
                yield failure
                return
            if pieces:
                yield StreamBreak(failure)
            self._wait(wait, bounds)

    def _after(self, error: ProviderError, attempts: int, bounds: CallBounds) -> float | None:
        now = bounds.monotonic()
        if error.retryable or error.code == "timeout":
            self._breaker.failed(now)
        left = bounds.deadline - now
        return self._settings.retries.wait(error, attempts, left, self._settings.random)

    def _wait(self, seconds: float, bounds: CallBounds) -> None:
        until = bounds.monotonic() + seconds
        while (left := until - bounds.monotonic()) > 0:
            self._settings.sleep(min(left, WAIT_STEP_S, bounds.remaining()))

    def _finished(self, reply: Reply, attempts: int) -> Reply:
        usage = self._settings.prices.charged(reply.usage, reply.model or self.model)
        return replace(
            reply,
            generator=self.name,
            model=reply.model or self.model,
            attempts=attempts,
            usage=usage,
        )

    def _failure(self, error: ProviderError, attempts: int, text: str = "") -> Reply:
        stop = StopReason.TIMEOUT if error.code == "timeout" else StopReason.ERROR
        detail = f"{self.name}: {error}"
        return Reply(text, stop, self.name, self.model, Usage(), attempts, detail=detail)


_OPEN = ProviderError("not called, because the calls before failed one after the other.")
