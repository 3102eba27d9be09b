"""``evidencedesk ask``."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.answers import print_answer, print_explanation
from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_ABSTAINED, EXIT_OK
from evidencedesk.cli.streaming import print_stream, streams
from evidencedesk.desk import Desk
from evidencedesk.pipeline import Explanation

app = new_app()


@app.command(
    epilog=examples(
        'ask "How long can a bike be returned?"',
        'ask "What are instructors paid?" --role admin --explain',
        'ask "What was the old rule?" --status superseded --json',
        note=OPERATOR_NOTE,
    )
)
@command(reads=True)
def ask(
    call: Call,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In any language.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Show passages with scores, and every check.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Confidence below which there is no answer.", min=0, max=1, metavar="0..1"
        ),
    ] = None,
    fail_on_abstain: Annotated[
        bool, typer.Option("--fail-on-abstain", help="Exit with 3 when there is no answer.")
    ] = False,
) -> int:
    """Answer a question from the documents that the reader may see, or say why not.

    Every statement is followed by its source: title, place and the verbatim quote. An abstention
    has a reason and is no error. On a terminal, what a model writes is shown claim by claim, each
    once it has been verified.
    """
    with call.open() as desk:
        explanation = _explained(call, desk, question, threshold)
    answer = explanation.answer
    if call.as_json:
        call.terminal.json(answer.to_json())
    elif explain:
        print_explanation(call.terminal, answer, explanation.retrieval.hits)
    return EXIT_ABSTAINED if answer.abstained and fail_on_abstain else EXIT_OK


def _explained(call: Call, desk: Desk, question: str, threshold: float | None) -> Explanation:
    """The answer, printed; while it is written where a person looks on."""
    principal, statuses = call.principal, call.statuses
    if streams(call):
        events = desk.ask_stream(
            question, principal=principal, statuses=statuses, threshold=threshold
        )
        return print_stream(call.terminal, events)
    explanation = desk.explain(
        question, principal=principal, statuses=statuses, threshold=threshold
    )
    if not call.as_json:
        print_answer(call.terminal, explanation.answer)
    return explanation
