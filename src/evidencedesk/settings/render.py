"""The table of settings as a commented file, as documentation and as effective values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from evidencedesk.settings.load import LoadedSettings
from evidencedesk.settings.table import Row, rows, tables

_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^@/]*@")
_TYPE_NAMES = {int: "integer", float: "number", bool: "true or false", str: "text"}


def toml_value(value: Any) -> str:
    """``value`` as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def render_toml(values: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """The commented settings file: every setting with its help, defaults commented out.

    Args:
        values: dotted names to the values that are set in the file.
        comments: dotted names to a remark of its own for this file.
    """
    lines = [
        "# Settings of EvidenceDesk. A line that is commented out shows the default.",
        "# Environment variables (EVIDENCEDESK_RETRIEVAL__K=5) and options on the command line win.",
    ]
    for table, about in {"": "", **tables()}.items():
        lines += ["", f"# {about}", f"[{table}]"] if table else []
        for row in _of(table):
            lines += ["", *_toml_row(row, values, (comments or {}).get(row.name, ""))]
    return "\n".join(lines) + "\n"


def render_markdown() -> str:
    """``docs/settings.md``."""
    lines = [_DOCUMENTATION_HEAD]
    for table, about in {"": "Valid everywhere.", **tables()}.items():
        title = f"`[{table}]`" if table else "Top of the file"
        lines += ["", f"## {title}", "", about, "", _TABLE_HEAD]
        lines += [_markdown_row(row) for row in _of(table)]
    return "\n".join(lines) + "\n"


def effective(loaded: LoadedSettings) -> list[dict[str, Any]]:
    """One entry per setting: ``name value unit default source help``, passwords masked."""
    return [
        {
            "name": row.name,
            "value": masked(loaded.settings.value(row.name)),
            "unit": row.unit,
            "default": row.default,
            "source": str(loaded.origins[row.name]),
            "help": row.help,
        }
        for row in rows()
    ]


def masked(value: Any) -> Any:
    """``value`` with the password of a URL replaced."""
    return _PASSWORD.sub(r"\1:***@", value) if isinstance(value, str) else value


def type_name(annotation: Any) -> str:
    """The type of a setting in words."""
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(type_name(a) for a in get_args(annotation) if a is not NoneType)
    if get_origin(annotation) is Literal:
        return " or ".join(toml_value(choice) for choice in get_args(annotation))
    if get_origin(annotation) is tuple:
        return "list of text"
    return _TYPE_NAMES[annotation]


def _of(table: str) -> Iterable[Row]:
    return (row for row in rows() if row.table == table)


def _toml_row(row: Row, values: Mapping[str, Any], remark: str) -> list[str]:
    unit = f" ({row.unit})" if row.unit else ""
    lines = [f"# {row.help}{unit}"]
    lines += [f"# {line}" for line in remark.split("\n")] if remark else []
    if row.name in values:
        return [*lines, f"{row.key} = {toml_value(values[row.name])}"]
    shown = row.sample if row.default is None else row.default
    note = "   # not set" if row.default is None else ""
    return [*lines, f"# {row.key} = {toml_value(shown)}{note}"]


def _markdown_row(row: Row) -> str:
    default = "not set" if row.default is None else f"`{toml_value(row.default)}`"
    kind = type_name(row.field.annotation) + (f", {row.unit}" if row.unit else "")
    variable = "EVIDENCEDESK_" + row.name.upper().replace(".", "__")
    return f"| `{row.key}` | {kind} | {default} | {row.help} | `{variable}` |"


_TABLE_HEAD = (
    "| key | type, unit | default | what it does | environment variable |\n"
    "| --- | --- | --- | --- | --- |"
)

_DOCUMENTATION_HEAD = """# Settings

<!-- Written from the table in src/evidencedesk/settings/table.py by `evidencedesk doctor --settings --markdown`. -->

A settings file is TOML. It is the one named by `--config`, else by `EVIDENCEDESK_CONFIG`, else
`evidencedesk.toml` in the current folder or the nearest parent folder that has one. Paths in it are
relative to it. Environment variables come after the file and options on the command line after
those; the later one wins. `evidencedesk init` writes a file with every setting and its help, and
`evidencedesk doctor --settings` shows the effective value of each and where it came from.

In the environment a list is written with commas (`EVIDENCEDESK_ACCESS__KNOWN_ROLES=staff,student`).
A key that does not exist is an error that names the nearest one. `Desk.open(path)` in Python reads no
settings file unless it is given settings."""
