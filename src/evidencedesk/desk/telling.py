"""What is told of receipts: to one reader, to whoever ingests, to whoever audits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evidencedesk.access import AccessFilter, Status
from evidencedesk.errors import UsageError
from evidencedesk.model import DocumentRecord, Finding
from evidencedesk.model.receipt import Receipt
from evidencedesk.protocols import Snapshot
from evidencedesk.records import UNAVAILABLE, Lapse, Lapsed, rule_of
from evidencedesk.registry import load

ANY_STATUS = frozenset(Status)
_NAMED = 5


def can_be_an_id(name: str) -> bool:
    """Not half a character, which no database takes, and no zero byte, which not every one does."""
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in name)


def everything(tenant: str) -> AccessFilter:
    """The product's own view of a tenant; nothing of it is shown."""
    return AccessFilter(tenant=tenant, administrator=True, statuses=ANY_STATUS)


def visible_documents(snapshot: Snapshot, receipt: Receipt) -> frozenset[str]:
    """Ids of the documents a receipt names that the snapshot's reader may see."""
    described = (
        receipt.content.get(f"citation:{n}") for n in range(len(receipt.record["citations"]))
    )
    also = [name for each in described if each for name in each["also_in"]]
    named = {*receipt.documents, *receipt.record["sources"], *also}
    return frozenset(name for name in named if snapshot.document(name) is not None)


def slices_of(snapshot: Snapshot, receipt: Receipt) -> dict[int, str]:
    """Texts of the cited chunks as they were, where this reader may see them."""
    found: dict[int, str] = {}
    for number, cited in enumerate(receipt.record["citations"]):
        document = snapshot.document(cited["document_id"])
        if document is None:
            continue
        kept = document.content_hash == cited["content_hash"]
        text = document.text if kept else snapshot.historic_text(document.id, cited["content_hash"])
        if text is not None:
            found[number] = text[slice(*cited["span"])]
    return found


def row_of(receipt: Receipt, subject: str | None) -> dict[str, Any]:
    """The receipt in a list of them."""
    return {
        "answer_id": receipt.answer_id,
        "at": receipt.record["at"],
        "asked_by": subject,
        "question": receipt.content.get("question"),
        "abstained": receipt.record["abstained"],
        "reason": receipt.reason,
        "citations": len(receipt.record["citations"]),
        "cached_from": receipt.record["cached_from"],
    }


def told(lapsed: Lapsed, record: DocumentRecord | None, seen: AccessFilter) -> Lapsed:
    """What a reader is told of a lapse: a document that he may not see is gone, and has no name."""
    if record is not None and seen.admits(rule_of(record)):
        return lapsed
    return replace(lapsed, document_id="", lapse=Lapse.GONE, detail=UNAVAILABLE)


def lapse_warnings(lapsed: Sequence[Lapsed]) -> tuple[str, ...]:
    """What an ingestion says of the answers that lapsed; names documents and no content."""
    answers = dict.fromkeys(each.answer_id for each in lapsed)
    if not answers:
        return ()
    documents = list(dict.fromkeys(each.document_id for each in lapsed))
    named = ", ".join(documents[:_NAMED]) + (", ..." if len(documents) > _NAMED else "")
    what = "stored answer no longer holds" if len(answers) == 1 else "stored answers no longer hold"
    return (
        f"{len(answers)} {what}, because of {named}; "
        "`evidencedesk answers recheck --administrator` lists them",
    )


def chain_finding(tenant: str, count: int, last: str, problems: Sequence[str]) -> Finding:
    """What the audit says of one tenant's chain."""
    if problems:
        shown = "; ".join(problems[:_NAMED]) + ("; ..." if len(problems) > _NAMED else "")
        hint = "Compare with a backup; who can write the index files can write this chain."
        return Finding("audit", ok=False, message=f"tenant {tenant!r}: {shown}", hint=hint)
    message = f"tenant {tenant!r}: {count} entries follow one another; the last is {last}"
    return Finding("audit", ok=True, message=message)


def signer_of(path: Path) -> Any:
    """The signer with the private key in a file.

    Raises:
        UsageError: ``signing_key_unreadable``.
        SettingsError: ``signing_key_unreadable``, it holds no such key.
    """
    from_pem: Callable[[bytes], Any] = load("evidencedesk.records.signing:Ed25519Signer").from_pem
    try:
        return from_pem(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"The signing key {str(path)!r} cannot be read: {error.strerror}.",
            code="signing_key_unreadable",
            hint="[privacy] signing_key names it; `evidencedesk keys init FILE` makes one.",
        ) from error
