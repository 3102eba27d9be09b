"""What a command is given: its settings, who is asking, its desk, and a place to print."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from evidencedesk.access import (
    DEFAULT_STATUSES,
    Principal,
    Status,
    check_known_roles,
    parse_status,
)
from evidencedesk.cli.commands import EXIT_INTERRUPTED, EXIT_OK
from evidencedesk.cli.failures import print_error
from evidencedesk.cli.terminal import Terminal
from evidencedesk.desk import Desk
from evidencedesk.errors import EvidenceDeskError
from evidencedesk.settings import LoadedSettings, Settings, load_settings, masked
from evidencedesk.wiring import located

OPERATOR_NOTE = (
    "Reader options say as whom to look. They protect nobody from you: whoever can read the index "
    "files is their operator."
)


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """Options that every command takes."""

    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/cli.md).")] = False
    config: Annotated[Path | None, typer.Option(help="The settings file.", metavar="FILE")] = None
    index: Annotated[
        str | None,
        typer.Option(help="The index: a folder, or postgresql://...", metavar="FOLDER|URL"),
    ] = None
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """Options of every command that reads: as whom to look, and at what."""

    role: Annotated[
        list[str] | None,
        typer.Option(help="A role of the reader; replaces [access.local].", metavar="ROLE"),
    ] = None
    subject: Annotated[
        str | None, typer.Option("--as", help="Name of the reader.", metavar="SUBJECT")
    ] = None
    administrator: Annotated[
        bool | None,
        typer.Option("--administrator/--no-administrator", help="Reads as an administrator."),
    ] = None
    auditor: Annotated[
        bool, typer.Option("--auditor", help="Reads others' answers, and no document by that.")
    ] = False
    tenant: Annotated[str | None, typer.Option(help="The reader's tenant.", metavar="TENANT")] = (
        None
    )
    status: Annotated[
        list[str] | None,
        typer.Option(
            help="Look at documents of this status; may be given several times.", metavar="STATUS"
        ),
    ] = None


@dataclass
class Call:
    """One call of one command.

    Attributes:
        common: the options that every command takes.
        reader: the reader options; all unset for commands that do not take them.
        terminal: where to print.
        overrides: settings that the command's own options set, by dotted name; None means not given.
        kept: what to say about work that an interruption leaves behind; empty for reading.
    """

    common: CommonOptions
    reader: ReaderOptions
    terminal: Terminal
    overrides: dict[str, Any] = field(default_factory=dict)
    kept: str = ""

    @property
    def as_json(self) -> bool:
        """Whether the result is to be JSON."""
        return self.common.as_json

    @cached_property
    def loaded(self) -> LoadedSettings:
        """The settings and where each came from; ``overrides`` must be complete by now."""
        overrides = {"index.url": self.common.index or None}
        return load_settings(
            self.common.config,
            environment=os.environ,
            folder=Path.cwd(),
            overrides=overrides | self.overrides,
        )

    @property
    def settings(self) -> Settings:
        """The effective settings."""
        return self.loaded.settings

    @cached_property
    def principal(self) -> Principal:
        """The reader: reader options, else ``[access.local]``.

        Naming a role or a subject says who is asking, so a configured ``administrator`` does not
        carry over to that reader.
        """
        reader, local = self.reader, self.settings.access.local
        named = reader.role is not None or reader.subject is not None
        roles = local.roles if reader.role is None else reader.role
        administrator = local.administrator and not named
        if reader.administrator is not None:
            administrator = reader.administrator
        return Principal(
            tenant=reader.tenant or self.settings.access.tenant,
            roles=check_known_roles(roles, self.settings.access.known_roles),
            subject=reader.subject or local.subject,
            administrator=administrator,
            auditor=reader.auditor,
        )

    def operator(self, tenant: str | None = None) -> Principal:
        """The operator of the index files, for commands about the index as a whole."""
        return Principal(
            tenant=tenant or self.settings.access.tenant,
            subject=self.settings.access.local.subject,
            administrator=True,
        )

    @property
    def statuses(self) -> frozenset[Status]:
        """The statuses asked for, ``current`` when none was."""
        if not self.reader.status:
            return DEFAULT_STATUSES
        return frozenset(parse_status(status) for status in self.reader.status)

    @property
    def index_path(self) -> Path:
        """The folder of the index; of an index on a server, the folder of what is kept beside it."""
        where = located(self.settings.index.url)
        if isinstance(where, Path):
            return where
        file = self.loaded.file
        return (file.parent if file else Path.cwd()) / Path(Settings().index.url).name

    @property
    def index_shown(self) -> str:
        """Where the index is, for people."""
        return str(masked(self.settings.index.url))

    @property
    def index_is_new(self) -> bool:
        """Whether there is no folder of the index yet; what a server has, is not asked."""
        where = located(self.settings.index.url)
        return isinstance(where, Path) and not where.exists()

    def open(self, *, create: bool = False) -> Desk:
        """The desk over the index of the settings; close it (it is a context manager)."""
        return Desk.open(self.settings.index.url, settings=self.settings, create=create)


def new_app(about: str = "") -> typer.Typer:
    """An application for one command, or for a group of them when ``about`` says what they share."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False, no_args_is_help=bool(about))
    if about:
        app.callback(help=about)(lambda: None)
    return app


