"""Files inside files: archives, mailboxes and messages become documents for each of their members.

Members are taken out by the parsing process and handed on in memory, so they pass through the same
reading, telling and parsing as files do. What one file of an archive costs is bounded by its parser;
what one outermost file may hold in all, however deeply nested, is bounded here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from evidencedesk.errors import ParseError
from evidencedesk.ingestion.load import SourceFile
from evidencedesk.ingestion.sandbox import ParserPool
from evidencedesk.model import FailedSource
from evidencedesk.model.contents import Contents

DEEPEST = 3
MOST_MEMBERS = 20_000
MOST_BYTES = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Expansion:
    """The files inside a file.

    Attributes:
        files: to be read like any others.
        failed: members that were not taken out, and why.
    """

    files: tuple[SourceFile, ...] = ()
    failed: tuple[FailedSource, ...] = ()


class Expander:
    """Takes files out of files, and counts what each outermost file has given so far."""

    def __init__(self, parsers: ParserPool) -> None:
        """Members are taken out in the process of ``parsers``."""
        self._parsers = parsers
        self._members: Counter[Path] = Counter()
        self._bytes: Counter[Path] = Counter()

    def expand(self, file: SourceFile, data: bytes, media_type: str) -> Expansion:
        """The files inside ``file``.

        Raises:
            ParseError: it cannot be opened, or is refused: nested more than three deep, or more
                members or bytes in its outermost file than the limits allow.
        """
        if len(file.inside) >= DEEPEST:
            raise _refused(file, f"files are nested more than {DEEPEST} deep")
        contents = self._parsers.members(data, file.relative, media_type)
        self._count(file, contents)
        return Expansion(
            files=tuple(file.member(member.name, member.data) for member in contents.members),
            failed=tuple(
                FailedSource(f"{file.relative}!/{each.source}", each.code, each.message)
                for each in contents.refused
            ),
        )

    def _count(self, file: SourceFile, contents: Contents) -> None:
        self._members[file.path] += len(contents.members)
        self._bytes[file.path] += sum(len(member.data) for member in contents.members)
        if self._members[file.path] > MOST_MEMBERS:
            raise _refused(file, f"more than {MOST_MEMBERS} files in {file.path.name}")
        if self._bytes[file.path] > MOST_BYTES:
            raise _refused(file, f"more than {MOST_BYTES} bytes in {file.path.name}")


def _refused(file: SourceFile, reason: str) -> ParseError:
    return ParseError(
        f"{file.relative}: not opened, {reason}.",
        code="refused",
        hint="Unpack it yourself if you trust it, and ingest the folder.",
    )
