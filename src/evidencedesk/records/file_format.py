"""The shape of an exported answer, checked before anything in it is looked at."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Hex256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Offsets = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Open(BaseModel):
    """Holds more than is looked at; all of it is under the record's digest."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class FileCitation(_Open):
    """Which span of which chunk was quoted."""

    chunk_id: str
    document_id: str
    span: Offsets
    quote: Offsets


class FileClaim(_Open):
    """Which citations a claim rests on."""

    citations: list[Annotated[int, Field(ge=0)]]


class FilePiece(_Shape):
    """What was committed to."""

    commitment: Hex256
    documents: list[str]


class FileRecord(_Open):
    """The record, as far as its parts are looked at."""

    answer_id: str
    tenant: str
    at: str
    reason: str
    abstained: bool
    claims: list[FileClaim]
    citations: list[FileCitation]
    pieces: dict[str, FilePiece]


class FileContent(_Shape):
    """A piece of content with the key of its commitment."""

    key: Hex256
    value: Any


class FileEntry(_Shape):
    """The entry of the audit chain."""

    number: Annotated[int, Field(ge=1)]
    previous: Digest
    event: dict[str, Any]
    hash: Digest


class FileSignature(_Shape):
    """An Ed25519 signature (RFC 8032)."""

    algorithm: Literal["ed25519"]
    public_key: Hex256
    value: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


class AnswerFile(_Shape):
    """An exported answer."""

    format: Literal["evidencedesk-answer/1"]
    digest: Digest
    record: FileRecord
    content: dict[str, FileContent]
    chain: FileEntry
    signature: FileSignature | None
