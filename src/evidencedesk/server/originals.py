"""Uploaded bytes: each upload's file in a folder of its own, under a name that is no path."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import unicodedata
from pathlib import Path

from evidencedesk.ingestion.load import MANIFEST_NAME, SETTINGS_NAME
from evidencedesk.model import Document

_SEPARATORS = re.compile(r"[/\\]")
_MOST_BYTES = 200
_RESERVED = frozenset({MANIFEST_NAME, SETTINGS_NAME})
_KEY = re.compile(r"[0-9a-f]{16,64}")


def safe_name(name: str) -> str:
    """The last part of ``name``, without anything that a file system or a page could take amiss.

    Control characters, bidirectional overrides, characters of no use in a name and leading dots
    are dropped; a long name keeps its extension.
    """
    last = _SEPARATORS.split(unicodedata.normalize("NFC", name))[-1]
    kept = "".join(char for char in last if unicodedata.category(char)[0] != "C" and char != ":")
    kept = " ".join(kept.split()).lstrip(". ")
    if not kept or kept.lower() in _RESERVED:
        kept = f"document-{kept}" if kept else "document"
    stem, dot, extension = kept.rpartition(".")
    if len(kept.encode()) <= _MOST_BYTES:
        return kept
    suffix = f"{dot}{extension}" if stem and len(extension) <= 10 else ""
    room = _MOST_BYTES - len(suffix.encode())
    return (stem or kept).encode()[:room].decode("utf-8", "ignore") + suffix


class Originals:
    """The folders ``originals`` (what is in the index) and ``uploads`` (what is on its way).

    Args:
        folder: where both lie.
    """

    def __init__(self, folder: Path) -> None:
        self._kept = folder / "originals"
        self._coming = folder / "uploads"

    def folder(self, key: str) -> Path:
        """The folder of one upload's file.

        Raises:
            ValueError: ``key`` is not one of ours.
        """
        if not _KEY.fullmatch(key):
            raise ValueError(key)
        return self._kept / key

    def key_of(self, root: str) -> str | None:
        """The key of the folder ``root``; None when it is no upload's."""
        path = Path(root)
        same = path.parent.resolve() == self._kept.resolve()
        return path.name if same and _KEY.fullmatch(path.name) else None

    def incoming(self, job_id: str, number: int) -> Path:
        """Where a file waits to be read; its folder is made."""
        folder = self._coming / job_id
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / str(number)

    def keep(self, waiting: Path, key: str, name: str) -> None:
        """Put a file that waits where it stays, in one step; nothing when it is there already."""
        folder = self.folder(key)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if waiting.exists():
            waiting.replace(folder / name)

    def kept(self, key: str, name: str) -> Path:
        """Where a file stays."""
        return self.folder(key) / name

    def drop_incoming(self, job_id: str) -> None:
        """Remove what a job left behind."""
        shutil.rmtree(self._coming / job_id, ignore_errors=True)

    def drop(self, key: str) -> None:
        """Remove the file of an upload."""
        shutil.rmtree(self.folder(key), ignore_errors=True)

    def read(self, document: Document) -> bytes | None:
        """The very bytes that ``document`` was read from; None when they are not to be had.

        They are given only when their hash is the document's: a file that was changed since may hold
        what this reader must not see.
        """
        if not document.root or "!/" in document.source:
            return None
        path = Path(document.root, document.source)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            data = file.read()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        return data if digest == document.file_hash else None
