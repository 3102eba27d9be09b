"""A whole index in one file: gzip of JSON lines, one per piece, ended by their count and SHA-256.

The file holds everything, keys of subjects included: who can read it can read every document and
every receipt. It is made readable by its owner only, beside its name first, and put in place whole.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from evidencedesk.errors import IndexDamagedError, UsageError
from evidencedesk.model.moving import (
    MovedChunk,
    MovedDocument,
    MovedEntry,
    MovedGeneration,
    MovedIndex,
    MovedPiece,
    MovedPlacement,
    MovedRow,
)

FORMAT = ["evidencedesk-index", 1]
_END = "end"
_KINDS = {
    kind.__name__: kind
    for kind in (
        MovedIndex,
        MovedGeneration,
        MovedDocument,
        MovedPlacement,
        MovedEntry,
        MovedRow,
    )
}
_LEVEL = 1
_DAMAGED = (OSError, EOFError, zlib.error, ValueError, TypeError, KeyError, IndexError)


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """What a file holds.

    Attributes:
        file: the file.
        documents: documents in it.
        chunks: chunks of all generations.
        receipts: receipts of answers.
        digest: SHA-256 of its lines, ``sha256:<hex>``.
    """

    file: str
    documents: int
    chunks: int
    receipts: int
    digest: str


def write_backup(pieces: Iterable[MovedPiece], file: Path) -> BackupSummary:
    """Write ``pieces`` to ``file``.

    Raises:
        UsageError: ``file_exists`` or ``file_unwritable``.
    """
    part = file.with_name(file.name + ".part")
    try:
        if file.exists():
            raise _exists(file)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=_LEVEL, mtime=0) as lines:
                summary = _write_lines(pieces, lines, file)
            raw.flush()
            os.fsync(raw.fileno())
        part.rename(file)
    except OSError as error:
        raise UsageError(
            f"{str(file)!r} cannot be written: {error.strerror}.",
            code="file_unwritable",
            hint="Name a file in a folder that you may write to, on a disk with room.",
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return summary


def read_backup(file: Path) -> Iterator[MovedPiece]:
    """The pieces of ``file``; whether all were there and unchanged is known only after the last.

    Raises:
        UsageError: ``backup_missing``.
        IndexDamagedError: ``backup_damaged``: cut short, changed, or not such a file.
    """
    if not file.is_file():
        raise UsageError(
            f"There is no file {str(file)!r}.",
            code="backup_missing",
            hint="Name a file that `evidencedesk backup` or `evidencedesk export` wrote.",
        )
    try:
        with gzip.open(file, "rb") as lines:
            yield from _read_lines(lines)
    except _DAMAGED as error:
        raise IndexDamagedError(
            f"{str(file)!r} is cut short, was changed, or is no backup of an index ({error}).",
            code="backup_damaged",
            hint="Nothing was taken from it; use another backup.",
        ) from error


def _write_lines(pieces: Iterable[MovedPiece], lines: gzip.GzipFile, file: Path) -> BackupSummary:
    seen = hashlib.sha256()
    count = documents = chunks = receipts = 0
    lines.write(_line(FORMAT))
    for piece in pieces:
        written = _line([type(piece).__name__, *_values(piece)])
        seen.update(written)
        lines.write(written)
        count += 1
        documents += isinstance(piece, MovedDocument)
        chunks += len(piece.chunks) if isinstance(piece, MovedPlacement) else 0
        receipts += isinstance(piece, MovedRow) and piece.table == "receipts"
    lines.write(_line([_END, count, seen.hexdigest()]))
    return BackupSummary(str(file), documents, chunks, receipts, f"sha256:{seen.hexdigest()}")


def _read_lines(lines: gzip.GzipFile) -> Iterator[MovedPiece]:
    seen = hashlib.sha256()
    count = 0
    ended = False
    if json.loads(lines.readline()) != FORMAT:
        raise ValueError("unknown format")
    for line in lines:
        if ended:
            raise ValueError("more after the end")
        kind, *values = json.loads(line, object_hook=_bytes_of)
        if kind == _END:
            ended = values == [count, seen.hexdigest()]
            if not ended:
                raise ValueError("the checksum differs")
            continue
        seen.update(line)
        count += 1
        yield _piece(kind, values)
    if not ended:
        raise ValueError("the end is missing")


def _piece(kind: str, values: list[Any]) -> MovedPiece:
    made = _KINDS[kind]
    if made is MovedPlacement:
        values[-1] = tuple(MovedChunk(*chunk) for chunk in values[-1])
    elif made is not MovedIndex:
        values = [_tuples(value) for value in values]
    return made(*values)


def _values(piece: MovedPiece) -> list[Any]:
    if isinstance(piece, MovedPlacement):
        chunks = [astuple(chunk) for chunk in piece.chunks]
        return [piece.generation, piece.tenant, piece.document_id, chunks]
    return [getattr(piece, field.name) for field in fields(piece)]


def _line(value: Any) -> bytes:
    return json.dumps(value, default=_encoded, separators=(",", ":")).encode() + b"\n"


def _encoded(value: Any) -> dict[str, str]:
    if not isinstance(value, bytes):
        raise TypeError(value)
    return {"base64": base64.b64encode(value).decode("ascii")}


def _bytes_of(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"], validate=True) if value.keys() == {"base64"} else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _exists(file: Path) -> UsageError:
    return UsageError(
        f"{str(file)!r} is there already; nothing was written.",
        code="file_exists",
        hint="Name another file.",
    )
