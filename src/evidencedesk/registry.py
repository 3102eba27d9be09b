"""Finds parts by name and imports them when they are called; the one place that imports late.

Adapters (stores, embedders, generators, parsers) are entry points of the groups
``evidencedesk.<port>``: ours use the same door as anybody's. Commands and the names that
``evidencedesk`` exports are given as ``module:attribute``.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from evidencedesk.errors import ModelMissingError, SettingsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def load(target: str, *, extra: str = "") -> Any:
    """The object that ``module:attribute`` names.

    Raises:
        ModelMissingError: ``package_missing`` when a package that the module needs is not
            installed; names ``extra``, which brings it, where one does.
    """
    module, _, attribute = target.partition(":")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise _missing_package(target, error, extra=extra) from None
    return getattr(loaded, attribute)


def adapter_names(port: str) -> tuple[str, ...]:
    """Names of the installed adapters of a port (``stores``, ``embedders``, ...), sorted."""
    return tuple(sorted({entry.name for entry in _entries(port)}))


def adapter(port: str, name: str) -> Any:
    """The adapter class called ``name`` of ``port``.

    Raises:
        SettingsError: ``unknown_adapter`` when none is called so; lists those there are.
        ModelMissingError: ``package_missing`` when the adapter's package is not installed; names
            the extra that brings it where the adapter declares one.
    """
    entry = _entry(port, name)
    try:
        return entry.load()
    except ModuleNotFoundError as error:
        raise _missing_package(name, error, extra=", ".join(entry.extras)) from None


def _entry(port: str, name: str) -> EntryPoint:
    entry = next((entry for entry in _entries(port) if entry.name == name), None)
    if entry is None:
        raise SettingsError(
            f"There is no {name!r} among the {port}: {', '.join(adapter_names(port))}.",
            code="unknown_adapter",
            hint=f"Use one of these, or install a package that has an entry point evidencedesk.{port}.",
        )
    return entry


def _entries(port: str) -> tuple[EntryPoint, ...]:
    return _entries_on(tuple(sys.path), port)


@cache
def _entries_on(_path: tuple[str, ...], port: str) -> tuple[EntryPoint, ...]:
    """What is installed along this path for imports; looking through all packages takes ten milliseconds."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=f"evidencedesk.{port}"))


def _missing_package(
    wanted: str, error: ModuleNotFoundError, *, extra: str
) -> ModelMissingError | ModuleNotFoundError:
    if (error.name or "").startswith("evidencedesk"):
        return error
    install = f"evidencedesk[{extra}]" if extra else (error.name or wanted).partition(".")[0]
    return ModelMissingError(
        f"{wanted!r} needs the package {error.name!r}, which is not installed.",
        code="package_missing",
        hint=f'Install it with: pip install "{install}"',
    )


def adapter_target(port: str, name: str) -> str:
    """``module:attribute`` of the adapter called ``name`` of ``port``, without importing it.

    Raises:
        SettingsError: ``unknown_adapter``.
    """
    entry = _entry(port, name)
    return f"{entry.module}:{entry.attr}"
