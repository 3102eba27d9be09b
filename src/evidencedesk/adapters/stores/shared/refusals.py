"""What every store says alike of an index that cannot be used, given how it names the index."""

from __future__ import annotations

from evidencedesk.errors import IndexDamagedError, IndexingError, IndexUnavailableError


def missing(index: str) -> IndexUnavailableError:
    """There is no index."""
    return IndexUnavailableError(
        f"There is no index at {index!r}.",
        code="index_missing",
        hint="Make one with `evidencedesk init` or `evidencedesk ingest PATH`.",
    )


def closed(index: str) -> IndexUnavailableError:
    """The store was closed."""
    return IndexUnavailableError(
        f"The index {index!r} was closed.", code="index_closed", hint="Open it again."
    )


def disk_full(index: str, detail: str, *, where: str) -> IndexUnavailableError:
    """What was to be written found no room ``where``; the transaction was rolled back."""
    return IndexUnavailableError(
        f"The index {index!r} could not be written ({detail}); the last change was undone.",
        code="disk_full",
        hint=f"Free some space on {where}, then run the command again.",
    )


def not_ours(index: str, what: str, *, other: str) -> IndexDamagedError:
    """Something else is there; ``other`` is what is to be named instead."""
    return IndexDamagedError(
        f"{index!r} is not an EvidenceDesk index: {what}.",
        code="index_not_ours",
        hint=f"Name another {other} in [index] url; nothing was changed.",
    )


def damaged(index: str, detail: str, *, drop: str) -> IndexDamagedError:
    """The database contradicts itself; ``drop`` says how what is left of it is taken away."""
    return IndexDamagedError(
        f"The index {index!r} is damaged ({detail}).",
        code="index_damaged",
        hint=f"Restore a backup, or {drop} and ingest the documents again.",
    )


def not_empty() -> IndexingError:
    """What was backed up goes into a new index only."""
    return IndexingError(
        "The index holds something already; nothing was changed.",
        code="index_not_empty",
        hint="Name a new index.",
    )
