"""Folder manifests: ``evidencedesk-folder.yaml`` says who may read a folder and what is in it.

::

    defaults: {roles: [staff], lang: en}
    files:
      "drafts/**": {status: draft}
      "payout.md": {roles: [admin], title: Instructor payout}

A glob without ``/`` is matched against file names at any depth; one with ``/`` against the path
below the manifest's folder, where ``*`` stays inside one folder and ``**`` does not. Where several
match, each key comes from the most specific glob: no wildcard beats any wildcard, then more literal
characters beat fewer, then the later line wins. Manifests of inner folders are laid over those of
outer ones, key by key. Every folder above a file counts, also above the PATH being ingested: who may
see a file does not depend on which PATH was named. The search ends below a folder into which anybody
may write. Members of archives and messages get what is said of the outermost file, except its id,
title, version and predecessor; globs do not reach inside.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from evidencedesk.errors import MetadataError
from evidencedesk.ingestion.load import MANIFEST_NAME, SourceFile
from evidencedesk.ingestion.metadata import DeclaredMetadata
from evidencedesk.text.front_matter import load_yaml

_WILDCARDS = ((r"\*\*/", "(?:.*/)?"), (r"\*\*", ".*"), (r"\*", "[^/]*"), (r"\?", "[^/]"))
_HINT = f"Correct {MANIFEST_NAME}; until then the files it speaks of are not ingested."


class _Defaults(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    roles: frozenset[str] | None = None
    deny: frozenset[str] | None = None
    status: str | None = None
    lang: str | None = None
    mask: str | None = None
    owner: str | None = None

    @field_validator("roles", "deny", mode="before")
    @classmethod
    def _refuse_nothing(cls, value: object) -> object:
        if value is None:
            raise ValueError("expected a list; [] means administrators only")
        return value


class _FileEntry(_Defaults):
    id: str | None = None
    title: str | None = None
    version: str | None = None
    supersedes: str | None = None


class FolderManifest(BaseModel):
    """One manifest as read from its file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    defaults: _Defaults = Field(default_factory=_Defaults)
    files: dict[str, _FileEntry] = Field(default_factory=dict)

    def entry_for(self, relative: str, origin: str) -> DeclaredMetadata:
        """What it says of the file at ``relative`` (``/`` between parts, below its folder)."""
        declared = DeclaredMetadata(origin=origin, **self.defaults.model_dump())
        matching = [glob for glob in self.files if _regex_of(glob).fullmatch(relative)]
        for glob in sorted(matching, key=_specificity):
            entry = DeclaredMetadata(origin=origin, **self.files[glob].model_dump())
            declared = entry.over(declared)
        return declared


class Manifests:
    """The manifests of the folders being ingested, each read once."""

    def __init__(self) -> None:
        self._read: dict[Path, FolderManifest | None] = {}

    def entry_for(self, file: SourceFile) -> DeclaredMetadata:
        """What the manifests above ``file`` say of it, the innermost first.

        Raises:
            MetadataError: a manifest is wrong; naming it, the line where known, and the key.
        """
        declared = DeclaredMetadata()
        folders = file.folders
        for folder in (*_folders_above(folders[0]), *folders) if folders else ():
            manifest = self._manifest(folder)
            if manifest is not None:
                relative = _path_below(file, folder)
                inner = manifest.entry_for(relative, str(folder / MANIFEST_NAME))
                declared = inner.over(declared)
        if file.inside:
            return replace(declared, id=None, title=None, version=None, supersedes=None)
        return declared

    def _manifest(self, folder: Path) -> FolderManifest | None:
        if folder not in self._read:
            path = folder / MANIFEST_NAME
            self._read[folder] = read_manifest(path) if path.is_file() else None
        return self._read[folder]


def _folders_above(folder: Path) -> list[Path]:
    """Folders above, outermost first, as far up as only their owners may write."""
    found: list[Path] = []
    for above in folder.resolve().parents:
        if above.stat().st_mode & stat.S_IWOTH:
            break
        found.append(above)
    return found[::-1]


def _path_below(file: SourceFile, folder: Path) -> str:
    if file.path.is_relative_to(folder):
        return file.path.relative_to(folder).as_posix()
    return file.path.parent.resolve().joinpath(file.path.name).relative_to(folder).as_posix()


def read_manifest(path: Path) -> FolderManifest:
    """The manifest in ``path``.

    Raises:
        MetadataError: not YAML, a key given twice, an unknown key (with the nearest known one) or a
            value of the wrong type.
    """
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise MetadataError(f"{path}: {error}", code="manifest_unreadable", hint=_HINT) from None
    values = load_yaml(source, file_name=str(path))
    try:
        return FolderManifest.model_validate(values)
    except ValidationError as error:
        raise _explain(path, error.errors()[0]) from None


def _explain(path: Path, problem: ErrorDetails) -> MetadataError:
    where = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        key = str(problem["loc"][-1])
        return MetadataError(
            f"{path}: unknown key {where!r}.{_suggestion(key, problem['loc'])}",
            code="unknown_key",
            hint=_HINT,
        )
    return MetadataError(
        f"{path}: {where}: {problem['msg']}, not {problem['input']!r}.",
        code="wrong_type",
        hint=_HINT,
    )


def _suggestion(key: str, where: tuple[int | str, ...]) -> str:
    if len(where) == 1:
        known: Iterable[str] = FolderManifest.model_fields
    else:
        known = (_Defaults if where[0] == "defaults" else _FileEntry).model_fields
    near = get_close_matches(key, known, n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else f" Known keys: {', '.join(sorted(known))}."


def _regex_of(glob: str) -> re.Pattern[str]:
    pattern = re.escape(glob)
    for wildcard, meaning in _WILDCARDS:
        pattern = pattern.replace(wildcard, meaning)
    return re.compile(pattern if "/" in glob else f"(?:.*/)?{pattern}", re.DOTALL)


def _specificity(glob: str) -> tuple[bool, int]:
    return "*" not in glob and "?" not in glob, len(re.sub(r"[*?]", "", glob))
