"""What long work reports: progress while it runs, an outcome per source when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work.

    Attributes:
        stage: what is being done, in one word or two ("read", "embed", "download").
        done: units done so far.
        total: units there will be, None while unknown.
        note: what is being worked on now.
    """

    stage: str
    done: int
    total: int | None = None
    note: str = ""


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class FailedSource:
    """A source that was not ingested (or a document that was refused), and why."""

    source: str
    code: str
    message: str

    def to_json(self) -> dict[str, str]:
        """The stable JSON shape."""
        return {"source": self.source, "code": self.code, "message": self.message}


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The outcome of one ingestion. Lists hold document ids in the order handled.

    Attributes:
        added: new documents.
        changed: documents whose text, title or language changed.
        metadata: documents of which only rights, status, owner, version or positions changed.
        embedded: unchanged documents that got vectors because a model arrived.
        unchanged: number of documents skipped without work.
        removed: documents removed because their file is gone (``prune``).
        failed: sources that could not be read; their last good version is still there.
        refused: sources refused on purpose.
        warnings: things a person should know ("handbook.pdf: 2 of 14 pages have no text").
        chunks: chunks written.
        seconds: wall time.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    embedded: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    failed: tuple[FailedSource, ...] = ()
    refused: tuple[FailedSource, ...] = ()
    warnings: tuple[str, ...] = ()
    chunks: int = 0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape of interfaces 1.1."""
        return {
            "added": list(self.added),
            "changed": list(self.changed),
            "metadata": list(self.metadata),
            "embedded": list(self.embedded),
            "unchanged": self.unchanged,
            "removed": list(self.removed),
            "failed": [failure.to_json() for failure in self.failed],
            "refused": [failure.to_json() for failure in self.refused],
            "warnings": list(self.warnings),
            "chunks": self.chunks,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that ``doctor`` looked at.

    Attributes:
        check: stable name.
        ok: whether all is well.
        message: what was found.
        hint: how to mend it; empty when all is well.
    """

    check: str
    ok: bool
    message: str
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """The stable JSON shape."""
        return {"check": self.check, "ok": self.ok, "message": self.message, "hint": self.hint}