def examples(*lines: str, note: str = "") -> str:
    """The end of a command's help; examples keep their line breaks."""
    shown = "\b\nExamples:\n" + "\n".join(f"  evidencedesk {line}" for line in lines)
    return f"{shown}\n\n{note}" if note else shown


def command(*, reads: bool = False) -> Callable[[Callable[..., int | None]], Callable[..., None]]:
    """Gives a command the common options, and the reader options when it ``reads``.

    The function takes a :class:`Call` and its own options, and returns its exit code (None: 0). One
    of its parameters whose type is a dataclass of options stands for all of them.
    """

    def decorate(function: Callable[..., int | None]) -> Callable[..., None]:
        declared = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        own_groups = {p.name: group for p in declared if (group := _group_of(p))}
        own = [option for parameter in declared for option in _options(parameter)]
        groups = (ReaderOptions, CommonOptions) if reads else (CommonOptions,)
        shared = [parameter for group in groups for parameter in _parameters(group)]

        @functools.wraps(function)
        def run(**values: Any) -> None:
            reader = _taken(ReaderOptions, values) if reads else ReaderOptions()
            common = _taken(CommonOptions, values)
            values |= {name: _taken(group, values) for name, group in own_groups.items()}
            call = Call(common, reader, Terminal(quiet=common.as_json))
            raise typer.Exit(_outcome(call, functools.partial(function, call, **values)))

        keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *shared)]
        run.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in keyword}
        return run

    return decorate


def _outcome(call: Call, body: Callable[[], int | None]) -> int:
    try:
        code = body() or 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        message = f"Interrupted. {call.kept}".strip()
        print_error(EvidenceDeskError(message, code="interrupted"), as_json=call.as_json)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output closed it (`| head`): no error of ours, and nothing to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    return code


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """The options that a parameter of a command stands for: its own, or all of its group."""
    group = _group_of(parameter)
    return _parameters(group) if group else [parameter]


def _group_of(parameter: inspect.Parameter) -> type | None:
    kind = parameter.annotation
    return kind if isinstance(kind, type) and is_dataclass(kind) else None


def _parameters(group: type) -> list[inspect.Parameter]:
    return list(inspect.signature(group, eval_str=True).parameters.values())


def _taken(group: type, values: dict[str, Any]) -> Any:
    names = [parameter.name for parameter in _parameters(group)]
    given: Mapping[str, Any] = {name: values.pop(name) for name in names if name in values}
    return group(**given)
