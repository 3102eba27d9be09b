"""What a person or a program sees: results on stdout, progress, notes and errors on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from evidencedesk import model
from evidencedesk.cli.clean import clean, one_line, to_json

_UNBOUNDED = 100_000

Part = str | tuple[str, str]


class Terminal:
    """Prints. Every text goes through :func:`~evidencedesk.cli.clean.clean` first.

    Colour is off where the stream is no terminal or ``NO_COLOR`` is set; lines are then not wrapped.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        """Print; ``quiet`` leaves remarks out, so that stderr holds nothing but an error's JSON."""
        self._quiet = quiet
        self._out = _console(sys.stdout)
        self._err = _console(sys.stderr)

    @property
    def is_watched(self) -> bool:
        """Whether a person looks at stdout."""
        return self._out.is_terminal

    def json(self, value: Any, *, indent: int | None = 2) -> None:
        """One JSON value on stdout."""
        sys.stdout.write(to_json(value, indent=indent) + "\n")
        sys.stdout.flush()

    def line(self, *parts: Part, indent: int = 0) -> None:
        """One line (or several, where a part has line ends) on stdout; a part may carry a style."""
        self._out.print(_text(parts, indent), soft_wrap=not self._out.is_terminal)

    def note(self, *parts: Part) -> None:
        """A remark for a person, on stderr."""
        if not self._quiet:
            self._err.print(_text(parts, 0), soft_wrap=not self._err.is_terminal)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table on stdout; numbers to the right, None as an empty cell."""
        listed = [list(row) for row in rows]
        table = Table(box=None, pad_edge=False, header_style="bold")
        for index, column in enumerate(columns):
            number = bool(listed) and all(
                isinstance(row[index], int | float | None) for row in listed
            )
            table.add_column(column, justify="right" if number else "left", overflow="fold")
        for row in listed:
            table.add_row(*(Text(_cell(value)) for value in row))
        self._out.print(table, soft_wrap=not self._out.is_terminal)

    def finding(self, finding: model.Finding) -> None:
        """What one check found, and how to mend it."""
        mark = ("ok    ", "green") if finding.ok else ("WRONG ", "red")
        self.line(mark, (f"{finding.check}: ", "bold"), finding.message)
        if finding.hint:
            self.line(("hint: ", "yellow"), finding.hint, indent=6)

    @contextmanager
    def progress(self) -> Iterator[model.ProgressCallback]:
        """A callback that draws a bar per stage on stderr where that is a terminal."""
        columns = (
            TextColumn("{task.description:<10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        bars: dict[str, TaskID] = {}
        hidden = not self._err.is_terminal
        with Progress(*columns, console=self._err, transient=True, disable=hidden) as drawn:

            def show(step: model.Progress) -> None:
                if step.stage not in bars:
                    bars[step.stage] = drawn.add_task(step.stage, total=step.total, note="")
                note = one_line(step.note)[-40:]
                drawn.update(bars[step.stage], completed=step.done, total=step.total, note=note)

            yield show


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to the caller to end quietly; rich's own would exit with 1."""
        raise BrokenPipeError


def _console(stream: IO[str]) -> Console:
    unbounded = not stream.isatty() and "COLUMNS" not in os.environ
    return _Console(
        file=stream,
        markup=False,
        emoji=False,
        highlight=False,
        width=_UNBOUNDED if unbounded else None,
    )


def _text(parts: Sequence[Part], indent: int) -> Text:
    text = Text()
    for part in parts:
        plain, style = (part, "") if isinstance(part, str) else part
        text.append(clean(plain), style=style)
    if not indent:
        return text
    blank = " " * indent
    return Text("\n").join(
        Text.assemble(blank, line) for line in text.split("\n", allow_blank=True)
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else one_line(str(value))
