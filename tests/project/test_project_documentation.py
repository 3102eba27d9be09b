"""What README and docs show can be typed: Python runs, commands and options exist, settings are read."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shlex
import textwrap
import tomllib
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.example import Example
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

import evidencedesk
from evidencedesk import load_settings
from evidencedesk.cli.app import run
from evidencedesk.desk import desk as desk_module

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [evidencedesk, desk_module]


def name_of(value: object) -> str:
    if isinstance(value, Path):
        return value.name
    if isinstance(value, Example):
        return f"{Path(value.path).name}:{value.line}"
    return getattr(value, "__name__", str(value))


def write_toml(example: Example) -> None:
    """Read as settings; a table of prices names models in quotes and is only parsed."""
    if example.parsed.startswith('["'):
        assert tomllib.loads(example.parsed)
        return
    Path("evidencedesk.toml").write_text(example.parsed, "utf-8")
    load_settings(environment={}, folder=Path.cwd())


def examples_of(page: Path) -> list[Example]:
    parsers = [PythonCodeBlockParser(), CodeBlockParser("toml", write_toml)]
    return list(Sybil(parsers=parsers, path=str(page.parent)).parse(page))


EXAMPLES = [example for page in PAGES for example in examples_of(page)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the examples speak of: the samples, and ``policies/``."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    (tmp_path / "policies").symlink_to(ROOT / "samples" / "kestrel")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_examples():
    assert {name_of(example).split(":")[0] for example in EXAMPLES} >= {"README.md"}


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_an_example_runs(example: Example, folder: Path, minilm_directory: Path):
    assert minilm_directory.is_dir()
    example.evaluate()


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_the_example_in_a_docstring_runs(module: object, folder: Path, minilm_directory: Path):
    assert minilm_directory.is_dir()
    (indented,) = re.findall(r"(?m)(?:^    .*\n|^\n)+", f"{inspect.getdoc(module)}\n")[-1:]
    names = {"Desk": evidencedesk.Desk, "Principal": evidencedesk.Principal}
    exec(textwrap.dedent(indented), names)
    answer = names["answer"]
    assert "30 days" in str(getattr(answer, "text", ""))


def typed_in(page: Path) -> list[str]:
    """Command lines in code blocks, indented or fenced, with what follows ``#`` or ``|`` cut off."""
    text = re.sub(r"<!--.*?-->", "", page.read_text("utf-8"), flags=re.DOTALL)
    lines = re.findall(r"(?m)^(?:    )?(?:\$ )?((?:evidencedesk|make|python -m) [^\n]*)", text)
    lines += re.findall(r"`(evidencedesk [^`\n]+)`", text)
    return [re.split(r"\s+(?:#|\||>|\|\||&&)\s*", line)[0].rstrip("\\ ") for line in lines]


TYPED = sorted({line for page in PAGES for line in typed_in(page)})
GROUPS = {"docs", "models", "eval", "answers", "chunks", "keys", "apikeys", "jobs", "db", "notices"}
OURS = [line for line in TYPED if line.startswith("evidencedesk ")]


def test_commands_are_found():
    assert len(OURS) > 10
    assert any(line.startswith("make ") for line in TYPED)


@pytest.mark.parametrize("line", OURS)
def test_a_command_and_its_options_exist(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "200")
    words = shlex.split(line)[1:]
    depth = 2 if words[0] in GROUPS else 1
    command = [word for word in words[:depth] if re.fullmatch("[a-z-]+", word)]
    assert run([*command, "--help"]) == 0
    text = capsys.readouterr().out
    options = {word.split("=")[0] for word in words if re.match(r"--[a-z]", word)}
    assert {option for option in options if option not in text} == set()


@pytest.mark.parametrize("line", [line for line in TYPED if line.startswith("make ")])
def test_a_make_target_exists(line: str):
    targets = re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"))
    assert line.split()[1] in targets


@pytest.mark.parametrize("line", [line for line in TYPED if line.startswith("python -m")])
def test_a_module_that_is_run_exists(line: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT))
    assert importlib.util.find_spec(line.split()[2])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_pages_lead_somewhere(page: Path):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    broken = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert broken == []
