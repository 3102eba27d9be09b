"""One run of ingestion: discover, put into the index, prune, log, report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from evidencedesk.errors import IndexMismatchError
from evidencedesk.indexing import lost_documents
from evidencedesk.ingestion.load import Discovery, SourceFile, discover
from evidencedesk.model import (
    ChunkingSettings,
    DocumentRecord,
    IngestReport,
    Progress,
    ProgressCallback,
)
from evidencedesk.pipeline.documents import Reading
from evidencedesk.pipeline.ingest import Indexing, Outcome, ingest_files
from evidencedesk.pipeline.library import file_at
from evidencedesk.pipeline.report import log_entries, removal_entries, report_of
from evidencedesk.protocols import Clock, Writer

LOG_EVERY = 64


def run_ingestion(
    paths: Sequence[Path],
    reading: Reading,
    indexing: Indexing,
    *,
    prune: bool = False,
    force: bool = False,
    warnings: Iterable[str] = (),
    progress: ProgressCallback | None = None,
) -> IngestReport:
    """Bring the index in line with the files under ``paths``.

    What is to be pruned is decided before anything is written, and pruned last.

    Raises:
        SourceError: ``path_missing``.
        UsageError: ``prune_refused``.
        IndexingError: the index cannot be written.
    """
    clock, tenant = reading.clock, reading.defaults.tenant
    started = clock.monotonic()
    found = discover([path for path in paths if path.exists() or not (prune and force)])
    lost = _lost(indexing.writer, paths, found, tenant, force=force) if prune else []
    outcomes: list[Outcome] = []
    with logged(outcomes, indexing.writer, clock, tenant):
        for outcome in ingest_files(found.files, reading, indexing):
            outcomes.append(outcome)
            if progress is not None:
                total = max(len(found.files), len(outcomes))
                progress(Progress("ingest", len(outcomes), total, outcome.source))
    lost += _lost_members(indexing.writer, outcomes, tenant) if prune else []
    for record in lost:
        remove_document(indexing.writer, record, clock, "the file is gone (prune)")
    return report_of(
        outcomes,
        removed=lost,
        failed=found.failed,
        refused=found.refused,
        warnings=warnings,
        seconds=clock.monotonic() - started,
    )


def run_upload(
    file: SourceFile,
    reading: Reading,
    indexing: Indexing,
    *,
    warnings: Iterable[str] = (),
) -> IngestReport:
    """Put one uploaded file, and the files inside it, into the index.

    Raises:
        IndexingError: the index cannot be written.
    """
    return run_files([file], reading, indexing, warnings=warnings)


def run_files(
    files: Sequence[SourceFile],
    reading: Reading,
    indexing: Indexing,
    *,
    warnings: Iterable[str] = (),
) -> IngestReport:
    """Put files that were found already, and the files inside them, into the index.

    Raises:
        IndexingError: the index cannot be written.
    """
    clock = reading.clock
    started = clock.monotonic()
    outcomes: list[Outcome] = []
    with logged(outcomes, indexing.writer, clock, reading.defaults.tenant):
        outcomes.extend(ingest_files(files, reading, indexing))
    return report_of(outcomes, warnings=warnings, seconds=clock.monotonic() - started)


def remove_document(writer: Writer, record: DocumentRecord, clock: Clock, why: str) -> bool:
    """Remove a document and log it; False when it had gone already."""
    removed = writer.remove_document(record.tenant, record.id)
    if removed:
        writer.append_log(removal_entries([record], at=clock.now(), message=why))
    return removed


def check_chunking(writer: Writer, wanted: ChunkingSettings) -> tuple[str, ...]:
    """A warning when the index cuts otherwise than the settings say; the index's way holds."""
    active = next(each for each in writer.generations() if each.state == "active")
    if active.chunking == wanted:
        return ()
    return (
        f"the index cuts by {_described(active.chunking)}, the settings say {_described(wanted)}; "
        "`evidencedesk reindex --yes` applies them",
    )


def check_normalisation(writer: Writer, current: str) -> None:
    """Refuse to write words analysed one way beside words analysed another way.

    Raises:
        IndexMismatchError: the index was made by another version of the keyword analysis.
    """
    for generation in writer.generations():
        if generation.state == "active" and generation.normalisation != current:
            raise IndexMismatchError(
                f"The index's words were analysed by version {generation.normalisation!r}; "
                f"this program analyses them by {current!r}.",
                hint="Rebuild it: evidencedesk reindex --yes.",
            )


def _described(chunking: ChunkingSettings) -> str:
    options = ", ".join(f"{name} {value}" for name, value in chunking.options)
    return f"{chunking.strategy} ({options})" if options else chunking.strategy


@contextmanager
def logged(
    outcomes: Sequence[Outcome], writer: Writer, clock: Clock, tenant: str
) -> Iterator[None]:
    """Log what was done, also when the run is interrupted or fails."""
    try:
        yield
    finally:
        at = clock.now()
        for start in range(0, len(outcomes), LOG_EVERY):
            entries = log_entries(outcomes[start : start + LOG_EVERY], tenant=tenant, at=at)
            if entries:
                writer.append_log(entries)


def _lost(
    writer: Writer, paths: Sequence[Path], found: Discovery, tenant: str, *, force: bool
) -> list[DocumentRecord]:
    """Documents to prune; those of a folder below the root they were ingested from included."""
    paths_of = {Path(record.root, record.source): record for record in writer.records(tenant)}
    present = {file.path.resolve() for file in found.files}
    present |= {
        path
        for path, record in paths_of.items()
        if "!/" in record.source and file_at((record.root, record.source)).resolve() in present
    }
    lost: list[DocumentRecord] = []
    for folder in (path.resolve() for path in paths if not path.is_file()):
        inside = {path: each for path, each in paths_of.items() if path.is_relative_to(folder)}
        lost += lost_documents(str(folder), inside, present, force=force)
    return lost


def _lost_members(writer: Writer, outcomes: Sequence[Outcome], tenant: str) -> list[DocumentRecord]:
    """Documents of members that are no longer in their archive or message, which was opened."""
    seen = {outcome.source for outcome in outcomes}
    failed = {outcome.source.removesuffix("!/") for outcome in outcomes if outcome.failure}
    opened = {source.partition("!/")[0] for source in seen} - failed
    return [
        record
        for record in writer.records(tenant)
        if "!/" in record.source
        and record.source.partition("!/")[0] in opened
        and record.source not in seen
        and not any(record.source.startswith(f"{source}!/") for source in failed)
    ]
