"""Sends notices in the background: an answer never waits for one, and never fails with one.

What is to be told is first put into the outbox of the index, so that a process that ends does not
lose it; one thread takes it from there. Several processes may send from one outbox.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evidencedesk.errors import IndexingError, NotificationError
from evidencedesk.model.notice import NEVER, Message, Notice, WaitingNotice
from evidencedesk.protocols import Clock, Notifier, Outbox

LOG = logging.getLogger("evidencedesk.notifications")
LOG.addHandler(logging.NullHandler())

_LEASE = timedelta(minutes=5)
_FIRST_WAIT_S = 60.0
_GROWTH = 4.0
_LONGEST_WAIT_S = 6 * 3600.0
_LOOK_AGAIN_S = 30.0
_DELIVERIES_WAITED_FOR = 2


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """What a courier works with.

    Attributes:
        outbox: where notices wait.
        notifiers: the ways out.
        compose: a notice as it leaves.
        clock: when attempts are due.
        attempts: how often one is tried before it is given up and only listed.
        timeout_s: what one delivery may take; an ending process waits for two.
    """

    outbox: Callable[[], Outbox]
    notifiers: Sequence[Notifier]
    compose: Callable[[Notice], Message]
    clock: Clock
    attempts: int
    timeout_s: float


class _Signal:
    """What one sending thread is told."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._posted = False
        self.closing = False

    def post(self) -> None:
        """There is something to send."""
        with self._condition:
            self._posted = True
            self._condition.notify()

    def close(self) -> None:
        """Send what was posted, then end."""
        with self._condition:
            self.closing = True
            self._condition.notify()

    def wait(self) -> bool:
        """Wait until there may be something to send; False when it is time to end."""
        with self._condition:
            if not (self._posted or self.closing):
                self._condition.wait(_LOOK_AGAIN_S)
            again = self._posted or not self.closing
            self._posted = False
            return again


class Courier:
    """Puts notices into the outbox and sends them, each until it is taken or given up."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._lock = threading.Lock()
        self._sending: tuple[threading.Thread, _Signal] | None = None

    def post(self, notice: Notice) -> None:
        """Have it sent; raises nothing. What cannot be kept is logged, without content."""
        names = [notifier.name for notifier in self._route.notifiers]
        try:
            outbox = self._route.outbox()
            if not outbox.writable:
                LOG.warning("the index is read-only, so nobody is told: %s", notice.event.value)
                return
            outbox.put(notice, names, self._route.clock.now())
        except IndexingError as error:
            LOG.warning("a notice could not be kept (%s): %s", error.code, notice.event.value)
            return
        self.start()

    def start(self) -> None:
        """Send what waits, now and whenever something is due, until it is closed."""
        with self._lock:
            if self._sending is None:
                signal = _Signal()
                thread = threading.Thread(
                    target=self._run, args=(signal,), name="evidencedesk-notices", daemon=True
                )
                self._sending = thread, signal
                thread.start()
            self._sending[1].post()

    def send(self, *, all_waiting: bool = False) -> tuple[int, int]:
        """Send what is due, or all that waits; how many were taken and how many failed.

        Raises:
            IndexingError: the outbox cannot be read or written.
        """
        outbox, now = self._route.outbox(), self._route.clock.now()
        taken = failed = 0
        for waiting in outbox.waiting():
            wanted = all_waiting or waiting.due <= now
            if wanted and outbox.lease(waiting, now + _LEASE):
                delivered = self._deliver(outbox, waiting)
                taken, failed = taken + delivered, failed + (not delivered)
        return taken, failed

    def close(self) -> None:
        """Let what is being sent be sent, in bounded time; the rest waits for the next process."""
        with self._lock:
            sending, self._sending = self._sending, None
        if sending is not None:
            thread, signal = sending
            signal.close()
            thread.join(_DELIVERIES_WAITED_FOR * self._route.timeout_s)

    def _run(self, signal: _Signal) -> None:
        while signal.wait():
            try:
                self.send()
            except IndexingError as error:
                LOG.warning("notices could not be sent (%s); they wait", error.code)

    def _deliver(self, outbox: Outbox, waiting: WaitingNotice) -> bool:
        try:
            self._notifier(waiting.channel).deliver(self._route.compose(waiting.notice))
        except NotificationError as error:
            self._keep(outbox, waiting, error)
            return False
        outbox.sent(waiting.number)
        return True

    def _notifier(self, channel: str) -> Notifier:
        for notifier in self._route.notifiers:
            if notifier.name == channel:
                return notifier
        raise NotificationError(f"No {channel} is configured any more.")

    def _keep(self, outbox: Outbox, waiting: WaitingNotice, error: NotificationError) -> None:
        attempts = waiting.attempts + 1
        given_up = attempts >= self._route.attempts
        due = NEVER if given_up else self._route.clock.now() + _wait(attempts)
        outbox.failed(waiting.number, due, error.message)
        LOG.warning(
            "notice %s by %s failed at attempt %d%s: %s",
            waiting.notice.id,
            waiting.channel,
            attempts,
            ", given up" if given_up else "",
            error.message,
        )


def _wait(attempts: int) -> timedelta:
    return timedelta(seconds=min(_LONGEST_WAIT_S, _FIRST_WAIT_S * _GROWTH ** (attempts - 1)))


def next_attempt(waiting: WaitingNotice) -> datetime | None:
    """When a notice is tried again by itself; None when it was given up."""
    return None if waiting.due == NEVER else waiting.due
