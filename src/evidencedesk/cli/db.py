"""``evidencedesk db``: upkeep of an index on a database server."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.desk.database import set_graph

app = new_app("Upkeep of an index on a database server.")

_PRICE = (
    "Asked only by readers who see 100,000 passages or more and at least half of the index. The graph is "
    "shared: no score depends on what a reader may not see, but which of the nearest passages are found "
    "may. docs/postgres.md has more."
)


@app.command("graph", epilog=examples("db graph", "db graph --drop", note=_PRICE))
@command()
def graph(
    call: Call,
    *,
    drop: Annotated[bool, typer.Option("--drop", help="Search exactly again.")] = False,
) -> None:
    """Make an approximate index (HNSW) of the vectors, for very large indexes; minutes per million."""
    with call.open() as desk:
        changed = set_graph(desk, wanted=not drop)
    if call.as_json:
        call.terminal.json({"graph": not drop, "changed": changed})
        return
    state = "no approximate index" if drop else "an approximate index"
    call.terminal.line(f"The generation that answers {'now has' if changed else 'has'} {state}.")
