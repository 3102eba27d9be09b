"""``evidencedesk gaps``."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.clean import one_line
from evidencedesk.cli.terminal import Terminal
from evidencedesk.model.feedback import Gap

app = new_app()

_SHOWN_QUESTIONS = 3


@app.command(epilog=examples("gaps", "gaps --limit 10 --json"))
@command()
def gaps(
    call: Call,
    *,
    limit: Annotated[int, typer.Option(help="How many gaps.", min=1, metavar="N")] = 20,
    newest: Annotated[
        int, typer.Option(help="How many of the newest answers to look at.", min=1, metavar="N")
    ] = 5000,
    tenant: Annotated[str | None, typer.Option(help="Whose gaps.", metavar="TENANT")] = None,
) -> None:
    """Show what was asked and not answered, or not well, with the documents that come near.

    Questions that ask for the same are one gap. It is the operator's: it shows what readers asked.
    """
    with call.open() as desk:
        found = desk.gaps(principal=call.operator(tenant), limit=limit, newest=newest)
    if call.as_json:
        call.terminal.json(found.to_json())
        return
    for gap in found.groups:
        _print_gap(call.terminal, gap)
    if found.without_text:
        call.terminal.note(f"{found.without_text} more have no question that is kept.")
    if not found.groups:
        call.terminal.note("There is no gap.")


def _print_gap(terminal: Terminal, gap: Gap) -> None:
    terminal.line((one_line(gap.questions[0]), "bold"))
    for question in gap.questions[1:_SHOWN_QUESTIONS]:
        terminal.line(one_line(question), indent=2)
    counted = [f"{name} {count}" for name, count in (*gap.reasons.items(), *gap.feedback.items())]
    often = "once, on" if gap.count == 1 else f"{gap.count} times, last on"
    terminal.line((f"asked {often} {gap.last_at[:10]}: {', '.join(counted)}", "dim"), indent=2)
    for note in gap.notes:
        terminal.line(f"“{one_line(note)}”", indent=2)
    for near in gap.nearest:
        place = f" ({near.place})" if near.place else ""
        terminal.line(
            ("near: ", "cyan"), one_line(f"{near.title}{place} [{near.chunk_id}]"), indent=2
        )
    terminal.line("")
