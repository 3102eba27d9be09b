"""The application: loads the command that was called, and turns errors into exit codes."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from evidencedesk import __version__, registry
from evidencedesk.cli.commands import (
    COMMANDS,
    EXIT_ERROR,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
)
from evidencedesk.cli.failures import print_error
from evidencedesk.errors import EvidenceDeskError, InternalError, UsageError

_TARGETS = {row.name: row.target for row in COMMANDS}


class LazyGroup(TyperGroup):
    """Knows names and one-line help from the table, and imports a command when it is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for row in COMMANDS:
            self.add_command(TyperCommand(row.name, callback=None, help=row.help))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command called, imported now; an unknown name is refused without any import."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in _TARGETS:
            command = typer.main.get_command(registry.load(_TARGETS[name]))
        return name, command, rest


app = typer.Typer(cls=LazyGroup, rich_markup_mode=None, no_args_is_help=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"evidencedesk {__version__}")
        raise typer.Exit


@app.callback(
    epilog="\b\nStart here:\n  evidencedesk init\n  evidencedesk models pull minilm\n"
    "  evidencedesk ingest policies/ --role everyone\n"
    '  evidencedesk ask "How long can a bike be returned?"'
)
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Answers from your own documents, each sentence tied to a quote that code has checked."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code: 0, 1 error, 2 usage, 3 abstained, 130 interrupted."""
    as_json, debug = "--json" in arguments, "--debug" in arguments
    try:
        result = typer.main.get_command(app).main(
            list(arguments), prog_name="evidencedesk", standalone_mode=False
        )
    except EvidenceDeskError as error:
        if debug:
            traceback.print_exc()
        print_error(error, as_json=as_json)
        return EXIT_USAGE if isinstance(error, UsageError) else EXIT_ERROR
    except typer.TyperException as error:
        return _refuse(error, as_json=as_json)
    except typer.Abort:
        return EXIT_INTERRUPTED
    return result if isinstance(result, int) else EXIT_OK


def report_unforeseen(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """``sys.excepthook``: a bug is one message; the traceback is for ``--debug``."""
    if issubclass(kind, KeyboardInterrupt):
        return
    if "--debug" in sys.argv:
        traceback.print_exception(kind, error, trace)
    bug = InternalError(
        f"This should not have happened: {kind.__name__}: {error}",
        hint="Please report it with the command, and what it prints with --debug.",
    )
    print_error(bug, as_json="--json" in sys.argv)


def _refuse(error: typer.TyperException, *, as_json: bool) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return EXIT_USAGE
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "evidencedesk"
    usage = UsageError(error.format_message(), hint=f"`{path} --help` shows how it is called.")
    print_error(usage, as_json=as_json)
    return EXIT_USAGE
