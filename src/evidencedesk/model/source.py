"""What comes out of a source of documents that is no folder: new bytes, nothing new, or a loss."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server said of the state of a document, to be asked about the next time (RFC 9110, 8.8).

    Attributes:
        etag: its entity tag, as sent.
        modified: its Last-Modified date, as sent.
    """

    etag: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Bytes of one document.

    Attributes:
        source: where a person can open it: its address.
        data: its bytes.
        file_name: a name that says by its extension what it is, where the content leaves that open.
        validators: for the next time.
    """

    source: str
    data: bytes
    file_name: str
    validators: Validators = Validators()


@dataclass(frozen=True, slots=True)
class NotModified:
    """The document at ``source`` is the one fetched before."""

    source: str


@dataclass(frozen=True, slots=True)
class Gone:
    """There is no document at ``source`` any more; ``reason`` says who says so."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class NotFetched:
    """The document at ``source`` could not be had; its last good version stays.

    ``code`` is ``refused`` when a rule forbids to fetch it.
    """

    source: str
    code: str
    message: str


SourceItem = Fetched | NotModified | Gone | NotFetched
