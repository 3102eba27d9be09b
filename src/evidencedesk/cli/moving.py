"""``evidencedesk backup``, ``restore``, ``export``, ``import`` and ``verify-index``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_ERROR, EXIT_OK
from evidencedesk.desk.moving import back_up, restore, verify_index

_To = Annotated[Path, typer.Argument(metavar="FILE", help="A new file; never overwritten.")]
_From = Annotated[Path, typer.Argument(metavar="FILE", help="What backup or export wrote.")]

NOTE = (
    "The file holds every document, every receipt and the keys of subjects: keep it as you keep the "
    "index. Uploaded files beside the index are not in it."
)


def _writing(name: str, about: str) -> typer.Typer:
    app = new_app()

    @app.command(epilog=examples(f"{name} handbook-2026-11-30.edx", note=NOTE), help=about)
    @command()
    def write(call: Call, file: _To) -> None:
        with call.open() as desk:
            summary = back_up(desk, file)
        if call.as_json:
            call.terminal.json(asdict(summary))
            return
        call.terminal.line(
            f"{summary.file}: {summary.documents} documents, {summary.chunks} chunks, "
            f"{summary.receipts} receipts"
        )
        call.terminal.line(summary.digest)

    return app


def _reading(name: str, about: str, *lines: str) -> typer.Typer:
    app = new_app()

    @app.command(epilog=examples(*lines), help=about)
    @command()
    def read(call: Call, file: _From) -> None:
        with call.open() as desk:
            pieces = restore(desk, file)
        if call.as_json:
            call.terminal.json({"index": call.index_shown, "pieces": pieces})
            return
        call.terminal.line(f"{call.index_shown}: {pieces} pieces, and all of them agree")

    read.__doc__ = f"``evidencedesk {name}``."
    return app


def _verifying() -> typer.Typer:
    app = new_app()

    @app.command(epilog=examples("verify-index"))
    @command()
    def verify(call: Call) -> int:
        """Compare every chunk, vector, posting, count and hash with what it must agree with."""
        with call.open() as desk:
            problems = verify_index(desk)
        if call.as_json:
            call.terminal.json({"problems": list(problems)})
        else:
            for problem in problems or ("All chunks, vectors, postings, counts and hashes agree.",):
                call.terminal.line(problem)
        return EXIT_ERROR if problems else EXIT_OK

    return app


backup_app = _writing("backup", "Write the whole index to FILE, as it is now, while others write.")
export_app = _writing("export", "Write the whole index to FILE, to be moved to another store.")
restore_app = _reading(
    "restore",
    "Fill a new index from a backup, all or nothing, and verify it.",
    "restore handbook-2026-11-30.edx --index handbook.desk",
)
import_app = _reading(
    "import",
    "Fill a new index from an export, whatever store that came from, and verify it.",
    "import handbook.edx --index postgresql://desk@db.example/company?schema=handbook",
)
verify_index_app = _verifying()
