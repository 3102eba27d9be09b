"""A generator that replays replies. A stand-in for tests; the product never reaches for it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evidencedesk.errors import UsageError
from evidencedesk.model import Reply, Request


class RecordedGenerator:
    """Replays hand-written or captured replies by question, and fails on any other question.

    Attributes:
        requests: every request answered so far, for tests to look at.
    """

    name = "recorded"

    def __init__(self, replies: Mapping[str, Reply | str | Mapping[str, object]]) -> None:
        """Hold the replies.

        Args:
            replies: question to reply: a whole one, its text, or the JSON object that it holds.
        """
        self._replies = {question: _reply(reply) for question, reply in replies.items()}
        self.requests: list[Request] = []

    def generate(self, request: Request) -> Reply:
        """The recorded reply.

        Raises:
            UsageError: ``unrecorded_question``, naming the questions there are.
        """
        if request.question not in self._replies:
            known = "; ".join(repr(question) for question in self._replies) or "none"
            raise UsageError(
                f"No reply is recorded for {request.question!r}. Recorded: {known}.",
                code="unrecorded_question",
                hint="Record a reply for this very question.",
            )
        self.requests.append(request)
        return self._replies[request.question]


def _reply(reply: Reply | str | Mapping[str, object]) -> Reply:
    if isinstance(reply, Reply):
        return reply
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    return Reply(text, generator=RecordedGenerator.name)
