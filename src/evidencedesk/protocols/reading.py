"""What reads files: parsers, containers, detectors of what is masked, sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from evidencedesk.model import (
    ParsedDocument,
)
from evidencedesk.model.contents import Contents
from evidencedesk.model.source import SourceItem, Validators


class Parser(Protocol):
    """Turns the bytes of one format into canonical text with blocks and anchors.

    Run in a child process with limits when the bytes are untrusted. Never opens the network, a file
    or another program's output; everything it needs is in the bytes.
    """

    name: str
    version: str
    media_types: tuple[str, ...]

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse ``data``; ``file_name`` is a hint and is never opened.

        Raises:
            ParseError: with one of its codes when the content cannot be read.
            MetadataError: when front matter is wrong.
        """


class Container(Protocol):
    """The other half of a parser whose format holds files: archives, mailboxes, messages.

    Runs where the parser runs, under the same limits. Members are taken out in memory, become
    documents of their own, and are never trusted: what they say of rights can only narrow.
    """

    def members(self, data: bytes, file_name: str) -> Contents:
        """The files inside, their names cleaned and distinct, and those refused with the reason.

        Raises:
            ParseError: the file as a whole cannot be opened or may not be.
        """


class Detector(Protocol):
    """Finds one kind of personal data or secrets in a text.

    Attributes:
        kind: what it finds, in lower case; the placeholder is ``[KIND_1]``, ``[KIND_2]``, ...
    """

    kind: str

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans ``[start, end)`` in any order; they may overlap.

        ``text`` has digits of every script written as 0 to 9, compatibility forms (full width) as
        their plain ones, and no invisible characters.
        """


class Source(Protocol):
    """A place besides folders from which documents come: web pages, a site's map, a mailbox, a bucket.

    Folders are read by :func:`evidencedesk.ingestion.load.discover`. What any other source gives is
    not trusted: what a document says there of its own rights can only narrow.

    Attributes:
        root: recorded with every document of the source, so that a later run knows its own; a URL.
        complete: after ``items`` was read to its end, whether it named everything there is; only
            then may a document that did not come be taken for one that is gone.
    """

    root: str
    complete: bool

    def items(self, known: Mapping[str, Validators]) -> Iterator[SourceItem]:
        """What has become of each document, one after another, fetched when asked for.

        Nothing is raised for one document: a failure is an item, and the others go on.

        Args:
            known: what was said of documents the last time, by their address; only of those that
                need not come again when they are unchanged.
        """
