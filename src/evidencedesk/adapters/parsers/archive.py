"""ZIP archives: the files in them, taken out in memory within limits; an archive itself has no text.

Never taken out: links, devices, encrypted entries, hidden files, names given twice, and whatever
would pass the limits on number, size and ratio. Nothing is written to disk and no name is a path.
"""

from __future__ import annotations

import io
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator

from evidencedesk.adapters.parsers.member_names import clean_name
from evidencedesk.errors import ParseError
from evidencedesk.model import FailedSource, ParsedDocument
from evidencedesk.model.contents import Contents, Member

MOST_ENTRIES = 10_000
MOST_BYTES = 200 * 1024 * 1024
MOST_MEMBER_BYTES = 100 * 1024 * 1024
MOST_RATIO = 200
SUSPICIOUS_BYTES = 8 * 1024 * 1024
_DIRECTORY_FLAG = 0x10
_UNIX = 3


class ArchiveParser:
    """Parser and container for ZIP archives."""

    name = "zip"
    version = "1"
    media_types = ("application/zip",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """No text: an archive's words are those of its members.

        Raises:
            ParseError: ``no_text``, always.
        """
        del data
        raise ParseError(
            f"{file_name}: an archive has no text of its own.",
            code="no_text",
            hint="Its files are documents of their own.",
        )

    def members(self, data: bytes, file_name: str) -> Contents:
        """The files in the archive; see :class:`evidencedesk.protocols.Container`.

        Raises:
            ParseError: ``damaged``, ``encrypted`` or ``refused``.
        """
        try:
            archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
            raise ParseError(
                f"{file_name}: not a readable ZIP archive ({error}).",
                code="damaged",
                hint="Pack it again.",
            ) from None
        entries = archive.infolist()
        self._check_whole(entries, len(data), file_name)
        unpacking = _Unpacking(archive)
        members = tuple(unpacking.members(entries))
        if entries and not members and unpacking.encrypted:
            raise ParseError(
                f"{file_name}: its files are protected with a password.",
                code="encrypted",
                hint="Unpack it and ingest the files.",
            )
        return Contents(members, tuple(unpacking.refused))

    def _check_whole(self, entries: list[zipfile.ZipInfo], size: int, file_name: str) -> None:
        total = sum(entry.file_size for entry in entries)
        reasons = [
            (len(entries) > MOST_ENTRIES, f"{len(entries)} entries, the limit is {MOST_ENTRIES}"),
            (total > MOST_BYTES, f"it unpacks to {total} bytes, the limit is {MOST_BYTES}"),
            (
                total > SUSPICIOUS_BYTES and total > MOST_RATIO * size,
                f"it unpacks to {total} bytes from {size}",
            ),
        ]
        for holds, reason in reasons:
            if holds:
                raise ParseError(
                    f"{file_name}: refused, {reason}.",
                    code="refused",
                    hint="Unpack it yourself if you trust it, and ingest the folder.",
                )


class _Unpacking:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.refused: list[FailedSource] = []
        self.encrypted = 0
        self._archive = archive
        self._names: set[str] = set()
        self._left = MOST_BYTES

    def members(self, entries: list[zipfile.ZipInfo]) -> Iterator[Member]:
        for entry in entries:
            name = clean_name(entry.filename)
            if entry.filename.endswith("/") or _is_hidden(name):
                continue
            reason = self._reason_against(entry, name)
            data = None if reason else self._read(entry, name)
            if reason:
                self._refuse(name, "refused", reason)
            if data is not None:
                yield Member(name, data)

    def _reason_against(self, entry: zipfile.ZipInfo, name: str) -> str:
        mode = stat.S_IFMT(entry.external_attr >> 16) if entry.create_system == _UNIX else 0
        if mode not in {0, stat.S_IFREG}:
            return "a link or a device"
        if entry.external_attr & _DIRECTORY_FLAG:
            return "a folder with content"
        if entry.file_size > MOST_MEMBER_BYTES:
            return f"{entry.file_size} bytes, the limit is {MOST_MEMBER_BYTES}"
        if entry.file_size > SUSPICIOUS_BYTES and entry.file_size > MOST_RATIO * max(
            entry.compress_size, 1
        ):
            return f"it unpacks to {entry.file_size} bytes from {entry.compress_size}"
        folded = unicodedata.normalize("NFKC", name).casefold()
        if folded in self._names:
            return "another file of the archive has the same name"
        self._names.add(folded)
        return ""

    def _read(self, entry: zipfile.ZipInfo, name: str) -> bytes | None:
        if entry.flag_bits & 0x1:
            self.encrypted += 1
            self._refuse(name, "encrypted", "protected with a password")
            return None
        limit = min(MOST_MEMBER_BYTES, self._left)
        try:
            with self._archive.open(entry) as member:
                data = member.read(limit + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            self._refuse(name, "damaged", str(error))
            return None
        except (RuntimeError, NotImplementedError) as error:
            self._refuse(name, "unsupported", str(error))
            return None
        if len(data) > limit:
            self._refuse(name, "refused", "it unpacks to more than it says")
            return None
        self._left -= len(data)
        return data

    def _refuse(self, name: str, code: str, reason: str) -> None:
        self.refused.append(FailedSource(name, code, f"{name}: not taken out, {reason}."))


def _is_hidden(name: str) -> bool:
    parts = name.split("/")
    return any(part.startswith((".", "__MACOSX")) for part in parts)
