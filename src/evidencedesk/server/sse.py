"""Events to a browser or program while an answer is made (WHATWG HTML, server-sent events)."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import AbstractAsyncContextManager, closing
from typing import Any, Generic, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from evidencedesk.errors import EvidenceDeskError, InternalError

MEDIA_TYPE = "text/event-stream"
_Item = TypeVar("_Item")


def event(name: str, data: Any) -> str:
    """One event; ``name`` empty for one without a name."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n"


class Feed(Generic[_Item]):
    """What a blocking iterator gives, from a thread, as it comes.

    Args:
        start: makes the iterator; it is given a function that tells whether whoever listens has gone.
        turn: held as long as the thread runs.
    """

    def __init__(
        self,
        start: Callable[[Callable[[], bool]], Generator[_Item, None, None]],
        turn: AbstractAsyncContextManager[None],
    ) -> None:
        self._start = start
        self._gone = threading.Event()
        self._queue: asyncio.Queue[_Item | EvidenceDeskError | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run(turn))

    async def first(self) -> _Item:
        """The first item, so that an error before it is an ordinary response.

        Raises:
            EvidenceDeskError: whatever the iterator, or waiting for a turn, raised.
        """
        item = await self._queue.get()
        if isinstance(item, EvidenceDeskError):
            raise item
        if item is None:
            await self._task
            raise InternalError("An answer without an event.")
        return item

    async def rest(self) -> AsyncIterator[_Item | EvidenceDeskError]:
        """The items after the first; an error of ours is the last one."""
        while (item := await self._queue.get()) is not None:
            yield item
        await self._task

    def close(self) -> None:
        """Whoever listened has gone: the iterator is closed at its next step."""
        self._gone.set()

    async def _run(self, turn: AbstractAsyncContextManager[None]) -> None:
        try:
            async with turn:
                await run_in_threadpool(self._iterate)
        except EvidenceDeskError as error:
            self._queue.put_nowait(error)
        finally:
            self._queue.put_nowait(None)

    def _iterate(self) -> None:
        with closing(self._start(self._gone.is_set)) as items:
            for item in items:
                if self._gone.is_set():
                    return
                self._loop.call_soon_threadsafe(self._queue.put_nowait, item)


class EventResponse(StreamingResponse):
    """A response of events; closes its feed however it ends."""

    media_type = MEDIA_TYPE

    def __init__(self, events: AsyncIterator[str], feed: Feed[Any]) -> None:
        super().__init__(events, headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"})
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end or nobody listens any more."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._feed.close()
