"""One answer as a file that can be checked anywhere: record, content, slices, place in the chain."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from evidencedesk.errors import IndexDamagedError
from evidencedesk.model.receipt import AuditEntry, Receipt, commitment, piece_key
from evidencedesk.records.pieces import INDEX, UNSTORED

FILE_FORMAT = "evidencedesk-answer/1"


class Signer(Protocol):
    """Signs exports."""

    @property
    def public_key(self) -> str:
        """Hex."""

    def sign(self, message: bytes) -> str:
        """Signature in hex."""


def exported(
    receipt: Receipt,
    entry: AuditEntry,
    *,
    key: bytes | None,
    visible: Collection[str],
    slices: Mapping[int, str],
    administrator: bool = False,
    signer: Signer | None = None,
) -> dict[str, Any]:
    """The file of one answer, for a reader; pieces that he may not see now are left out.

    Args:
        receipt: the receipt.
        entry: the chain's entry at the receipt's position.
        key: the subject's key, from which the keys of the pieces come; None once erased.
        visible: ids of the documents that the reader may see now.
        slices: index of a citation to the text of its chunk as it was, where that is still known.
        administrator: whether the reader is told the index's revision.
        signer: signs the digest, if there is a signing key.

    Raises:
        IndexDamagedError: ``receipt_altered``.
    """
    pieces = {
        **_quotes(receipt, slices),
        **{f"{UNSTORED}{number}": text for number, text in slices.items()},
        **receipt.content,
    }
    known = receipt.record["pieces"]
    content = {
        label: _opened(receipt, label, value, key)
        for label, value in pieces.items()
        if key is not None
        and set(known[label]["documents"]) <= set(visible)
        and (label != INDEX or administrator)
    }
    return {
        "format": FILE_FORMAT,
        "digest": entry.hash,
        "record": dict(receipt.record),
        "content": content,
        "chain": entry.to_json(),
        "signature": _signature(signer, entry.hash),
    }


def render(file: Mapping[str, Any]) -> str:
    """The one way in which such a file is written."""
    return json.dumps(file, sort_keys=True, indent=1, allow_nan=False) + "\n"


def signed_message(digest: str) -> bytes:
    """What is signed: the format and the digest, so that a signature is good for nothing else."""
    return f"{FILE_FORMAT}\n{digest}\n".encode()


def _opened(receipt: Receipt, label: str, value: Any, key: bytes) -> dict[str, Any]:
    """A piece with the key that opens its commitment.

    Raises:
        IndexDamagedError: ``receipt_altered`` when it is not what was committed to.
    """
    own = piece_key(key, receipt.answer_id, label)
    if commitment(own, value) != receipt.record["pieces"][label]["commitment"]:
        raise IndexDamagedError(
            f"The receipt of answer {receipt.answer_id!r} was altered: {label}.",
            code="receipt_altered",
            hint="`evidencedesk doctor --audit` looks at every receipt.",
        )
    return {"key": own.hex(), "value": value}


def _signature(signer: Signer | None, digest: str) -> dict[str, str] | None:
    if signer is None:
        return None
    return {
        "algorithm": "ed25519",
        "public_key": signer.public_key,
        "value": signer.sign(signed_message(digest)),
    }


def _quotes(receipt: Receipt, slices: Mapping[int, str]) -> dict[str, str]:
    """The quotes as they stand in their slices: what a receipt without content does not hold."""
    found = {}
    for number, text in slices.items():
        cited = receipt.record["citations"][number]
        start, end = (offset - cited["span"][0] for offset in cited["quote"])
        found[f"quote:{number}"] = text[start:end]
    return found
