"""A command line to type into, and a small library to ask about."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Cli, Ran
from evidencedesk.cli.app import run

RETURNS = """---
id: returns
title: Returns policy
version: "3"
roles: [everyone]
owner: care
---
## Returning a bike
You can return a new bike within 30 days of delivery for a full refund. The bike must be in
its original box.

## Helmets
Opened helmets cannot be returned.
"""
OLD_RETURNS = RETURNS.replace("id: returns", "id: returns-old\nstatus: superseded").replace(
    "30", "14"
)
STAFF = """---
id: staff-refunds
title: Large refunds
roles: [staff]
---
## Approval
A refund above 500 euros needs the approval of the shop manager.
"""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command in this process, in an empty folder, without a model."""
    for name in [name for name in os.environ if name.startswith("EVIDENCEDESK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EVIDENCEDESK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return call


def write_library(folder: Path) -> Path:
    """Three documents: one for everyone, its superseded version, one for staff."""
    folder.mkdir()
    (folder / "returns.md").write_text(RETURNS, "utf-8")
    (folder / "returns-old.md").write_text(OLD_RETURNS, "utf-8")
    (folder / "staff.md").write_text(STAFF, "utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """The folder with the three documents."""
    return write_library(tmp_path / "policies")


@pytest.fixture
def desk(cli: Cli, library: Path) -> Cli:
    """The command line with the library ingested into an index made by ``init``."""
    assert cli("init").code == 0
    assert cli("ingest", library).code == 0
    return cli


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with settings, library and index, made once, to be copied and not written to."""
    folder = tmp_path_factory.mktemp("made")
    write_library(folder / "policies")
    kept = {k: v for k, v in os.environ.items() if not k.startswith("EVIDENCEDESK_")}
    for arguments in (("init",), ("ingest", "policies")):
        subprocess.run(
            [sys.executable, "-m", "evidencedesk", *arguments],
            cwd=folder,
            env={**kept, "EVIDENCEDESK_CACHE": str(folder / "cache")},
            check=True,
            capture_output=True,
        )
    return folder


@pytest.fixture
def ready(cli: Cli, made: Path, tmp_path: Path) -> Cli:
    """The command line in a copy of ``made``; for tests that do not ingest again."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return cli


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a process of its own: nothing of ours, no model, no colour asked for."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("EVIDENCEDESK_", "FORCE_"))}
    return {**kept, "EVIDENCEDESK_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def process(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Ran]:
    """Runs a command as a process of its own."""

    def call(*arguments: str | Path, **variables: str) -> Ran:
        ran = subprocess.run(
            [sys.executable, "-m", "evidencedesk", *map(str, arguments)],
            cwd=tmp_path,
            env=environment | variables,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    return call
