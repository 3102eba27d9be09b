"""``evidencedesk db``: upkeep of an index on a database server."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.desk.database import placing_of, set_graph

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


_Run = Annotated[bool, typer.Option("--run", help="Run the statements, all or none.")]


@app.command("plan", epilog=examples("db plan --partitions 8", "db plan --partitions 8 --run"))
@command()
def plan(
    call: Call,
    *,
    partitions: Annotated[int, typer.Option("--partitions", help="How many, from 1 to 100.")],
    run: _Run = False,
) -> None:
    """Write the DDL that spreads tenants over partitions by a hash of their name; new tenants only."""
    with call.open() as desk:
        _show(call, placing_of(desk).plan(partitions, run=run), run=run)


@app.command(
    "attach",
    epilog=examples(
        'db attach north "postgresql://desk@north.example/company?schema=handbook" --run',
        note="Statements that are shown hold the password of an address that has one.",
    ),
)
@command()
def attach(
    call: Call,
    name: Annotated[str, typer.Argument(help="What the server is called here.")],
    url: Annotated[
        str, typer.Argument(help="Its address, as of an index, with its owner's login.")
    ],
    *,
    reader: Annotated[
        str, typer.Option("--reader", help="NAME or NAME:PASSWORD of the login of readers there.")
    ] = "",
    run: _Run = False,
) -> None:
    """Write the DDL that adds a partition on another server, by postgres_fdw."""
    with call.open() as desk:
        _show(call, placing_of(desk).attach(name, url, reader=reader, run=run), run=run)


@app.command("move", epilog=examples("db move acme --to north", "db move acme"))
@command()
def move(
    call: Call,
    tenant: Annotated[str, typer.Argument(help="The tenant.")],
    *,
    to: Annotated[str, typer.Option("--to", help="The server; without, the index's own.")] = "",
) -> None:
    """Move a tenant to another server while it answers; writers wait until it is there."""
    with call.open() as desk:
        rows = placing_of(desk).move(tenant, to)
    if call.as_json:
        call.terminal.json({"tenant": tenant, "server": to, "rows": rows})
        return
    call.terminal.line(f"Moved {tenant} to {to or 'the server of the index'}: {rows} rows.")


@app.command("partitions", epilog=examples("db partitions"))
@command()
def partitions(call: Call) -> None:
    """List the partitions, their servers, and how many tenants each has."""
    with call.open() as desk:
        found = placing_of(desk).partitions()
    if call.as_json:
        listed = [{"number": p.number, "server": p.server, "tenants": p.tenants} for p in found]
        call.terminal.json({"partitions": listed})
        return
    for each in found:
        server = each.server or "the server of the index"
        call.terminal.line(f"{each.number}  {server}  tenants: {each.tenants}")


def _show(call: Call, statements: str, *, run: bool) -> None:
    if call.as_json:
        call.terminal.json({"run": run, "statements": statements})
        return
    call.terminal.line(statements)
