"""``evidencedesk keys``: the key that signs exported answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.errors import UsageError
from evidencedesk.registry import load

app = new_app("The key that signs exported answers.")

DEFAULT_FILE = Path("evidencedesk-signing-key.pem")


@app.command("init", epilog=examples("keys init", "keys init /etc/evidencedesk/signing-key.pem"))
@command()
def init_key(
    call: Call,
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="Where the private key goes.")
    ] = DEFAULT_FILE,
) -> None:
    """Make an Ed25519 key: the private half for this file, the public half beside it.

    Needs the extra `signing`. Never overwrites a key. Give the public half to whoever checks exports.
    """
    signer = load("evidencedesk.records.signing:Ed25519Signer").made()
    public = file.with_suffix(".pub")
    _write(file, signer.pem(), mode=0o600)
    _write(public, f"{signer.public_key}\n".encode(), mode=0o644)
    if call.as_json:
        call.terminal.json(
            {"private": str(file), "public": str(public), "public_key": signer.public_key}
        )
        return
    call.terminal.line(f"Private key: {file}")
    call.terminal.line(f"Public key:  {public}  {signer.public_key}")
    call.terminal.note(
        f'Exports are signed once the settings say: [privacy] signing_key = "{file}"'
    )


def _write(path: Path, data: bytes, *, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise UsageError(
            f"{str(path)!r} cannot be made: {error.strerror}.",
            code="key_exists" if isinstance(error, FileExistsError) else "file_unwritable",
            hint="A key is never overwritten; name another file.",
        ) from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
