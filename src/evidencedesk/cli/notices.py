"""``evidencedesk notices``: what a person was to be told, and was not yet."""

from __future__ import annotations

from typing import Any

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_ERROR, EXIT_OK
from evidencedesk.desk.courier import next_attempt
from evidencedesk.model.notice import WaitingNotice
from evidencedesk.model.receipt import utc_text

app = new_app("What a person is told by webhook or e-mail ([notifications]).")


@app.command("list", epilog=examples("notices list", "notices list --json"))
@command()
def list_notices(call: Call) -> None:
    """List the notices that were not taken yet, with what went wrong."""
    with call.open() as desk:
        rows = [_row(each) for each in desk.notifying.waiting()]
    if call.as_json:
        call.terminal.json({"notices": rows})
        return
    call.terminal.table(
        ("number", "event", "by", "attempts", "next", "answer", "failure"),
        (
            (
                row["number"],
                row["event"],
                row["channel"],
                row["attempts"],
                (row["next_at"] or "given up")[:19],
                row["answer_id"] or "",
                row["failure"] or "",
            )
            for row in rows
        ),
    )
    if not rows:
        call.terminal.note("No notice waits.")


@app.command("send", epilog=examples("notices send"))
@command()
def send(call: Call) -> int:
    """Send everything that waits now, also what was given up. Exits with 1 when something failed."""
    with call.open() as desk:
        taken, failed = desk.notifying.send()
    if call.as_json:
        call.terminal.json({"sent": taken, "failed": failed})
    else:
        call.terminal.line(f"Sent {taken}, failed {failed}.")
    return EXIT_ERROR if failed else EXIT_OK


@app.command("test", epilog=examples("notices test"))
@command()
def test(call: Call) -> int:
    """Send a message without content by every way that is configured. Exits with 1 if one fails."""
    with call.open() as desk:
        outcomes = desk.notifying.test()
    if call.as_json:
        rows = [{"channel": name, "failure": failure or None} for name, failure in outcomes]
        call.terminal.json({"outcomes": rows})
    else:
        for name, failure in outcomes:
            call.terminal.line((f"{name}: ", "bold"), failure or "taken")
    return EXIT_ERROR if any(failure for _, failure in outcomes) else EXIT_OK


def _row(waiting: WaitingNotice) -> dict[str, Any]:
    due = next_attempt(waiting)
    return {
        "number": waiting.number,
        "id": waiting.notice.id,
        "event": waiting.notice.event.value,
        "at": utc_text(waiting.notice.at),
        "channel": waiting.channel,
        "answer_id": waiting.notice.answer_id or None,
        "attempts": waiting.attempts,
        "next_at": None if due is None else utc_text(due),
        "failure": waiting.failure or None,
    }
