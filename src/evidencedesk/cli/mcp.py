"""``evidencedesk mcp``."""

from __future__ import annotations

import asyncio

from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.registry import load

app = new_app()


@app.command(epilog=examples("mcp", "mcp --index handbook.desk --role staff", note=OPERATOR_NOTE))
@command(reads=True)
def mcp(call: Call) -> None:
    """Let a program that speaks the Model Context Protocol ask, over standard input and output.

    It is started by that program. Whatever it asks, it is answered as the reader named here. Needs
    the extra `mcp`.
    """
    serve_stdio = load("evidencedesk.server.mcp:serve_stdio", extra="mcp")
    with call.open() as desk:
        asyncio.run(serve_stdio(desk, call.principal, statuses=call.statuses))
