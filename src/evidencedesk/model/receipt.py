"""What is kept of an answer, and the chain that shows it was kept.

A receipt has two halves. The *record* holds no content: ids, hashes, scores, checks, counts, and for
every piece of content a *commitment*, an HMAC-SHA256 (RFC 2104) under a key of that piece. The
*content* holds the pieces: question, claims, quotes. Content can be blanked, and the record with its
digest stays as it was. Piece keys are derived from a key of the subject's own, so that erasing that
key leaves commitments that nobody can test a guess against.

The audit chain is a list of entries without content, each with the hash of the one before (Haber and
Stornetta, How to Time-Stamp a Digital Document, 1991).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

KEY_BYTES = 32
"""Length of a subject's key and of a piece's key."""

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)

NO_ENTRY = "sha256:" + "0" * 64
"""What the first entry of a chain has as the hash of the one before."""


def canonical_json(value: Any) -> str:
    """The one way in which a value is written for hashing: sorted keys, no blanks, ASCII only.

    Raises:
        ValueError: a number that is not finite.
    """
    return _CANONICAL.encode(value)


def digest_of(value: Any) -> str:
    """``sha256:<hex>`` of a value's canonical JSON."""
    return "sha256:" + hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def keyed_hash(key: bytes, *parts: str) -> str:
    """HMAC-SHA256 of the parts under ``key``, hex; where one part ends and the next begins counts."""
    return hmac.digest(key, canonical_json(parts).encode("ascii"), "sha256").hex()


def piece_key(subject_key: bytes, answer_id: str, label: str) -> bytes:
    """The key of one piece of content of one answer, 32 bytes."""
    return bytes.fromhex(keyed_hash(subject_key, "piece", answer_id, label))


def commitment(key: bytes, value: Any) -> str:
    """What a record holds of a piece of content: its canonical JSON hashed under the piece's key."""
    return hmac.digest(key, canonical_json(value).encode("ascii"), "sha256").hex()


def document_hash(tenant: str, document_id: str) -> str:
    """How the chain names a document."""
    return digest_of(["document", tenant, document_id])


def utc_text(time: datetime) -> str:
    """ISO 8601 in UTC with microseconds, so that texts sort as times do."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True, eq=False)
class Receipt:
    """What is kept of one answer.

    Attributes:
        tenant: whose index it was asked of.
        answer_id: id of the answer.
        subject: keyed hash of who asked, hex.
        at: when it was answered.
        reason: the answer's reason.
        record: everything but content; JSON.
        content: label (``question``, ``claim:0``, ``quote:1``, ...) to the piece; empty once erased.
        documents: ids of the documents cited, in the order cited.
        position: its number in the tenant's audit chain; 0 before it is stored.
    """

    tenant: str
    answer_id: str
    subject: str
    at: datetime
    reason: str
    record: Mapping[str, Any]
    content: Mapping[str, Any]
    documents: tuple[str, ...] = ()
    position: int = 0

    @property
    def digest(self) -> str:
        """Of the record; unchanged by any erasure of content."""
        return digest_of(self.record)


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One thing that was done, without content.

    Attributes:
        tenant: in whose index.
        at: when.
        action: ``ask export feedback erase_subject erase_document expire``.
        subject: keyed hash of who did it, hex; empty for the operator.
        permission: under which rights: ``operator``, ``administrator``, ``auditor`` or the roles held.
        documents: hashes of the documents that were used (:func:`document_hash`).
        verdict: the answer's reason, or what came of it.
        answer_id: the answer it is about; empty for none.
        digest: digest of that answer's record; empty for none.
    """

    tenant: str
    at: datetime
    action: str
    subject: str = ""
    permission: str = ""
    documents: tuple[str, ...] = ()
    verdict: str = ""
    answer_id: str = ""
    digest: str = ""

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {
            "tenant": self.tenant,
            "at": utc_text(self.at),
            "action": self.action,
            "subject": self.subject,
            "permission": self.permission,
            "documents": list(self.documents),
            "verdict": self.verdict,
            "answer_id": self.answer_id,
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True, eq=False)
class AuditEntry:
    """An event at its place in its tenant's chain.

    Attributes:
        number: counts from 1 within the tenant.
        previous: hash of the entry before; :data:`NO_ENTRY` for the first.
        event: the event's JSON.
        hash: digest of the three above.
    """

    number: int
    previous: str
    event: Mapping[str, Any] = field(repr=False)
    hash: str = ""

    @classmethod
    def sealed(cls, number: int, previous: str, event: Mapping[str, Any]) -> AuditEntry:
        """The entry with the hash that belongs to it."""
        return cls(number, previous, event, entry_hash(number, previous, event))

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {
            "number": self.number,
            "previous": self.previous,
            "event": dict(self.event),
            "hash": self.hash,
        }


def entry_hash(number: int, previous: str, event: Mapping[str, Any]) -> str:
    """The hash that an entry with these values has."""
    return digest_of({"number": number, "previous": previous, "event": event})
