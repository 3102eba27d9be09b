"""Traces of requests and answers, where they are wanted (see ``tracing`` for those that are sent)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from evidencedesk.model import Answer

Ended = Callable[[str, str, int], None]
"""Told method, route and status once they are known."""


class Traces(Protocol):
    """Where requests and answers leave their traces."""

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[Ended]:
        """A request under way; what is yielded is told how it ended."""

    def answer(self, answer: Answer) -> None:
        """An answer, within the request that asked for it."""

    def close(self) -> None:
        """Send what has not been sent."""


class NoTraces:
    """Leaves none."""

    @contextmanager
    def request(self, headers: Mapping[str, str]) -> Iterator[Ended]:  # noqa: ARG002
        """Nothing."""
        yield lambda *_: None

    def answer(self, answer: Answer) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""
