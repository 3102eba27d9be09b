"""Receipts, entries of the audit chain and feedback, as they are stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from evidencedesk.adapters.stores.shared.codecs import decode_time
from evidencedesk.model.feedback import Feedback, FeedbackVerdict
from evidencedesk.model.receipt import (
    NO_ENTRY,
    AuditEntry,
    AuditEvent,
    Receipt,
    canonical_json,
    utc_text,
)

COLUMNS = "number, tenant, answer_id, subject, at, reason, record, content, position"


def receipt_values(
    receipt: Receipt, position: int, content: Mapping[str, Any]
) -> tuple[str, str, str, str, str, str, str, int]:
    """A receipt with ``content`` for :data:`COLUMNS` after the number."""
    return (
        receipt.tenant,
        receipt.answer_id,
        receipt.subject,
        utc_text(receipt.at),
        receipt.reason,
        canonical_json(receipt.record),
        json.dumps(dict(content)),
        position,
    )


def decode_receipt(row: tuple[int, str, str, str, str, str, str, str, int]) -> Receipt:
    """The receipt of a row of :data:`COLUMNS`."""
    _, tenant, answer_id, subject, at, reason, stored, content, position = row
    record = json.loads(stored)
    return Receipt(
        tenant=tenant,
        answer_id=answer_id,
        subject=subject,
        at=decode_time(at),
        reason=reason,
        record=record,
        content=_Content(content),
        documents=tuple(
            dict.fromkeys(name for each in record["pieces"].values() for name in each["documents"])
        ),
        position=position,
    )


def without(
    document_id: str, record: Mapping[str, object], content: Mapping[str, object]
) -> dict[str, object]:
    """The content of a receipt without the pieces that may repeat the document."""
    pieces = record["pieces"]
    assert isinstance(pieces, dict)
    return {
        label: value
        for label, value in content.items()
        if document_id not in pieces.get(label, {}).get("documents", ())
    }


def entry_after(last: tuple[int, str] | None, event: AuditEvent) -> AuditEntry:
    """The entry of ``event`` behind the last one of its chain, given by number and hash."""
    number, previous = last or (0, NO_ENTRY)
    return AuditEntry.sealed(number + 1, previous, event.to_json())


def entry_values(event: AuditEvent, entry: AuditEntry) -> tuple[str, int, str, str, str]:
    """Tenant, number, hash of the entry before, event and hash."""
    return event.tenant, entry.number, entry.previous, canonical_json(entry.event), entry.hash


def decode_entries(newest_first: Iterable[tuple[int, str, str, str]]) -> list[AuditEntry]:
    """Entries, the oldest first, from number, hash before, event and hash of each."""
    return [
        AuditEntry(number, previous, json.loads(event), found)
        for number, previous, event, found in reversed([*newest_first])
    ]


def feedback_values(feedback: Feedback) -> tuple[str, str, str, str, str, str]:
    """Subject, time, verdict and note, and tenant and answer to which they belong."""
    return (
        feedback.subject,
        utc_text(feedback.at),
        feedback.verdict.value,
        feedback.note,
        feedback.tenant,
        feedback.answer_id,
    )


def decode_feedback(
    tenant: str, rows: Iterable[tuple[str, str, str, str, str]]
) -> tuple[Feedback, ...]:
    """Feedback from answer, subject, time, verdict and note of each."""
    return tuple(
        Feedback(tenant, answer, subject, decode_time(at), FeedbackVerdict(verdict), note)
        for answer, subject, at, verdict, note in rows
    )


class _Content(Mapping[str, Any]):
    """Content that is decoded when it is first looked at: most rechecks never do."""

    def __init__(self, stored: str) -> None:
        self._stored = stored

    @cached_property
    def _pieces(self) -> dict[str, Any]:
        return dict(json.loads(self._stored))

    def __getitem__(self, label: str) -> Any:
        return self._pieces[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)
