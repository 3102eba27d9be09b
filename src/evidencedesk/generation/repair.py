"""Asking once more: the request with what was wrong with the first reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from evidencedesk.generation.escaping import escape
from evidencedesk.model import Reason, Reply, Request

MAX_PREVIOUS_CHARS = 8_000

_RULES = """
- The message ends with your previous reply and with what was wrong with it. Write the whole reply \
anew. Leave out a claim that the sources do not bear out; if none is left, set "insufficient" to true."""

_WRONG: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.INVALID_JSON: "it is not one JSON object",
        Reason.INVALID_SCHEMA: "it does not fit the schema",
        Reason.UNKNOWN_CITATION: "it cites a source that is not in this message",
        Reason.MISSING_CITATION: "it has no citation",
        Reason.QUOTE_NOT_FOUND: "a quote does not stand in the cited source, character by character",
        Reason.QUOTE_TOO_WEAK: "a quote is too short to bear anything out",
        Reason.UNSUPPORTED_NUMBER: "a number, date or unit in its text is in none of its quotes",
        Reason.UNSUPPORTED_CLAIM: "its quotes do not say what its text says",
    }
)


@dataclass(frozen=True, slots=True)
class Problem:
    """What was wrong with a claim (numbered from 1), or with the whole reply (None)."""

    claim: int | None
    reason: Reason


def is_repairable(reason: Reason) -> bool:
    """Whether telling the model can help. Not after a refusal, a cut, a timeout or unsafe output."""
    return reason in _WRONG


def repair_request(request: Request, reply: Reply, problems: Sequence[Problem]) -> Request:
    """The same request with the reply, as data, and its problems in our own words."""
    previous = escape(reply.text[:MAX_PREVIOUS_CHARS])
    listed = "\n".join(f"- {_told(problem)}." for problem in problems)
    return replace(
        request,
        rules=request.rules + _RULES,
        prompt=f"{request.prompt}\n<previous_reply>{previous}</previous_reply>\n"
        f"<problems>\n{listed}\n</problems>",
        prompt_version=f"{request.prompt_version}-repair",
    )


def _told(problem: Problem) -> str:
    where = "The reply" if problem.claim is None else f"Claim {problem.claim}"
    return f"{where}: {_WRONG.get(problem.reason, 'it did not pass')}"
