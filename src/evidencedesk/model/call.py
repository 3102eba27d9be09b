"""One call to a provider: the bounds within which it must end, and what it says when it breaks off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evidencedesk.errors import CallCancelledError, ProviderError
from evidencedesk.model.evidence import Reply


@dataclass(frozen=True, slots=True, eq=False)
class CallBounds:
    """When a call must end. Adapters ask again and again while they wait.

    Attributes:
        monotonic: seconds from an arbitrary start.
        deadline: the second, on that scale, at which the call is given up.
        connect_s: seconds that making a connection may take.
        cancelled: whether whoever asked has gone; None when nobody can go.
    """

    monotonic: Callable[[], float]
    deadline: float
    connect_s: float = 5.0
    cancelled: Callable[[], bool] | None = None

    def remaining(self) -> float:
        """Seconds left, more than 0.

        Raises:
            CallCancelledError: whoever asked has gone.
            ProviderError: ``timeout`` when none are left.
        """
        if self.cancelled is not None and self.cancelled():
            raise CallCancelledError("The call was stopped because whoever asked has gone.")
        left = self.deadline - self.monotonic()
        if left <= 0:
            raise ProviderError("The provider did not answer in time.", code="timeout")
        return left


@dataclass(frozen=True, slots=True)
class StreamBreak:
    """A stream broke off and can begin anew: what came so far is void if the reader goes on.

    Attributes:
        reply: what came so far, with the stop reason; a reader who has shown parts of it stops here.
    """

    reply: Reply


StreamItem = str | StreamBreak | Reply
"""What a stream consists of: pieces of text in order; breaks; the whole reply as the last item."""
