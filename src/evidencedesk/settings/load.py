"""Where values come from: defaults, then the file, the environment, the command line; later wins."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from evidencedesk.errors import SettingsError
from evidencedesk.settings.table import Row, Settings, rows, tables

FILE_NAME = "evidencedesk.toml"
PREFIX = "EVIDENCEDESK_"
OTHER_VARIABLES = frozenset(
    {"EVIDENCEDESK_CONFIG", "EVIDENCEDESK_CACHE", "EVIDENCEDESK_TEST_DATABASE_URL"}
)
_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_KEY = re.compile(r"\s*([\w.\"'-]+?)\s*=")
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one value came from.

    Attributes:
        kind: ``default``, ``file``, ``environment`` or ``command line``.
        place: the file (with its line), the variable or the option; empty for a default.
    """

    kind: str = "default"
    place: str = ""

    def __str__(self) -> str:
        return f"{self.kind} ({self.place})" if self.place else self.kind


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings with where each value came from.

    Attributes:
        settings: the values; paths in them are absolute.
        origins: origin of each setting by its dotted name.
        file: the settings file that was read, or None.
    """

    settings: Settings
    origins: Mapping[str, Origin]
    file: Path | None


def find_settings_file(
    config: str | Path | None, *, environment: Mapping[str, str], folder: Path
) -> Path | None:
    """``config``, else ``EVIDENCEDESK_CONFIG``, else ``evidencedesk.toml`` here or in a parent.

    Raises:
        SettingsError: ``settings_missing`` when a file that was named is not there.
    """
    named = config if config is not None else environment.get("EVIDENCEDESK_CONFIG") or None
    if named is not None:
        path = (folder / Path(named).expanduser()).absolute()
        if not path.is_file():
            raise SettingsError(
                f"There is no settings file {str(path)!r}.",
                code="settings_missing",
                hint="Correct --config or EVIDENCEDESK_CONFIG, or write one with `evidencedesk init`.",
            )
        return path
    here = folder.absolute()
    return next((p for d in (here, *here.parents) if (p := d / FILE_NAME).is_file()), None)


def load_settings(
    config: str | Path | None = None,
    *,
    environment: Mapping[str, str],
    folder: Path,
    overrides: Mapping[str, Any] | None = None,
) -> LoadedSettings:
    """The effective settings.

    Args:
        config: the settings file, or None to look for one.
        environment: environment variables (``os.environ``).
        folder: the current folder; paths in the environment and in ``overrides`` are relative to it.
        overrides: dotted names to values given on the command line; None means not given.

    Raises:
        SettingsError: ``unknown_setting``, ``bad_setting``, ``settings_missing`` or
            ``settings_unreadable``, naming the place and the key.
    """
    file = find_settings_file(config, environment=environment, folder=folder)
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {row.name: Origin() for row in rows()}
    base = file.parent if file is not None else folder.absolute()
    values["index.url"] = str(base / Settings().index.url)
    for layer, relative_to in (
        (_from_file(file), base),
        (_from_environment(environment), folder.absolute()),
        (_from_command_line(overrides or {}), folder.absolute()),
    ):
        for name, (value, origin) in layer.items():
            values[name] = _absolute(name, value, relative_to)
            origins[name] = origin
    return LoadedSettings(_validated(values, origins), origins, file)


_Layer = dict[str, tuple[Any, Origin]]


def _from_file(file: Path | None) -> _Layer:
    if file is None:
        return {}
    try:
        text = file.read_text("utf-8")
        content = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(
            f"{file} cannot be read: {error}.",
            code="settings_unreadable",
            hint="The file is TOML in UTF-8; `evidencedesk init` writes one to start from.",
        ) from error
    lines = _lines(text)
    found: _Layer = {}
    for name, value in _flat(content, ""):
        line = lines.get(name)
        place = f"{file}, line {line}" if line else str(file)
        found[_known(name, place)] = (value, Origin("file", place))
    return found


def _from_environment(environment: Mapping[str, str]) -> _Layer:
    found: _Layer = {}
    by_name = {row.name: row for row in rows()}
    for variable, text in sorted(environment.items()):
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(PREFIX).lower().replace("__", ".")
        if name not in by_name and "." not in name and not _nearest(name, by_name):
            continue
        row = by_name[_known(name, f"the environment ({variable})")]
        found[row.name] = (_parsed(row, text), Origin("environment", variable))
    return found


def _from_command_line(overrides: Mapping[str, Any]) -> _Layer:
    return {
        _known(name, "the command line"): (value, Origin("command line"))
        for name, value in overrides.items()
        if value is not None
    }


def _flat(content: Mapping[str, Any], table: str) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        name = f"{table}.{key}".lstrip(".")
        if isinstance(value, dict) and (value or name in tables()):
            yield from _flat(value, name)
        else:
            yield name, value


def _known(name: str, place: str) -> str:
    names = [row.name for row in rows()]
    if name in names:
        return name
    nearest = _nearest(name, names)
    hint = f"Did you mean {nearest!r}?" if nearest else "docs/settings.md lists all there are."
    raise SettingsError(f"Unknown setting {name!r} in {place}.", code="unknown_setting", hint=hint)


def _nearest(name: str, names: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)), None)


def _lines(text: str) -> dict[str, int]:
    """Line of each ``key =`` by dotted name; enough to point at it, TOML is read by tomllib."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = header[1].replace(" ", "")
        elif key := _KEY.match(line):
            found.setdefault(f"{table}.{key[1]}".lstrip("."), number)
    return found


def _parsed(row: Row, text: str) -> Any:
    """What ``text`` means for the row's type; unreadable text is left for validation to refuse."""
    kinds = set(get_args(row.field.annotation)) | {row.field.annotation}
    if bool in kinds:
        word = text.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else text
    if any(str(kind).startswith("tuple") for kind in kinds):
        return [part.strip() for part in text.strip("[] ").split(",") if part.strip()]
    for number in (int, float):
        if number in kinds:
            try:
                return number(text)
            except ValueError:
                continue
    return text


def _absolute(name: str, value: Any, base: Path) -> Any:
    if not isinstance(value, str) or not value or "://" in value:
        return value
    row = next(row for row in rows() if row.name == name)
    looks_like_path = (name == "embedding.model" and ("/" in value or value.startswith("."))) or (
        (name == "generation.model" and value.endswith(".gguf"))
        or (name == "verification.judge" and ":" not in value)
    )
    if row.is_path or looks_like_path:
        return str(base / Path(value).expanduser())
    return value


def _validated(values: Mapping[str, Any], origins: Mapping[str, Origin]) -> Settings:
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *path, key = name.split(".")
        table = nested
        for part in path:
            table = table.setdefault(part, {})
        table[key] = tuple(value) if isinstance(value, list) else value
    try:
        return Settings.model_validate(nested)
    except ValidationError as error:
        raise _wrong_value(error, values, origins) from error


def _wrong_value(
    error: ValidationError, values: Mapping[str, Any], origins: Mapping[str, Origin]
) -> SettingsError:
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"]]
    name = next(
        (n for size in range(len(parts), 0, -1) if (n := ".".join(parts[:size])) in origins),
        ".".join(parts),
    )
    return SettingsError(
        f"{name} in {origins.get(name, Origin())}: {values.get(name)!r} is not accepted. "
        f"{first['msg']}.",
        code="bad_setting",
        hint="docs/settings.md has the type, the unit and the default of each setting.",
    )
