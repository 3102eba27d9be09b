"""What a run has to do: compare a document with what the index holds under its key."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path

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
    "masks",
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


def lost_documents(
    folder: str, stored: Mapping[Path, DocumentRecord], found: Collection[Path], *, force: bool
) -> tuple[DocumentRecord, ...]:
    """Documents whose file is not among ``found``: those that ``--prune`` removes.

    Args:
        folder: the folder that was named.
        stored: the documents whose files lie or lay in it, by absolute path.
        found: absolute paths of the files that are there now.
        force: prune whatever it comes to.

    Raises:
        UsageError: ``prune_refused`` without ``force`` when nothing was found in the folder, or
            when more than half of its documents would go; both look more like an unmounted folder
            than like a wish.
    """
    lost = tuple(record for path, record in stored.items() if path not in found)
    if not lost or force:
        return lost
    if 2 * len(lost) > len(stored):
        raise UsageError(
            f"Pruning {folder!r} would remove {len(lost)} of {len(stored)} documents.",
            code="prune_refused",
            hint="Check that the folder is all there; --force removes them anyway.",
        )
    return lost


def _differs(document: Document, record: DocumentRecord, names: Iterable[str]) -> bool:
    return any(getattr(document, name) != getattr(record, name) for name in names)
