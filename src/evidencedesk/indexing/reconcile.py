"""What a run has to do: compare a document with what the index holds under its key."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from evidencedesk.errors import UsageError
from evidencedesk.model import Document, DocumentRecord


class Change(StrEnum):
    """How a document differs from what is stored."""

    ADDED = "added"
    CHANGED = "changed"
    METADATA = "metadata"
    UNCHANGED = "unchanged"


_EMBEDDED = ("content_hash", "title", "lang", "parser", "parser_version")
_DESCRIPTIVE = (
    "version",
    "status",
    "owner",
    "roles",
    "deny",
    "source",
    "root",
    "media_type",
    "supersedes",
    "file_hash",
    "location_hash",
    "warnings",
    "partial",
    "inputs_hash",
)


def classify(document: Document, record: DocumentRecord | None) -> Change:
    """How ``document`` differs from ``record``.

    Text, title, language and parser decide chunks and vectors, so a difference there is CHANGED; a
    difference anywhere else is METADATA and takes effect without embedding.
    """
    if record is None:
        return Change.ADDED
    if _differs(document, record, _EMBEDDED):
        return Change.CHANGED
    return Change.METADATA if _differs(document, record, _DESCRIPTIVE) else Change.UNCHANGED


def lost_sources(
    records: Iterable[DocumentRecord], root: str, found: Collection[str], *, force: bool
) -> tuple[DocumentRecord, ...]:
    """Documents of ``root`` whose source is not among ``found``: those that ``--prune`` removes.

    Raises:
        UsageError: ``prune_refused`` without ``force`` when nothing was found under the root, or
            when more than half of its documents would go; both look more like an unmounted folder
            than like a wish.
    """
    known = [record for record in records if record.root == root]
    lost = tuple(record for record in known if record.source not in found)
    if not lost or force:
        return lost
    if not found or 2 * len(lost) > len(known):
        raise UsageError(
            f"Pruning {root!r} would remove {len(lost)} of {len(known)} documents.",
            code="prune_refused",
            hint="Check that the folder is all there; --force removes them anyway.",
        )
    return lost


def _differs(document: Document, record: DocumentRecord, names: Iterable[str]) -> bool:
    return any(getattr(document, name) != getattr(record, name) for name in names)
