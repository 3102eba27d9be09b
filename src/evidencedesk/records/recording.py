"""Writing a receipt: after every answer, in the index's own database, or the caller hears of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from evidencedesk.access import Principal, Status
from evidencedesk.model import Answer, Evidence, Retrieval
from evidencedesk.model.receipt import (
    AuditEvent,
    Receipt,
    commitment,
    document_hash,
    keyed_hash,
    piece_key,
    utc_text,
)
from evidencedesk.protocols import Clock, Ledger
from evidencedesk.records.pieces import INDEX, UNSTORED, Piece, pieces_of

FORMAT = 1
NO_RECEIPT = "receipt: the index is read-only here, so none was written"
ANONYMOUS = ""
"""Whose key is used for askers without a name. Nobody is the subject of their receipts."""


@dataclass(frozen=True, slots=True, eq=False)
class Occasion:
    """What a receipt says of how an answer came about.

    Attributes:
        principal: who asked.
        statuses: statuses of documents looked at.
        retrieval: what was found.
        evidence: what the generator was shown, None when it was not asked.
        prompt_version: version of the rules it was given; empty when it was not asked.
        generation: the generation that answered.
        revision: the index's revision when the question was asked.
        cached_from: id of the answer that is given again; empty for a new one.
    """

    principal: Principal
    statuses: frozenset[Status]
    retrieval: Retrieval
    evidence: Evidence | None = None
    prompt_version: str = ""
    generation: int = 0
    revision: int = 0
    cached_from: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Recorder:
    """Writes receipts.

    Attributes:
        ledger: where they are kept.
        clock: when they were written.
        new_key: makes a subject's key, 32 random bytes.
        record_content: whether questions, claims and quotes are kept, or keyed hashes only.
        retention: how long receipts are kept, None for ever.
        settings: the settings that bear on answers, recorded with each.
    """

    ledger: Ledger
    clock: Clock
    new_key: Callable[[], bytes]
    record_content: bool = True
    retention: timedelta | None = None
    settings: Mapping[str, Any] | None = None

    def record(self, answer: Answer, occasion: Occasion) -> Answer:
        """Write the receipt of ``answer`` and its entry in the chain, in one transaction.

        An index that this process cannot write has no receipt, and the answer comes back with
        that named in ``degraded``.

        Raises:
            IndexUnavailableError: ``index_busy`` or ``disk_full``; the answer is not to be shown.
        """
        if not self.ledger.writable:
            return replace(answer, degraded=(*answer.degraded, NO_RECEIPT))
        principal, now = occasion.principal, self.clock.now()
        name = principal.subject or ANONYMOUS
        key = self.ledger.known_key(principal.tenant, name)
        if key is None:
            key = self.ledger.subject_key(principal.tenant, name, self.new_key())
        receipt = self._receipt(answer, occasion, key, now)
        self.ledger.append(_event(receipt, principal, occasion.retrieval), receipt, key=key)
        if self.retention is not None:
            event = AuditEvent(principal.tenant, now, "expire", permission="operator")
            self.ledger.expire(event, now - self.retention)
        return answer

    def _receipt(self, answer: Answer, occasion: Occasion, key: bytes, now: datetime) -> Receipt:
        index = {"generation": occasion.generation, "revision": occasion.revision}
        pieces = [
            Piece(INDEX, index),
            *pieces_of(answer, occasion.retrieval, occasion.evidence),
        ]
        principal = occasion.principal
        subject = subject_hash(key, principal.tenant, principal.subject or ANONYMOUS)
        record = {
            "format": FORMAT,
            "at": utc_text(now),
            "tenant": principal.tenant,
            "roles": sorted(principal.roles),
            "administrator": principal.administrator,
            "statuses": sorted(status.value for status in occasion.statuses),
            "subject": subject,
            "question_hash": keyed_hash(key, "question", answer.question),
            "content": self.record_content,
            "prompt_version": occasion.prompt_version,
            "settings": dict(self.settings or {}),
            "cached_from": occasion.cached_from or None,
            **_outcome(answer),
            **_sources(answer, occasion),
            "pieces": {each.label: _committed(each, key, answer.answer_id) for each in pieces},
        }
        return Receipt(
            tenant=principal.tenant,
            answer_id=answer.answer_id,
            subject=subject,
            at=now,
            reason=answer.reason.value,
            record=record,
            content={each.label: each.value for each in pieces if self._stores(each)},
            documents=documents_of(record),
        )

    def _stores(self, piece: Piece) -> bool:
        kept = self.record_content or piece.label == INDEX
        return kept and not piece.label.startswith(UNSTORED)


def subject_hash(key: bytes, tenant: str, subject: str) -> str:
    """How receipts and the chain name a subject."""
    return keyed_hash(key, "subject", tenant, subject)


def documents_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the documents whose content may be in a receipt."""
    named: Iterable[str] = (
        document_id for piece in record["pieces"].values() for document_id in piece["documents"]
    )
    return tuple(dict.fromkeys(named))


def permission_of(principal: Principal) -> str:
    """The rights under which something was done, as the chain says it."""
    if principal.administrator:
        return "administrator"
    roles = "roles: " + ", ".join(sorted(principal.roles)) if principal.roles else "no roles"
    return f"auditor, {roles}" if principal.auditor else roles


def _event(receipt: Receipt, principal: Principal, retrieval: Retrieval) -> AuditEvent:
    used = sorted({hit.chunk.document_id for hit in retrieval.hits})
    return AuditEvent(
        tenant=receipt.tenant,
        at=receipt.at,
        action="ask",
        subject=receipt.subject,
        permission=permission_of(principal),
        documents=tuple(document_hash(receipt.tenant, each) for each in used),
        verdict=receipt.reason,
        answer_id=receipt.answer_id,
        digest=receipt.digest,
    )


def _committed(piece: Piece, key: bytes, answer_id: str) -> dict[str, Any]:
    own = piece_key(key, answer_id, piece.label)
    return {"commitment": commitment(own, piece.value), "documents": list(piece.documents)}


def _outcome(answer: Answer) -> dict[str, Any]:
    """The answer without any content."""
    whole = answer.to_json()
    kept = (
        "answer_id reason abstained confidence threshold generator model fallback_from attempts "
        "degraded usage timing_ms retrieved"
    )
    return {
        **{name: whole[name] for name in kept.split()},
        "claims": [
            {"support": claim["support"], "citations": claim["citations"]}
            for claim in whole["claims"]
        ],
        "dropped_claims": [claim.reason.value for claim in answer.dropped_claims],
        "checks": [
            {name: check[name] for name in ("check", "claim", "passed")}
            for check in whole["checks"]
        ],
    }


def _sources(answer: Answer, occasion: Occasion) -> dict[str, Any]:
    """Which texts were used, by hash, and which spans of them were quoted."""
    chunks = [hit.chunk for hit in occasion.retrieval.hits]
    return {
        "sources": {chunk.document_id: chunk.content_hash for chunk in chunks},
        "left_out": list(occasion.evidence.dropped) if occasion.evidence else [],
        "citations": [
            {
                "chunk_id": citation.chunk_id,
                "document_id": citation.document_id,
                "content_hash": citation.content_hash,
                "span": [citation.location.start, citation.location.end],
                "quote": [citation.quote_location.start, citation.quote_location.end],
            }
            for citation in answer.citations
        ],
    }
