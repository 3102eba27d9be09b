"""A document and its earlier versions, as one reader sees them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a document.

    Attributes:
        record: what is known of it.
        characters: length of its canonical text.
        current: whether it is the one of now.
    """

    record: DocumentRecord
    characters: int
    current: bool = False


def versions_of(snapshot: Snapshot, document_id: str) -> tuple[Version, ...]:
    """All versions of a document, the one of now first.

    Raises:
        UsageError: ``not_found``.
    """
    document = found_or_raise(snapshot.document(document_id), "document", document_id)
    now = next(record for record in snapshot.documents() if record.id == document_id)
    earlier = (
        Version(record, len(snapshot.historic_text(document_id, record.content_hash) or ""))
        for record in snapshot.history(document_id)
    )
    return (Version(now, len(document.text), current=True), *earlier)


def diff_versions(
    snapshot: Snapshot, document_id: str, old: str | None, new: str | None = None
) -> str:
    """Unified diff from an earlier text to a later one, or to that of now; empty without earlier ones.

    Raises:
        UsageError: ``not_found``.
    """
    document = found_or_raise(snapshot.document(document_id), "document", document_id)
    versions = snapshot.history(document_id)
    if old is None and not versions:
        return ""
    texts = {
        record.content_hash: snapshot.historic_text(document_id, record.content_hash) or ""
        for record in versions
    }
    before = _chosen(list(texts), old)
    after = _chosen([document.content_hash, *texts], new)
    texts[document.content_hash] = document.text
    lines = difflib.unified_diff(
        texts[before].split("\n"),
        texts[after].split("\n"),
        f"{document_id} {before[7:19]}",
        f"{document_id} {after[7:19]}",
        lineterm="",
    )
    return "\n".join(lines)


def _chosen(hashes: Sequence[str], wanted: str | None) -> str:
    """The first hash that begins as wanted, the first of all when nothing is."""
    start = "sha256:" + (wanted or "").removeprefix("sha256:")
    chosen = next((each for each in hashes if each.startswith(start)), None)
    return found_or_raise(chosen, "version", wanted or "")
