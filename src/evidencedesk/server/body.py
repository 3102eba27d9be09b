"""The body of a request within its limits, counted while it arrives."""

from __future__ import annotations

from collections.abc import Mapping

import anyio
from starlette.types import Message, Receive

from evidencedesk.server.problems import RequestError


class BoundedBody:
    """``receive`` that gives up a body which is too large or too slow.

    Raises:
        RequestError: ``too_large`` or ``slow_body``, from within whoever reads.
    """

    def __init__(self, receive: Receive, *, most_bytes: int, seconds: float) -> None:
        self._receive = receive
        self._most = most_bytes
        self._seconds = seconds
        self._read = 0
        self._deadline: float | None = None
        self._complete = False

    async def __call__(self) -> Message:
        """The next message of the body."""
        if self._complete:
            return await self._receive()
        if self._deadline is None:
            self._deadline = anyio.current_time() + self._seconds
        try:
            with anyio.fail_after(max(0.0, self._deadline - anyio.current_time())):
                message = await self._receive()
        except TimeoutError:
            raise RequestError(
                "The body did not arrive in time.",
                code="slow_body",
                hint="Send less at once, or over a faster line.",
            ) from None
        self._read += len(message.get("body", b""))
        if self._read > self._most:
            raise too_large(self._most)
        self._complete = message["type"] != "http.request" or not message.get("more_body", False)
        return message


def too_large(most_bytes: int) -> RequestError:
    """The error for a body over the limit."""
    return RequestError(
        f"The body has more than {most_bytes:,} bytes.",
        code="too_large",
        hint="Send less at once; [server.limits] has the limits.",
    )


def declared_length(headers: Mapping[str, str]) -> int | None:
    """What Content-Length says; None when it says nothing.

    Raises:
        RequestError: ``bad_request`` when it is no number.
    """
    said = headers.get("content-length")
    if said is None:
        return None
    if not said.isascii() or not said.isdigit():
        raise RequestError("Content-Length is no number.", code="bad_request")
    return int(said)
