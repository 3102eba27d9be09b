"""``evidencedesk doctor``."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_ERROR, EXIT_OK
from evidencedesk.settings import effective, render_markdown

app = new_app()


@app.command(epilog=examples("doctor", "doctor --settings", "doctor --audit"))
@command()
def doctor(
    call: Call,
    settings: Annotated[
        bool, typer.Option("--settings", help="Show every setting and where it comes from.")
    ] = False,
    audit: Annotated[
        bool, typer.Option("--audit", help="Check every receipt and the chain that holds them.")
    ] = False,
    noted: Annotated[
        list[str] | None,
        typer.Option(help="With --audit: the hash of an entry noted before.", metavar="HASH"),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", hidden=True, help="With --settings: docs/settings.md.")
    ] = False,
) -> int:
    """Look at settings, index and model; say what is wrong and how to mend it."""
    if settings and markdown:
        call.terminal.line(render_markdown().rstrip("\n"))
        return EXIT_OK
    if settings:
        _print_settings(call)
        return EXIT_OK
    with call.open() as desk:
        findings = desk.answers.audit(noted or ()) if audit else desk.doctor()
    if call.as_json:
        call.terminal.json({"findings": [finding.to_json() for finding in findings]})
    else:
        for finding in findings:
            call.terminal.finding(finding)
    return EXIT_OK if all(finding.ok for finding in findings) else EXIT_ERROR


def _print_settings(call: Call) -> None:
    values = effective(call.loaded)
    file = None if call.loaded.file is None else str(call.loaded.file)
    if call.as_json:
        call.terminal.json({"file": file, "settings": values})
        return
    call.terminal.line(("Settings file: ", "bold"), file or "none")
    call.terminal.table(
        ("setting", "value", "unit", "from"),
        ((v["name"], _shown(v["value"]), v["unit"], v["source"]) for v in values),
    )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "not set" if value is None else str(value)
