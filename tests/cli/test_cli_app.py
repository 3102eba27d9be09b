"""The table of commands, help, versions, and how errors end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from evidencedesk import __version__, registry
from evidencedesk.cli.app import report_unforeseen
from evidencedesk.cli.commands import COMMANDS
from evidencedesk.cli.failures import print_error
from evidencedesk.errors import UsageError

ROOT = Path(__file__).parents[2]
HELP_SECONDS = 0.4
READING = ("ask", "chat", "search", "show", "docs list", "docs show", "docs history", "docs diff")
READING += tuple(f"answers {name}" for name in ("list", "show", "replay", "recheck", "export"))
READING += ("answers feedback",)
READING += ("eval init", "eval add", "mcp")
GROUPS = {"docs", "chunks", "models", "answers", "keys", "eval", "notices", "db", "jobs", "apikeys"}
ALL_COMMANDS = (
    *(row.name for row in COMMANDS if row.name not in GROUPS),
    *(f"apikeys {name}" for name in ("create", "list", "revoke", "suspend", "restore")),
    *(f"docs {name}" for name in ("list", "show", "history", "diff", "remove", "status")),
    "chunks compare",
    *(f"answers {name}" for name in ("list", "show", "replay", "recheck", "export", "erase")),
    "answers feedback",
    *(f"notices {name}" for name in ("list", "send", "test")),
    "keys init",
    "db graph",
    *(f"jobs {name}" for name in ("put", "list", "retry")),
    *(f"eval {name}" for name in ("init", "add", "run", "compare", "gate", "report")),
    *(f"models {name}" for name in ("list", "pull", "verify", "where")),
)


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_every_command_of_the_table_is_there(row: object) -> None:
    assert isinstance(registry.load(row.target), typer.Typer)


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_every_command_has_help_examples_and_the_common_options(cli: Callable, name: str) -> None:
    ran = cli(*name.split(), "--help")
    assert ran.code == 0
    assert f"Examples:\n    evidencedesk {name}" in ran.out
    for option in ("--json", "--config", "--index", "--debug"):
        assert option in ran.out


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_exactly_the_reading_commands_take_the_reader_options(cli: Callable, name: str) -> None:
    help_text = cli(*name.split(), "--help").out
    assert ("--administrator" in help_text) == (name in READING or name == "apikeys create")
    assert ("is their operator" in " ".join(help_text.split())) == (name in READING)


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert [row.name for row in COMMANDS if f"| `{row.name}" not in text] == []


def test_help_is_printed_from_the_table_and_fast(process: Callable) -> None:
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        ran = process("--help")
        taken.append(time.perf_counter() - started)
    assert ran.code == 0
    assert [
        row for row in COMMANDS if f"  {row.name}" not in ran.out or row.help not in ran.out
    ] == []
    assert min(taken) < HELP_SECONDS


def test_help_imports_nothing_that_a_command_needs() -> None:
    code = (
        "import sys; from evidencedesk.cli.app import run; run(['--help'])\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "rich.console", "onnxruntime", "sqlite3", "lxml", "evidencedesk.desk"}
    assert heavy & set(ran.stderr.split()) == set()


def test_version(cli: Callable) -> None:
    assert cli("--version").out == f"evidencedesk {__version__}\n"


def test_without_a_command_there_is_help_and_a_usage_error(cli: Callable) -> None:
    ran = cli()
    assert ran.code == 2
    assert "Commands:" in ran.out + ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("calibrte",), "No such command 'calibrte'. Did you mean 'calibrate'?"),
        (("ask",), "Missing argument 'QUESTION'."),
        (("ask", "a", "--no-such"), "No such option: --no-such"),
        (("ask", "a", "--threshold", "2"), "Invalid value for '--threshold'"),
        (("search", "a", "-k", "0"), "Invalid value for '-k'"),
        (("docs", "lst"), "No such command 'lst'"),
        (("ingest",), "Missing argument 'PATH'."),
    ],
)
def test_a_wrong_call_is_two_lines_and_code_2(
    cli: Callable, arguments: tuple[str, ...], message: str
) -> None:
    ran = cli(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    first, second = ran.err.strip().split("\n")
    assert first.startswith(f"error: {message}")
    assert second.startswith("hint: ")


def test_a_wrong_call_with_json_is_json(cli: Callable) -> None:
    ran = cli("ask", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.error["code"] == "usage"
    assert set(ran.error) == {"code", "message", "hint"}


def test_an_error_cannot_colour_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(UsageError("\x1b[31mred", hint="\x1b]0;x\x07ok"), as_json=False)
    assert capsys.readouterr().err == "error: red\nhint: ok\n"


def test_a_bug_is_one_message_and_a_traceback_only_for_debug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = KeyError("lost")
    monkeypatch.setattr(sys, "argv", ["evidencedesk", "ask"])
    report_unforeseen(KeyError, error, None)
    shown = capsys.readouterr().err
    assert shown.startswith("error: This should not have happened: KeyError: 'lost'\nhint: ")
    monkeypatch.setattr(sys, "argv", ["evidencedesk", "ask", "--debug", "--json"])
    report_unforeseen(KeyError, error, None)
    shown = capsys.readouterr().err
    assert shown.startswith("KeyError: 'lost'")
    assert '"code": "internal"' in shown


def test_an_interruption_outside_a_command_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    report_unforeseen(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert capsys.readouterr().err == ""
