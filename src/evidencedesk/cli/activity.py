"""``evidencedesk activity``."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app

app = new_app()


@app.command(epilog=examples("activity", "activity --limit 20 --json"))
@command()
def activity(
    call: Call,
    *,
    limit: Annotated[
        int, typer.Option(help="How many of the newest entries.", min=1, metavar="N")
    ] = 50,
    tenant: Annotated[str | None, typer.Option(help="In whose index.", metavar="TENANT")] = None,
) -> None:
    """Show who did what, newest first, from the audit chain: no question, no answer, no quote.

    It is the operator's. `doctor --audit` says whether the chain is as it was written.
    """
    with call.open() as desk:
        rows = desk.activity(principal=call.operator(tenant), limit=limit)
    if call.as_json:
        call.terminal.json({"entries": list(rows)})
        return
    call.terminal.table(
        ("number", "at", "what", "by", "under", "outcome", "answer"),
        (
            (
                row["number"],
                row["at"][:19],
                row["action"],
                row["by"] or "",
                row["permission"],
                row["verdict"],
                row["answer_id"],
            )
            for row in rows
        ),
    )
    if not rows:
        call.terminal.note("Nothing was recorded yet.")
