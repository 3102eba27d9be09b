"""``evidencedesk log``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.errors import UsageError
from evidencedesk.model import LogEntry

app = new_app()


@app.command(
    epilog=examples("log", "log --outcome failed", "log --since 2026-01-31 --source policies/")
)
@command()
def log(
    call: Call,
    *,
    limit: Annotated[
        int, typer.Option(help="How many of the newest entries.", min=1, metavar="N")
    ] = 50,
    outcome: Annotated[
        str | None,
        typer.Option(help="Only this outcome (added, changed, failed, ...).", metavar="OUTCOME"),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Only sources that contain this.", metavar="TEXT")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only from this day or time on (UTC).", metavar="TIME")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose log.", metavar="TENANT")] = None,
) -> None:
    """Show the ingestion log, newest first. It is the operator's: it names every source."""
    start = None if since is None else _time(since)
    filtered = outcome is not None or source is not None or start is not None
    with call.open() as desk:
        entries = desk.log(principal=call.operator(tenant), limit=_ALL if filtered else limit)
    kept = [
        entry
        for entry in entries
        if (outcome is None or entry.outcome == outcome)
        and (source is None or source in entry.source)
        and (start is None or entry.at >= start)
    ][:limit]
    if call.as_json:
        call.terminal.json({"entries": [entry_json(entry) for entry in kept]})
        return
    call.terminal.table(
        ("time", "outcome", "document", "source", "code", "message"),
        (
            (
                e.at.isoformat(sep=" ", timespec="seconds"),
                e.outcome,
                e.document_id,
                e.source,
                e.code,
                e.message,
            )
            for e in kept
        ),
    )
    if not kept:
        call.terminal.note("No entry fits.")


def entry_json(entry: LogEntry) -> dict[str, object]:
    """The stable shape of one entry (docs/cli.md)."""
    return {
        "at": entry.at.isoformat(),
        "outcome": entry.outcome,
        "document_id": entry.document_id,
        "source": entry.source,
        "code": entry.code,
        "message": entry.message,
        "details": dict(entry.details),
    }


def _time(text: str) -> datetime:
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not a day or a time.",
            code="bad_time",
            hint="Write it as 2026-01-31 or 2026-01-31T18:00.",
        ) from error
    return given if given.tzinfo else given.replace(tzinfo=UTC)


_ALL = 1_000_000
