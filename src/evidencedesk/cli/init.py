"""``evidencedesk init``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.errors import SettingsError
from evidencedesk.settings import FILE_NAME, render_toml
from evidencedesk.wiring import located

app = new_app()

_EVERYONE = {
    "access.default_roles": ("everyone",),
    "access.local.roles": ("everyone",),
}
_REMARKS = {
    "access.default_roles": "As it stands, every document is for everyone unless it says otherwise.",
    "access.local.roles": "As it stands, you see at the command line what everyone may see.",
}


@app.command(epilog=examples("init", "init handbook"))
@command()
def init(
    call: Call,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Made if it is not there.")
    ] = Path(),
) -> None:
    """Write a commented settings file and an empty index into DIR (the current folder)."""
    file = folder / FILE_NAME
    index_row = {"index.url": _absolute(call.common.index)} if call.common.index else {}
    _write_new(file, render_toml(_EVERYONE | index_row, _REMARKS))
    call.common = replace(call.common, config=file)
    with call.open(create=True):
        index = call.index_shown
    if call.as_json:
        call.terminal.json({"settings": str(file), "index": index})
        return
    call.terminal.line("Settings: ", (str(file), "bold"))
    call.terminal.line("Index:    ", (index, "bold"))
    call.terminal.note("Next: evidencedesk models pull minilm, then evidencedesk ingest PATH")


def _absolute(index: str) -> str:
    where = located(index)
    return str(where.absolute()) if isinstance(where, Path) else where


def _write_new(file: Path, text: str) -> None:
    try:
        if not file.parent.is_dir():
            file.parent.mkdir(parents=True)
    except OSError as error:
        raise _not_writable(file.parent, error) from error
    try:
        with file.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except FileExistsError as error:
        raise SettingsError(
            f"{str(file)!r} is there already; nothing was changed.",
            code="settings_exist",
            hint="Edit it, or move it away first.",
        ) from error
    except OSError as error:
        raise _not_writable(file, error) from error


def _not_writable(path: Path, error: OSError) -> SettingsError:
    return SettingsError(
        f"{str(path)!r} cannot be written: {error.strerror}.",
        code="settings_not_writable",
        hint="Choose a folder that you may write to: evidencedesk init DIR",
    )
