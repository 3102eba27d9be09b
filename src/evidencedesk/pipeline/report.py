"""Outcomes added up to a report and a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from functools import reduce
from operator import add

from evidencedesk.indexing import Change
from evidencedesk.model import DocumentRecord, FailedSource, IngestReport, LogEntry
from evidencedesk.model.document import NO_TEXT
from evidencedesk.pipeline.ingest import Outcome

_STATUSES = {
    "no_text": "no text",
    "encrypted": "encrypted",
    "damaged": "damaged",
    "unsupported": "unsupported",
    "refused": "refused",
    "symlink_refused": "refused",
}


def report_of(
    outcomes: Sequence[Outcome],
    *,
    removed: Sequence[DocumentRecord] = (),
    failed: Iterable[FailedSource] = (),
    refused: Iterable[FailedSource] = (),
    warnings: Iterable[str] = (),
    seconds: float = 0.0,
) -> IngestReport:
    """The report of a run.

    Args:
        outcomes: one per file.
        removed: documents that were pruned.
        failed: folders that could not be listed.
        refused: links that were not followed.
        warnings: of the run as a whole.
        seconds: wall time.
    """
    return IngestReport(
        added=_ids(outcomes, Change.ADDED),
        changed=_ids(outcomes, Change.CHANGED),
        metadata=_ids(outcomes, Change.METADATA),
        embedded=tuple(each.document_id for each in outcomes if each.embedded),
        unchanged=sum(_is_unchanged(each) for each in outcomes),
        removed=tuple(record.id for record in removed),
        failed=(*failed, *(each.failure for each in outcomes if each.failure and not each.refused)),
        refused=(*refused, *(each.failure for each in outcomes if each.failure and each.refused)),
        warnings=(
            *warnings,
            *(f"{each.source}: {text}" for each in outcomes for text in each.warnings),
        ),
        chunks=sum(each.chunks for each in outcomes),
        seconds=round(seconds, 3),
    )


def merged(reports: Sequence[IngestReport]) -> IngestReport:
    """Several runs, one after the other, as one."""
    return IngestReport(
        **{
            name: reduce(add, (getattr(report, name) for report in reports))
            for name in (each.name for each in fields(IngestReport))
        }
    )


def log_entries(outcomes: Iterable[Outcome], *, tenant: str, at: datetime) -> list[LogEntry]:
    """Log entries of the outcomes; nothing is logged of a file that had not changed."""
    return [
        LogEntry(
            at=at,
            tenant=tenant,
            source=each.source,
            document_id=each.document_id,
            outcome=_word(each),
            code=each.failure.code if each.failure else "",
            message=each.failure.message if each.failure else "; ".join(each.warnings),
            details={"chunks": each.chunks, "status": status_of(each)},
        )
        for each in outcomes
        if not _is_unchanged(each)
    ]


def status_of(outcome: Outcome) -> str:
    """How a file came through, in a word or two; one that was not wholly read is never ``ok``.

    ``ok``, ``partly``, ``no text``, ``encrypted``, ``damaged``, ``unsupported``, ``refused`` or
    ``failed`` (too large, out of time or memory, unreadable, wrong metadata: the code says which).
    """
    if outcome.failure is None:
        if NO_TEXT in outcome.warnings:
            return "no text"
        return "partly" if outcome.partial else "ok"
    return _STATUSES.get(outcome.failure.code, "failed")


def removal_entries(
    records: Iterable[DocumentRecord], *, at: datetime, message: str
) -> list[LogEntry]:
    """Log entries of documents that were removed."""
    return [
        LogEntry(
            at=at,
            tenant=record.tenant,
            source=record.source,
            document_id=record.id,
            outcome="removed",
            message=message,
            details={"chunks": record.chunks},
        )
        for record in records
    ]


def _ids(outcomes: Iterable[Outcome], change: Change) -> tuple[str, ...]:
    return tuple(each.document_id for each in outcomes if each.change is change)


def _is_unchanged(outcome: Outcome) -> bool:
    return outcome.change is Change.UNCHANGED and not outcome.embedded and outcome.failure is None


def _word(outcome: Outcome) -> str:
    if outcome.failure:
        return "refused" if outcome.refused else "failed"
    return "embedded" if outcome.change is Change.UNCHANGED else outcome.change.value
