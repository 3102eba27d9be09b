"""Finding files under the PATHs that somebody named, and reading their bytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import overload

from evidencedesk.errors import ParseError, SourceError
from evidencedesk.model import FailedSource

MANIFEST_NAME = "evidencedesk-folder.yaml"
INDEX_FILE = "index.sqlite3"
INDEX_MARK = b"EdDk"
"""The application id in the header of an index of ours; a test compares it with the store's."""
SETTINGS_NAME = "evidencedesk.toml"
DEFAULT_MAX_BYTES = 200 * 1024 * 1024


_OURS = frozenset({MANIFEST_NAME, SETTINGS_NAME})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to ingest.

    Attributes:
        path: where it can be opened, as found from the PATH given.
        root: the PATH given: a folder, or the file itself.
        relative: path below the root with ``/`` between parts; the file name when the root is the
            file itself. For a member of an archive or message: that of the outermost file, then
            ``!/`` and the name inside, as often as files are nested (``a.zip!/b.eml!/c.pdf``).
        inside: names of the members that lead to this one; empty for a file of its own.
        data: the bytes of a member; None for a file, which is read from ``path``.
        upload: name, made at random, of the upload that brought it; empty for a file of the
            operator's own.
        origin: root of the source it was fetched from (``Source.root``); empty for files on disk.
            ``path`` and ``root`` are then no places on disk, and ``relative`` is its address.
        named: a name whose extension says what it is, where that is not ``relative``.
        unchanged: hash and media type of bytes that are known to be the ones read before, and were
            not fetched again.
    """

    path: Path
    root: Path
    relative: str
    inside: tuple[str, ...] = ()
    data: bytes | None = None
    upload: str = ""
    origin: str = ""
    named: str = ""
    unchanged: tuple[str, str] | None = None

    @property
    def trusted(self) -> bool:
        """Whether what it says of its own rights counts: no upload, nothing fetched, no member."""
        return not (self.inside or self.upload or self.origin)

    def member(self, name: str, data: bytes) -> SourceFile:
        """The file called ``name`` inside this one."""
        relative = f"{self.relative}!/{name}"
        return replace(self, relative=relative, inside=(*self.inside, name), data=data, named="")

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders whose manifests apply, outermost first: the root down to the file's own."""
        if self.origin:
            return ()
        if self.path == self.root:
            return (self.path.parent,)
        inner = "".join(f"!/{name}" for name in self.inside)
        parts = PurePosixPath(self.relative.removesuffix(inner)).parent.parts
        return tuple(self.root.joinpath(*parts[:depth]) for depth in range(len(parts) + 1))


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found under the PATHs.

    Attributes:
        files: files to ingest, sorted by relative path within each PATH, each file once.
        failed: folders that could not be listed.
        refused: links that lead out of their PATH.
    """

    files: Sequence[SourceFile] = ()
    failed: tuple[FailedSource, ...] = ()
    refused: tuple[FailedSource, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceBytes:
    """The content of a file and ``sha256:<hex>`` of it."""

    data: bytes
    file_hash: str


def discover(paths: Iterable[Path]) -> Discovery:
    """Every file at or under ``paths``; hidden files, hidden folders and manifests are left out.

    So are settings files and folders that are an index: it holds the text of documents whatever
    their rights, so read as a document it would open them. A name that is no text in the encoding
    of the file system cannot be cited, and fails alone.

    A link to a file is followed when it stays inside its PATH, and refused otherwise; a link to a
    folder is never followed (inside the PATH its content is found at its own place). A PATH that is
    itself a link is followed: somebody named it.

    Raises:
        SourceError: ``path_missing`` when a PATH does not exist; ``path_is_index`` when it is an
            index or lies in one.
    """
    search = _Search()
    for path in paths:
        search.add(path)
    return Discovery(_Found(search.files), tuple(search.failed), tuple(search.refused))


class _Found(Sequence[SourceFile]):
    """Files that are made when they are asked for: there may be millions, and names are enough.

    Args:
        places: of each file, the PATH given, and the path below it or None for the PATH itself.
    """

    def __init__(self, places: Sequence[tuple[Path, str | None]]) -> None:
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> SourceFile: ...

    @overload
    def __getitem__(self, index: slice) -> _Found: ...

    def __getitem__(self, index: int | slice) -> SourceFile | _Found:
        if isinstance(index, slice):
            return _Found(self._places[index])
        root, relative = self._places[index]
        if relative is None:
            return SourceFile(root, root, root.name)
        return SourceFile(root / relative, root, relative)


class _Search:
    def __init__(self) -> None:
        self.files: list[tuple[Path, str | None]] = []
        self.failed: list[FailedSource] = []
        self.refused: list[FailedSource] = []
        self._seen: set[str] = set()

    def add(self, path: Path) -> None:
        if _is_index(path) or _is_index(path.parent):
            raise SourceError(
                f"{str(path)!r} is an index or lies in one.",
                code="path_is_index",
                hint="Name the folder of the documents.",
            )
        if path.is_file():
            self._keep(path, path.name, (path, None))
        elif path.is_dir():
            for relative in sorted(self._walk(path)):
                self._keep(path / relative, relative, (path, relative))
        else:
            raise SourceError(
                f"There is no file or folder {str(path)!r}.",
                code="path_missing",
                hint="Check the spelling, and the folder that the command runs in.",
            )

    def _keep(self, path: Path, relative: str, place: tuple[Path, str | None]) -> None:
        if not _is_text(relative):
            self._cannot_name(relative)
            return
        resolved = str(path.resolve())
        if resolved not in self._seen:
            self._seen.add(resolved)
            self.files.append(place)

    def _walk(self, root: Path) -> Iterator[str]:
        for folder, folders, names in os.walk(root, onerror=self._cannot_list):
            folders[:] = [
                name
                for name in folders
                if not name.startswith(".") and self._may_enter(folder, name)
            ]
            for name in names:
                path = Path(folder, name)
                if name.startswith(".") or name in _OURS or not self._may_read(root, path):
                    continue
                yield path.relative_to(root).as_posix()

    def _may_enter(self, folder: str, name: str) -> bool:
        path = Path(folder, name)
        if path.is_symlink():
            self._refuse(path, "a link to a folder is not followed")
            return False
        return not _is_index(path)

    def _may_read(self, root: Path, path: Path) -> bool:
        if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            self._refuse(path, "the link leads out of the folder that is ingested")
            return False
        return path.is_file()

    def _refuse(self, path: Path, reason: str) -> None:
        self.refused.append(FailedSource(str(path), "symlink_refused", f"{path}: {reason}."))

    def _cannot_name(self, relative: str) -> None:
        shown = ascii(relative)
        message = f"{shown}: its name is not text in the encoding of the file system. Rename it."
        self.failed.append(FailedSource(shown, "bad_file_name", message))

    def _cannot_list(self, error: OSError) -> None:
        self.failed.append(
            FailedSource(str(error.filename), "unreadable", f"{error.filename}: {error.strerror}.")
        )


def _is_index(folder: Path) -> bool:
    """Whether the folder holds an index of ours, or one that is being made."""
    path = folder / INDEX_FILE
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            header = file.read(72)
    except OSError:
        return True
    return not header or header[68:] == INDEX_MARK


def _is_text(name: str) -> bool:
    """Whether every byte of the name could be decoded; others stand as lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)


def read_source(path: Path, *, max_bytes: int = DEFAULT_MAX_BYTES) -> SourceBytes:
    """The bytes of a file with their hash.

    Raises:
        SourceError: ``unreadable``, with the system's reason.
        ParseError: ``too_large`` when the file holds more than ``max_bytes``.
    """
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise SourceError(
            f"{path}: {error.strerror or error}.",
            code="unreadable",
            hint="Check that the file is still there and that you may read it.",
        ) from None
    if len(data) > max_bytes:
        raise ParseError(
            f"{path}: larger than the limit of {max_bytes} bytes.",
            code="too_large",
            hint="Split the file, or raise the limit.",
        )
    return SourceBytes(data, file_hash_of(data))


def file_hash_of(data: bytes) -> str:
    """``sha256:<hex>`` of raw bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()
