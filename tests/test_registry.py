"""Parts by name: adapters, exported names, and what is said when one is missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import evidencedesk
from evidencedesk import registry
from evidencedesk.errors import ModelMissingError, SettingsError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.mark.parametrize("port", ["stores", "embedders", "generators", "parsers"])
def test_every_declared_adapter_is_found_and_loads(port: str) -> None:
    declared = PROJECT["entry-points"][f"evidencedesk.{port}"]
    assert set(registry.adapter_names(port)) >= set(declared)
    for name, target in declared.items():
        plain = target.partition(" ")[0]
        assert registry.adapter_target(port, name) == plain
        assert registry.adapter(port, name).__name__ == plain.partition(":")[2]


def test_an_unknown_adapter_lists_those_there_are() -> None:
    with pytest.raises(SettingsError, match=", ".join(registry.adapter_names("parsers"))) as caught:
        registry.adapter("parsers", "wordperfect")
    assert caught.value.code == "unknown_adapter"


def _plugin(folder: Path, entry: str) -> None:
    info = folder / "plugin-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[evidencedesk.generators]\n{entry}\n")
    (folder / "plugin.py").write_text("class Writer:\n    name = 'mine'\n")
    (folder / "needy.py").write_text("import package_that_is_not_there\n")


def test_anybodys_adapter_comes_through_the_same_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _plugin(tmp_path, "mine = plugin:Writer")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "mine" in registry.adapter_names("generators")
    assert registry.adapter("generators", "mine").name == "mine"


def test_a_missing_package_names_the_extra_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _plugin(tmp_path, "needy = needy:Writer [needy]")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelMissingError, match="package_that_is_not_there") as caught:
        registry.adapter("generators", "needy")
    assert caught.value.code == "package_missing"
    assert caught.value.hint == 'Install it with: pip install "evidencedesk[needy]"'


def test_a_missing_package_without_an_extra_names_the_package() -> None:
    with pytest.raises(ModelMissingError) as caught:
        registry.load("no_such_package.module:Thing")
    assert caught.value.hint == 'Install it with: pip install "no_such_package"'


@pytest.mark.parametrize("name", [name for name in evidencedesk.__all__ if name != "__version__"])
def test_every_exported_name_is_there_and_is_what_it_says(name: str) -> None:
    assert getattr(evidencedesk, name) is not None
    assert name in dir(evidencedesk)


def test_the_exported_names_are_exactly_the_known_ones() -> None:
    assert set(evidencedesk.__all__) == {*evidencedesk._TARGETS, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'Dsek'"):
        evidencedesk.Dsek  # noqa: B018 - the access is the test


def test_the_version_is_the_packages() -> None:
    assert evidencedesk.__version__ == PROJECT["version"] == metadata.version("evidencedesk")


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, evidencedesk; print(*sorted(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "pydantic", "rich", "typer", "onnxruntime", "sqlite3", "yaml", "lxml"}
    assert heavy & set(ran.stdout.split()) == set()
