"""``evidencedesk verify``: an exported answer, checked with nothing but the file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.clean import one_line
from evidencedesk.cli.commands import EXIT_ERROR, EXIT_OK
from evidencedesk.cli.terminal import Terminal
from evidencedesk.errors import UsageError
from evidencedesk.records import Verification, verify_file
from evidencedesk.registry import load

app = new_app()

_PUBLIC_KEY = re.compile(r"[0-9a-f]{64}")
_DIGEST = re.compile(r"(?:sha256:)?[0-9a-f]{64}")


@app.command(
    epilog=examples(
        "verify answer.json",
        "verify answer.json --digest sha256:0f3a...",
        "verify answer.json --public-key evidencedesk-signing-key.pub",
    )
)
@command()
def verify(
    call: Call,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `answers export` wrote.")],
    digest: Annotated[
        str | None, typer.Option(help="The digest that it must have.", metavar="HASH")
    ] = None,
    public_key: Annotated[
        str | None,
        typer.Option(
            help="Whose signature it must have: 64 hex digits, or a file that holds them."
        ),
    ] = None,
) -> int:
    """Check an exported answer offline: no index, no model and no key is needed.

    Without --digest or --public-key the file can only be shown to agree with itself. Exits with 1
    when anything does not agree.
    """
    if digest is not None and not _DIGEST.fullmatch(digest):
        raise UsageError(
            f"{digest!r} is no digest.",
            code="bad_option",
            hint="It is sha256: and 64 hex digits, as `answers export` printed it.",
        )
    key = None if public_key is None else _public_key(public_key)
    found = verify_file(
        _read(file),
        digest=digest,
        public_key=key,
        check_signature=(
            None if key is None else load("evidencedesk.records.signing:check_signature")
        ),
    )
    if call.as_json:
        call.terminal.json(_json(found))
    else:
        _print(call.terminal, found)
    return EXIT_OK if found.ok else EXIT_ERROR


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{str(path)!r} cannot be read: {error.strerror}.",
            code="path_missing",
            hint="Correct the path.",
        ) from error


def _public_key(given: str) -> str:
    if _PUBLIC_KEY.fullmatch(given):
        return given
    path = Path(given)
    key = path.read_text("utf-8", "replace").strip() if path.is_file() else ""
    if not _PUBLIC_KEY.fullmatch(key):
        raise UsageError(
            f"{given!r} is neither a public key nor a file that holds one.",
            code="bad_public_key",
            hint="`evidencedesk keys init` wrote it beside the private key, with the ending .pub.",
        )
    return key


def _json(found: Verification) -> dict[str, Any]:
    return {
        "ok": found.ok,
        "verdict": found.verdict,
        "origin": list(found.origin),
        "problems": [{"where": each.where, "message": each.message} for each in found.problems],
        "withheld": list(found.withheld),
        "answer_id": found.file["record"]["answer_id"] if found.file else None,
        "digest": found.file["digest"] if found.file else None,
        "position": found.file["chain"]["number"] if found.file else None,
    }


def _print(terminal: Terminal, found: Verification) -> None:
    if found.ok and found.file:
        content = found.file["content"]
        for label in ("question", "text", *(key for key in content if key.startswith("claim:"))):
            if label in content:
                terminal.line((f"{label}: ", "bold"), one_line(str(content[label]["value"])))
        for label in (key for key in content if key.startswith("quote:")):
            terminal.line((f"{label}: ", "bold"), f"“{one_line(str(content[label]['value']))}”")
    for problem in found.problems:
        terminal.line((f"{problem.where}: ", "red"), problem.message)
    terminal.line((found.verdict, "bold"))
