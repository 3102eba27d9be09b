"""Where pulled models lie on this machine, and whether they are whole. Opens no connection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from evidencedesk.adapters.models.catalogue import CATALOGUE, KnownModel, known_model
from evidencedesk.adapters.models.manifest import MANIFEST, read_manifest, sha256_of
from evidencedesk.errors import ModelError, ModelMissingError
from evidencedesk.model import Finding

CACHE_VARIABLE = "EVIDENCEDESK_CACHE"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One line of ``models list``.

    Attributes:
        model: what can be pulled.
        directory: where it lies or would lie.
        installed: whether it is there.
        size: bytes on disk; 0 when it is not there.
    """

    model: KnownModel
    directory: Path
    installed: bool
    size: int

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {
            "name": self.model.name,
            "title": self.model.title,
            "licence": self.model.licence,
            "languages": list(self.model.languages),
            "dimensions": self.model.dimensions,
            "installed": self.installed,
            "directory": str(self.directory),
            "bytes": self.size,
        }


def cache_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """The cache: ``EVIDENCEDESK_CACHE`` if set, else the platform's folder for caches."""
    chosen = environment.get(CACHE_VARIABLE, "").strip()
    return Path(chosen).expanduser() if chosen else user_cache_path("evidencedesk")


def model_directory(name: str, cache_dir: Path) -> Path:
    """Where a model of this name lies once it has been pulled."""
    return cache_dir / "models" / name


def list_models(cache_dir: Path) -> tuple[ModelStatus, ...]:
    """Every model that can be pulled, by name, and whether it is here."""
    return tuple(_status(CATALOGUE[name], cache_dir) for name in sorted(CATALOGUE))


def where(name: str, cache_dir: Path) -> Path:
    """The directory of a pulled model.

    Raises:
        ModelError: ``model_unknown``.
        ModelMissingError: it has not been pulled.
    """
    status = _status(known_model(name), cache_dir)
    if not status.installed:
        raise ModelMissingError(
            f"The model {name!r} is not on this machine (looked in {str(status.directory)!r}).",
            hint=f"Fetch it once: evidencedesk models pull {name}.",
        )
    return status.directory


def locate(model: str, cache_dir: Path) -> tuple[Path, str | None]:
    """The directory and precision that a setting means.

    ``model`` is a known name, a known name with a precision (``minilm:fp32``), or the path of a
    model directory. A known name wins over a directory of that name; write ``./minilm`` for that.

    Raises:
        ModelError: ``model_unknown`` when it is neither.
        ModelMissingError: a known model that has not been pulled.
    """
    name, _, precision = model.partition(":")
    if name in CATALOGUE:
        return where(name, cache_dir), precision or None
    path = Path(model).expanduser()
    if not path.is_dir():
        raise ModelError(
            f"{model!r} is neither a known model ({', '.join(sorted(CATALOGUE))}) nor a directory.",
            code="model_unknown",
            hint="Use a known name or the path of a model directory.",
        )
    return path, None


def verify(name: str, cache_dir: Path) -> tuple[Finding, ...]:
    """Compare every file of a pulled model with its recorded hash; one finding per file.

    Raises:
        ModelError: ``model_unknown``, or ``model_directory`` when the directory is incomplete.
        ModelMissingError: it has not been pulled.
    """
    directory = where(name, cache_dir)
    recorded = read_manifest(directory).sha256
    expected = {**recorded, **known_model(name).files}
    return tuple(
        _finding(name, directory / file, digest) for file, digest in sorted(expected.items())
    )


def _finding(name: str, path: Path, expected: str) -> Finding:
    found = sha256_of(path) if path.is_file() else "missing"
    whole = found == expected
    return Finding(
        check=f"model_file:{path.name}",
        ok=whole,
        message=f"{path.name}: {'whole' if whole else f'{found}, expected {expected}'}",
        hint="" if whole else f"Pull it again: evidencedesk models pull {name}.",
    )


def _status(model: KnownModel, cache_dir: Path) -> ModelStatus:
    directory = model_directory(model.name, cache_dir)
    installed = (directory / MANIFEST).is_file()
    size = sum(path.stat().st_size for path in directory.iterdir()) if installed else 0
    return ModelStatus(model, directory, installed=installed, size=size)
