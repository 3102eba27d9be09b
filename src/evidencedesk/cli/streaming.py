"""An answer on the terminal while it is written: each claim is printed once it has been verified."""

from __future__ import annotations

from collections.abc import Iterator

from evidencedesk.cli.answers import claim_parts, print_answer, print_rest
from evidencedesk.cli.call import Call
from evidencedesk.cli.terminal import Terminal
from evidencedesk.errors import InternalError
from evidencedesk.model import Citation, Claim
from evidencedesk.pipeline import AnswerEvent, ClaimEvent, Explanation, StreamEvent


def streams(call: Call) -> bool:
    """Whether answers are to be printed while they are written: a person looks on, a model writes.

    What is piped somewhere is printed as a whole: a claim that is taken back could not be.
    """
    is_model = call.settings.generation.generator != "extractive"
    return call.terminal.is_watched and is_model and not call.as_json


def print_stream(terminal: Terminal, events: Iterator[StreamEvent]) -> Explanation:
    """Print each claim as it comes, then what the whole answer adds; the explanation that ends it.

    Where the answer is another than what was shown, it says so and is printed whole.
    """
    shown, explanation = _Shown(terminal), None
    for event in events:
        if isinstance(event, ClaimEvent):
            shown.claim(event)
        elif isinstance(event, AnswerEvent):
            shown.finish(event)
            explanation = event.explanation
    if explanation is None:
        raise InternalError("An answer's stream ended without the answer.")
    return explanation


class _Shown:
    """What has been printed of one answer."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._claims: list[Claim] = []
        self._citations: list[Citation] = []

    def claim(self, event: ClaimEvent) -> None:
        """Print a claim, its citations numbered on from those before: in the order cited, once each."""
        numbers = []
        for index in event.claim.citations:
            citation = event.citations[index]
            if citation not in self._citations:
                self._citations.append(citation)
            numbers.append(self._citations.index(citation))
        claim = Claim(event.claim.text, event.claim.support, tuple(numbers))
        self._claims.append(claim)
        self._terminal.line(*claim_parts(claim))

    def finish(self, event: AnswerEvent) -> None:
        """Print the citations; the whole answer where it is not what was shown."""
        answer = event.answer
        if tuple(self._claims) == answer.claims and tuple(self._citations) == answer.citations:
            if self._claims:
                print_rest(self._terminal, answer)
            else:
                print_answer(self._terminal, answer)
            return
        self._terminal.line(("What is above is taken back.", "red"))
        self._terminal.line("")
        print_answer(self._terminal, answer)
