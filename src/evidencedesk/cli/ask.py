"""``evidencedesk ask``."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.answers import print_answer, print_explanation
from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_ABSTAINED, EXIT_OK

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
    has a reason and is no error.
    """
    with call.open() as desk:
        explanation = desk.explain(
            question, principal=call.principal, statuses=call.statuses, threshold=threshold
        )
    answer = explanation.answer
    if call.as_json:
        call.terminal.json(answer.to_json())
    else:
        print_answer(call.terminal, answer)
        if explain:
            print_explanation(call.terminal, answer, explanation.retrieval.hits)
    return EXIT_ABSTAINED if answer.abstained and fail_on_abstain else EXIT_OK
