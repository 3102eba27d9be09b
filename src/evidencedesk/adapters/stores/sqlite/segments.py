"""Segment files: parts laid out so that they can be mapped and used without being read.

A segment is written beside its place, synced, renamed and then registered in the database with its
size and checksum, so a registered file is whole. It is never changed. It is derived: whoever finds
it missing or damaged reads the rows of the database instead.

Layout: a header of 64 bytes, then the arrays of a part one after another, each starting at a
multiple of 64 bytes, all little-endian.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evidencedesk.adapters.stores.sqlite.parts import Part
from evidencedesk.adapters.stores.sqlite.postings import Postings

_MAGIC = b"EdSegmt\x01"
_HEADER = struct.Struct("<8sQQQQQQI")
_ALIGNMENT = 64
_COUNT_TYPES: dict[int, type[np.unsignedinteger]] = {1: np.uint8, 2: np.uint16, 4: np.uint32}
_Scalar = TypeVar("_Scalar", bound=np.generic)


class SegmentError(Exception):
    """A segment file that cannot be used; never leaves the store."""


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A registered segment: the live chunks that slots ``first`` to ``last`` had when written."""

    id: int
    first: int
    last: int
    rows: int
    file: str
    size: int
    checksum: str


def write_segment(part: Part, path: Path) -> tuple[int, str]:
    """Write ``part`` to ``path``; returns its size in bytes and its SHA-256 in hex."""
    beside = path.with_suffix(".part")
    digest = hashlib.sha256()
    size = 0
    descriptor = os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        for piece in _pieces(part):
            file.write(piece)
            digest.update(piece)
            size += len(piece)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    _sync_folder(path.parent)
    return size, digest.hexdigest()


def open_segment(path: Path, row: SegmentRow) -> Part:
    """Map a registered segment.

    Raises:
        SegmentError: when the file is missing, has another size or another header.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != row.size:
                raise SegmentError(f"{path.name} has {size} bytes, {row.size} are registered")
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except OSError as error:
        raise SegmentError(f"{path.name} cannot be read ({error.strerror})") from error
    return _mapped_part(mapped, path.name, row)


def verify_segment(path: Path, row: SegmentRow) -> str | None:
    """What is wrong with the file, or None."""
    try:
        open_segment(path, row)
        with path.open("rb") as file:
            checksum = hashlib.file_digest(file, "sha256").hexdigest()
    except (SegmentError, OSError) as error:
        return str(error)
    return None if checksum == row.checksum else f"{path.name} does not have its checksum"


def _mapped_part(mapped: mmap.mmap, name: str, row: SegmentRow) -> Part:
    rows, dimensions, terms, entries, width = _read_header(mapped, name)
    if rows != row.rows or width not in _COUNT_TYPES:
        raise SegmentError(f"{name} does not have the {row.rows} rows registered")
    cursor = _Cursor(mapped)
    return Part(
        slots=cursor.take(np.int64, rows),
        lengths=cursor.take(np.uint32, rows),
        scales=cursor.take(np.float32, rows),
        codes=cursor.take(np.int8, rows * dimensions).reshape(rows, dimensions),
        postings=Postings(
            terms=cursor.take(np.uint64, terms),
            offsets=cursor.take(np.uint32, terms + 1),
            rows=cursor.take(np.uint16, entries),
            counts=cursor.take(_COUNT_TYPES[width], entries),
        ),
        segment=row.id,
    )


def _read_header(mapped: mmap.mmap, name: str) -> tuple[int, int, int, int, int]:
    header = mapped[: _HEADER.size]
    if len(header) < _HEADER.size:
        raise SegmentError(f"{name} is too short")
    magic, rows, dimensions, terms, entries, width, size, check = _HEADER.unpack(header)
    if magic != _MAGIC or size != len(mapped) or check != zlib.crc32(header[:-4]):
        raise SegmentError(f"{name} has a damaged header")
    return rows, dimensions, terms, entries, width


class _Cursor:
    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped = mapped
        self._at = _aligned(_HEADER.size)

    def take(self, kind: type[_Scalar], count: int) -> NDArray[_Scalar]:
        array = np.frombuffer(self._mapped, kind, count, self._at)
        self._at = _aligned(self._at + array.nbytes)
        return array


def _pieces(part: Part) -> Iterator[bytes]:
    postings = part.postings
    arrays = (
        part.slots,
        part.lengths,
        part.scales,
        part.codes,
        postings.terms,
        postings.offsets,
        postings.rows,
        postings.counts,
    )
    size = _aligned(_HEADER.size) + sum(_aligned(array.nbytes) for array in arrays)
    header = _HEADER.pack(
        _MAGIC,
        len(part),
        part.dimensions,
        len(postings.terms),
        len(postings.rows),
        postings.counts.itemsize,
        size,
        0,
    )
    header = header[:-4] + struct.pack("<I", zlib.crc32(header[:-4]))
    yield header.ljust(_aligned(_HEADER.size), b"\0")
    for array in arrays:
        data = np.ascontiguousarray(array).tobytes()
        yield data.ljust(_aligned(len(data)), b"\0")


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
