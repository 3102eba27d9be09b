"""``evidencedesk mcp``."""

from __future__ import annotations

import functools

import anyio

from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.server.mcp import serve_stdio

app = new_app()


@app.command(epilog=examples("mcp", "mcp --index handbook.desk --role staff", note=OPERATOR_NOTE))
@command(reads=True)
def mcp(call: Call) -> None:
    """Let a program that speaks the Model Context Protocol ask, over standard input and output.

    It is started by that program. Whatever it asks, it is answered as the reader named here.
    """
    with call.open() as desk:
        serve = functools.partial(serve_stdio, desk, call.principal, statuses=call.statuses)
        anyio.run(serve)
