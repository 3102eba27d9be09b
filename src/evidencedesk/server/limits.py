"""How much one caller may ask for, and how much is done side by side."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from evidencedesk.protocols import Clock
from evidencedesk.server.problems import RequestError

_CALLERS_KEPT = 10_000


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float


class Allowance:
    """A token bucket per caller (leaky bucket as a meter: ITU-T I.371).

    Args:
        per_minute: what flows back per minute, and the most that can be spent at once; 0: no limit.
        clock: measures time.
        code: of the error when it is spent.
        what: what is counted, for the error.
    """

    def __init__(self, per_minute: int, clock: Clock, *, code: str, what: str) -> None:
        self._capacity = float(per_minute)
        self._clock = clock
        self._code = code
        self._what = what
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def check(self, caller: str) -> None:
        """Refuse a caller who has spent everything.

        Raises:
            RequestError: with the seconds until one unit has flowed back.
        """
        self._spend(caller, 0.0, needs=1.0)

    def spend(self, caller: str, amount: float = 1.0) -> None:
        """Take ``amount``; refuse when less than one unit is left, then nothing is taken.

        Raises:
            RequestError: with the seconds until one unit has flowed back.
        """
        self._spend(caller, amount, needs=1.0)

    def charge(self, caller: str, amount: float) -> None:
        """Take what has been used already; the caller may go below nothing, and waits longer."""
        self._spend(caller, amount, needs=-math.inf)

    def _spend(self, caller: str, amount: float, *, needs: float) -> None:
        if not self._capacity:
            return
        now = self._clock.monotonic()
        with self._lock:
            bucket = self._buckets.pop(caller, None) or _Bucket(self._capacity, now)
            back = (now - bucket.at) * self._capacity / 60
            bucket.level, bucket.at = min(self._capacity, bucket.level + back), now
            self._buckets[caller] = bucket
            while len(self._buckets) > _CALLERS_KEPT:
                self._buckets.popitem(last=False)
            if bucket.level < needs:
                raise self._refusal((needs - bucket.level) * 60 / self._capacity)
            bucket.level -= amount

    def _refusal(self, wait: float) -> RequestError:
        return RequestError(
            f"More than {self._capacity:.0f} {self._what} in a minute.",
            code=self._code,
            hint="Wait as long as Retry-After says.",
            retry_after=math.ceil(wait),
        )


class Turns:
    """Answers side by side in one process: some run, some wait, and the rest are refused.

    Args:
        running: how many run.
        waiting: how many may wait.
    """

    def __init__(self, running: int, waiting: int) -> None:
        self._places = anyio.Semaphore(running)
        self._most = running + waiting
        self._present = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place and hold it.

        Raises:
            RequestError: ``too_many_answers`` when too many wait already.
        """
        if self._present >= self._most:
            raise RequestError(
                "Too many questions are waiting to be answered.",
                code="too_many_answers",
                hint="Wait as long as Retry-After says.",
                retry_after=5,
            )
        self._present += 1
        try:
            async with self._places:
                yield
        finally:
            self._present -= 1
