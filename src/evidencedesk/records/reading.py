"""A receipt as one reader may read it: what he may not see now is withheld, and looks as if erased."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from evidencedesk.model.receipt import Receipt
from evidencedesk.records.pieces import INDEX

UNAVAILABLE = "source no longer available to you"
NOT_RECORDED = "not recorded"
ERASED = "erased"

_PLAIN = [
    "at",
    "tenant",
    "roles",
    "administrator",
    "statuses",
    "reason",
    "abstained",
    "confidence",
    "threshold",
    "generator",
    "model",
    "fallback_from",
    "attempts",
    "degraded",
    "usage",
    "timing_ms",
    "prompt_version",
    "settings",
    "cached_from",
]


def readable(
    receipt: Receipt, visible: Collection[str], *, administrator: bool, subject: str | None
) -> dict[str, Any]:
    """The receipt as JSON, for a reader who is its subject or an administrator.

    Args:
        receipt: the receipt.
        visible: ids of the documents that this reader may see now, of any status.
        administrator: whether the reader is one; only they are told the index's revision.
        subject: who asked, where that is known.

    Returns:
        Keys as in an answer, with ``asked_by``, ``at``, ``settings``, ``digest`` of the record and
        ``position`` in the chain. A citation whose source is not to be seen is
        ``{"available": False, "note": ...}``; a claim that rests on it has no text.
    """
    record, shown = receipt.record, _Shown(receipt, visible)
    return {
        "answer_id": receipt.answer_id,
        "asked_by": subject,
        "question": shown.value("question"),
        **{name: record[name] for name in _PLAIN},
        "text": _text(receipt, shown),
        "note": shown.value("note") or "",
        "claims": [
            {"text": shown.value(f"claim:{number}"), **claim}
            for number, claim in enumerate(record["claims"])
        ],
        "dropped_claims": _dropped(record["dropped_claims"], shown),
        "citations": [
            _citation(shown, number, cited) for number, cited in enumerate(record["citations"])
        ],
        "retrieved": [
            chunk for chunk in record["retrieved"] if _document(chunk["chunk_id"]) in visible
        ],
        "checks": _checks(record["checks"], shown),
        "index": receipt.content.get(INDEX) if administrator else None,
        "content": _state(receipt),
        "digest": receipt.digest,
        "position": receipt.position,
    }


class _Shown:
    """The pieces of a receipt that one reader may see."""

    def __init__(self, receipt: Receipt, visible: Collection[str]) -> None:
        self._receipt = receipt
        self._visible = visible

    @property
    def recorded(self) -> bool:
        """Whether content was kept when the answer was given."""
        return bool(self._receipt.record["content"])

    def value(self, label: str) -> Any:
        """The piece, or None when it is erased, not recorded, or not for this reader."""
        return self._receipt.content.get(label) if self.open(label) else None

    def open(self, label: str) -> bool:
        """Whether the reader may see every document that the piece may repeat."""
        piece = self._receipt.record["pieces"].get(label, {})
        return all(self.sees(document_id) for document_id in piece.get("documents", ()))

    def sees(self, document_id: str) -> bool:
        """Whether the reader may see the document now."""
        return document_id in self._visible


def _citation(shown: _Shown, number: int, cited: dict[str, Any]) -> dict[str, Any]:
    described = shown.value(f"citation:{number}")
    if not shown.open(f"citation:{number}"):
        return {"available": False, "note": UNAVAILABLE}
    if described is None:
        note = UNAVAILABLE if shown.recorded else NOT_RECORDED
        return {"available": False, "note": note, **({} if shown.recorded else cited)}
    also = [each for each in described["also_in"] if shown.sees(each)]
    return {
        **described,
        "also_in": also,
        "quote": shown.value(f"quote:{number}"),
        "available": True,
        "note": "",
    }


def _text(receipt: Receipt, shown: _Shown) -> str | None:
    if receipt.record["abstained"]:
        text = shown.value("text")
        return None if text is None else str(text)
    claims = [shown.value(f"claim:{number}") for number in range(len(receipt.record["claims"]))]
    return None if None in claims else " ".join(claims)


def _dropped(reasons: list[str], shown: _Shown) -> list[dict[str, Any]]:
    texts = shown.value("dropped") or [None] * len(reasons)
    return [{"text": text, "reason": why} for text, why in zip(texts, reasons, strict=True)]


def _checks(checks: list[dict[str, Any]], shown: _Shown) -> list[dict[str, Any]]:
    details = shown.value("checks") or [None] * len(checks)
    return [{**check, "detail": detail} for check, detail in zip(checks, details, strict=True)]


def _state(receipt: Receipt) -> str:
    if not receipt.record["content"]:
        return NOT_RECORDED
    return "recorded" if "question" in receipt.content else ERASED


def _document(chunk_id: str) -> str:
    return chunk_id.rpartition(":c")[0]
