"""A chain of generators: when one fails, the next is asked, and the answer names those that failed."""

from __future__ import annotations

from collections.abc import Generator as Iteration
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evidencedesk.model import Reply, Request, StopReason, StreamBreak, StreamItem, Usage
from evidencedesk.protocols import Generator, StreamingGenerator

FAILED = frozenset({StopReason.TIMEOUT, StopReason.ERROR})
"""A refusal or a cut is an answer of the model's, and is not asked for elsewhere."""


class FallbackChain:
    """The ``StreamingGenerator`` port over generators in order of preference.

    The reply is the first that did not fail, else the last failure. It counts the attempts, tokens
    and cost of all that were asked.
    """

    name = "chain"

    def __init__(self, generators: Sequence[Generator]) -> None:
        """Ask ``generators`` (one or more) in order of preference."""
        self._generators = tuple(generators)

    def generate(self, request: Request) -> Reply:
        """The first reply that is no failure."""
        failed: list[Reply] = []
        for generator in self._generators:
            reply = generator.generate(request)
            if reply.stop_reason not in FAILED:
                return self._told(reply, failed)
            failed.append(reply)
        return self._told(failed[-1], failed[:-1])

    def stream(self, request: Request) -> Iterator[StreamItem]:
        """The same while it is written; a break comes before the next generator begins anew."""
        failed: list[Reply] = []
        for generator in self._generators:
            reply = Reply("", StopReason.ERROR, generator.name, detail="it gave no reply")
            for item in stream_of(generator, request):
                if isinstance(item, Reply):
                    reply = item
                else:
                    yield item if isinstance(item, str) else self._broken(item.reply, failed)
            if reply.stop_reason not in FAILED or generator is self._generators[-1]:
                yield self._told(reply, failed)
                return
            if reply.text:
                yield self._broken(reply, failed)
            failed.append(reply)

    def close(self) -> None:
        """Close every generator that can be closed."""
        for generator in self._generators:
            close = getattr(generator, "close", None)
            if close is not None:
                close()

    def _broken(self, reply: Reply, failed: Sequence[Reply]) -> StreamBreak:
        return StreamBreak(self._told(reply, failed))

    def _told(self, reply: Reply, failed: Sequence[Reply]) -> Reply:
        replies = [*failed, reply]
        return replace(
            reply,
            fallback_from=tuple(one.generator for one in failed),
            detail="; ".join(one.detail for one in replies if one.detail),
            attempts=sum(one.attempts for one in replies),
            usage=Usage(
                sum(one.usage.input_tokens for one in replies),
                sum(one.usage.output_tokens for one in replies),
                sum(one.usage.cost_usd for one in replies),
            ),
        )


class UnavailableGenerator:
    """Stands in a chain for a generator that may not be asked; its every reply is a failure."""

    def __init__(self, name: str, detail: str) -> None:
        """Be ``name``, which ``detail`` forbids to ask."""
        self.name = name
        self._detail = detail

    def generate(self, request: Request) -> Reply:  # noqa: ARG002
        """A failure without an attempt."""
        detail = f"{self.name}: {self._detail}"
        return Reply("", StopReason.ERROR, self.name, attempts=0, detail=detail)


def stream_of(generator: Generator, request: Request) -> Iteration[StreamItem, None, None]:
    """The reply of any generator as a stream; one that cannot stream gives it whole."""
    if isinstance(generator, StreamingGenerator):
        yield from generator.stream(request)
    else:
        yield generator.generate(request)
