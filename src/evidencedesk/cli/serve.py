"""``evidencedesk serve``."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.registry import load

app = new_app()


@app.command(
    epilog=examples(
        "serve",
        "serve --port 8080",
        "serve --host 0.0.0.0 --workers 4",
        note="Without authentication the server listens on a loopback address only. "
        "docs/server.md says how to sign people in.",
    )
)
@command()
def serve(
    call: Call,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on.", metavar="ADDRESS")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that answer.", min=1)] = None,
) -> None:
    """Serve the web page and the HTTP interface until interrupted.

    Needs the extra `server`. What is being answered when it is stopped is finished first.
    """
    call.overrides |= {"server.host": host, "server.port": port, "server.workers": workers}
    settings = call.settings
    run = load("evidencedesk.server.process:run", extra="server")

    def announce(address: str) -> None:
        if call.as_json:
            call.terminal.json({"address": address})
        else:
            call.terminal.line("Serving on ", (address, "bold"))
        if "local" in settings.server.authentication:
            call.terminal.note(_who_is_let_in(call))

    run(settings, announce)


def _who_is_let_in(call: Call) -> str:
    local = call.settings.access.local
    roles = ", ".join(local.roles) or "no roles"
    who = "an administrator" if local.administrator else f"a reader with {roles}"
    return (
        f"No authentication: whoever is on this machine is {who}, and may upload, change and "
        "remove what such a reader sees. [server] authentication changes that."
    )
