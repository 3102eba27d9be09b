"""Everything that one ingestion brings in: files and folders first, then each other source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evidencedesk import wiring
from evidencedesk.desk.index import OpenIndex
from evidencedesk.ingestion.metadata import DeclaredMetadata
from evidencedesk.model import IngestReport, ProgressCallback
from evidencedesk.pipeline import Indexing, Reading, merged, run_ingestion, run_source
from evidencedesk.protocols import Source
from evidencedesk.source_wiring import visits_beside


@dataclass(frozen=True, slots=True, eq=False)
class Intake:
    """What is to be brought in.

    Attributes:
        paths: files and folders.
        sources: read after them, in order.
        request: what is said of every document.
        tenant: whose documents they are.
        prune: remove documents that are gone from where they came from.
        force: prune although that is missing, empty, or would lose over half.
        progress: told of every file.
    """

    paths: tuple[Path, ...]
    sources: tuple[Source, ...]
    request: DeclaredMetadata
    tenant: str
    prune: bool
    force: bool
    progress: ProgressCallback | None


def bring_in(index: OpenIndex, intake: Intake) -> IngestReport:
    """Bring the index in line with all of ``intake``; one report on the whole.

    Raises:
        SourceError: ``path_missing``.
        UsageError: ``prune_refused``.
        IndexingError: the index cannot be written, or was made with another model.
    """
    with index.ingesting() as (indexing, parsers, warnings):
        reading = wiring.reading(
            index.settings, parsers, index.clock, intake.request, intake.tenant
        )
        files = run_ingestion(
            intake.paths,
            reading,
            indexing,
            prune=intake.prune,
            force=intake.force,
            warnings=warnings,
            progress=intake.progress,
        )
        return merged([files, *_from_sources(index, intake, reading, indexing)])


def _from_sources(
    index: OpenIndex, intake: Intake, reading: Reading, indexing: Indexing
) -> list[IngestReport]:
    visits = visits_beside(index.path)
    return [
        run_source(
            source,
            reading,
            indexing,
            visits=visits,
            prune=intake.prune,
            force=intake.force,
            progress=intake.progress,
        )
        for source in intake.sources
    ]
