"""A document and its earlier versions, as one reader sees them."""

from __future__ import annotations

import difflib
from typing import TypeVar

from evidencedesk.errors import UsageError
from evidencedesk.model import DocumentRecord
from evidencedesk.protocols import Snapshot

_Value = TypeVar("_Value")


def found_or_raise(value: _Value | None, kind: str, name: str) -> _Value:
    """``value`` if there is one.

    Raises:
        UsageError: ``not_found``, worded the same whether it is not there or not permitted.
    """
    if value is None:
        raise UsageError(
            f"There is no {kind} {name!r} that this reader may see.",
            code="not_found",
            hint="`evidencedesk docs list` shows what this reader may see.",
        )
    return value


def diff_versions(snapshot: Snapshot, document_id: str, old: str | None) -> str:
    """Unified diff from an earlier text to the one of now; empty when there is no earlier one.

    Raises:
        UsageError: ``not_found``.
    """
    document = found_or_raise(snapshot.document(document_id), "document", document_id)
    versions = snapshot.history(document_id)
    if old is None and not versions:
        return ""
    record = found_or_raise(
        next((version for version in versions if _is(version, old)), None), "version", old or ""
    )
    before = snapshot.historic_text(document_id, record.content_hash) or ""
    lines = difflib.unified_diff(
        before.split("\n"),
        document.text.split("\n"),
        f"{document_id} {record.content_hash[7:19]}",
        f"{document_id} {document.content_hash[7:19]}",
        lineterm="",
    )
    return "\n".join(lines)


def _is(version: DocumentRecord, wanted: str | None) -> bool:
    return wanted is None or version.content_hash.removeprefix("sha256:").startswith(
        wanted.removeprefix("sha256:")
    )
