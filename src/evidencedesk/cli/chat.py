"""``evidencedesk chat``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated

import typer

from evidencedesk.cli.answers import print_answer
from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_OK
from evidencedesk.cli.failures import print_error
from evidencedesk.cli.streaming import print_stream, streams
from evidencedesk.desk import Desk
from evidencedesk.errors import QuestionError
from evidencedesk.model import Turn
from evidencedesk.pipeline import turn_of

app = new_app()

PROMPT = "> "
_HELP = "/again shows earlier answers as you may see them now, /new starts over, /quit ends."


@app.command(
    epilog=examples(
        "chat",
        "chat --role staff",
        "chat --json < questions.txt",
        note=f"{_HELP}\n\n{OPERATOR_NOTE}",
    )
)
@command(reads=True)
def chat(
    call: Call,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Confidence below which there is no answer.", min=0, max=1, metavar="0..1"
        ),
    ] = None,
) -> int:
    """Ask one question a line; what a follow-up leaves out is filled in from the questions before.

    Every turn is retrieved, checked against the reader's rights and verified anew: nothing that was
    answered before is evidence for anything. With --json each turn is one line of JSON.
    """
    with call.open() as desk:
        conversation = _Conversation(call, desk, threshold)
        call.terminal.note(_HELP)
        for line in _lines(sys.stdin.isatty(), conversation.end_line):
            if not conversation.take(line):
                break
    return EXIT_OK


def _lines(interactive: bool, end_line: Callable[[], None]) -> Iterator[str]:
    """The lines that are typed, without their ends, until the input ends."""
    while True:
        if interactive:
            sys.stderr.write(PROMPT)
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            if interactive:
                end_line()
            return
        yield line.strip()


@dataclass(slots=True)
class _Conversation:
    """What was asked and answered since the conversation began."""

    call: Call
    desk: Desk
    threshold: float | None
    turns: list[Turn] = field(default_factory=list)

    def take(self, line: str) -> bool:
        """Do what ``line`` says; False ends the conversation."""
        if line in {"/quit", "/exit"}:
            return False
        if line == "/new":
            self.turns.clear()
        elif line == "/again":
            self._again()
        elif line.startswith("/"):
            self.call.terminal.note(_HELP)
        elif line:
            self._ask(line)
        return True

    def end_line(self) -> None:
        """Leave the line that a prompt has begun."""
        self.call.terminal.note("")

    def _ask(self, question: str) -> None:
        earlier = [turn.question for turn in self.turns]
        try:
            if streams(self.call):
                self.turns.append(self._streamed(question, earlier))
                return
            turn = self.desk.chat(
                question,
                principal=self.call.principal,
                earlier=earlier,
                statuses=self.call.statuses,
                threshold=self.threshold,
            )
        except QuestionError as error:
            print_error(error, as_json=self.call.as_json)
            return
        self.turns.append(turn)
        self._print(turn)

    def _streamed(self, question: str, earlier: list[str]) -> Turn:
        """The turn, printed while its answer is written."""
        asked = self.desk.stand_alone(question, earlier)
        self._print_asked(asked.by, asked.text)
        events = self.desk.ask_stream(
            asked.text,
            principal=self.call.principal,
            statuses=self.call.statuses,
            threshold=self.threshold,
        )
        explanation = print_stream(self.call.terminal, events)
        self.call.terminal.line("")
        return turn_of(question, asked, explanation.answer)

    def _print_asked(self, rewritten_by: str, asked: str) -> None:
        if rewritten_by != "nobody":
            self.call.terminal.line(("Asked as: ", "dim"), asked)

    def _again(self) -> None:
        for turn in self.desk.recall(
            self.turns, principal=self.call.principal, statuses=self.call.statuses
        ):
            if not self.call.as_json:
                self.call.terminal.line((f"{PROMPT}{turn.question}", "bold"))
            self._print(turn)

    def _print(self, turn: Turn) -> None:
        terminal = self.call.terminal
        if self.call.as_json:
            terminal.json(turn.to_json(), indent=None)
            return
        self._print_asked(turn.rewritten_by, turn.asked)
        print_answer(terminal, turn.answer)
        terminal.line("")
