"""One run over a source that is no folder: fetch, put into the index, prune, log, report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evidencedesk.indexing import lost_documents
from evidencedesk.ingestion.load import SourceFile, file_hash_of
from evidencedesk.model import (
    DocumentRecord,
    FailedSource,
    IngestReport,
    Progress,
    ProgressCallback,
)
from evidencedesk.model.source import Fetched, Gone, NotFetched, NotModified, Validators
from evidencedesk.pipeline.documents import Reading, inputs_hash
from evidencedesk.pipeline.ingest import Indexing, Outcome, ingest_files
from evidencedesk.pipeline.library import is_fetched
from evidencedesk.pipeline.report import report_of
from evidencedesk.pipeline.run import logged, remove_document
from evidencedesk.pipeline.visits import NoVisits, Visit, Visits
from evidencedesk.protocols import Source


@dataclass(slots=True)
class _Run:
    """What one run has seen so far."""

    source: Source
    reading: Reading
    records: dict[str, DocumentRecord]
    visits: dict[str, Visit]
    outcomes: list[Outcome]
    fresh: dict[str, Visit] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    gone: dict[str, str] = field(default_factory=dict)

    def known(self) -> dict[str, Validators]:
        """Of documents that need not come again: all they were made from is as it was."""
        return {
            url: visit.validators
            for url, visit in self.visits.items()
            if (record := self.records.get(url)) is not None
            and record.file_hash == visit.file_hash
            and record.inputs_hash == self._inputs(record)
        }

    def files(self) -> Iterator[SourceFile]:
        """Files of the source as they are fetched; what did not come is an outcome at once."""
        for item in self.source.items(self.known()):
            self.seen.add(item.source)
            if isinstance(item, Fetched):
                self.fresh[item.source] = Visit(item.validators, file_hash_of(item.data))
                yield self._file(item.source, data=item.data, named=item.file_name)
            elif isinstance(item, NotModified):
                record = self.records[item.source]
                yield self._file(
                    item.source, data=b"", unchanged=(record.file_hash, record.media_type)
                )
            elif isinstance(item, Gone):
                self._note_gone(item)
            else:
                self._note_failure(item)

    def _inputs(self, record: DocumentRecord) -> str:
        file = self._file(record.source, origin=record.root)
        return inputs_hash(file, record.file_hash, record.media_type, self.reading)

    def _file(
        self,
        url: str,
        *,
        data: bytes | None = None,
        named: str = "",
        origin: str = "",
        unchanged: tuple[str, str] | None = None,
    ) -> SourceFile:
        return SourceFile(
            Path(url),
            Path(url),
            url,
            data=data,
            origin=origin or self.source.root,
            named=named,
            unchanged=unchanged,
        )

    def _note_gone(self, item: Gone) -> None:
        if item.source in self.records:
            self.gone[item.source] = item.reason
        else:
            self._note_failure(NotFetched(item.source, "gone", f"{item.source}: {item.reason}."))

    def _note_failure(self, item: NotFetched) -> None:
        failure = FailedSource(item.source, item.code, item.message)
        self.outcomes.append(Outcome(item.source, failure=failure, refused=item.code == "refused"))


def run_source(
    source: Source,
    reading: Reading,
    indexing: Indexing,
    *,
    visits: Visits | None = None,
    prune: bool = False,
    force: bool = False,
    warnings: Iterable[str] = (),
    progress: ProgressCallback | None = None,
) -> IngestReport:
    """Bring the index in line with what ``source`` gives.

    A document that could not be fetched keeps its last good version. One that the server says is
    gone, or that a complete source does not name any more, is removed with ``prune``, else reported.

    Raises:
        UsageError: ``prune_refused``; what was fetched is in the index then.
        IndexingError: the index cannot be written.
    """
    clock, tenant = reading.clock, reading.defaults.tenant
    kept = visits or NoVisits()
    started = clock.monotonic()
    outcomes: list[Outcome] = []
    records = {
        record.source: record
        for record in indexing.writer.records(tenant)
        if is_fetched(record.root)
    }
    run = _Run(source, reading, records, kept.load(), outcomes)
    try:
        with logged(outcomes, indexing.writer, clock, tenant):
            for outcome in ingest_files(run.files(), reading, indexing):
                outcomes.append(outcome)
                if progress is not None:
                    progress(Progress("ingest", len(outcomes), None, outcome.source))
            if not prune:
                _report_gone(run)
    finally:
        kept.save({**run.visits, **run.fresh})
    removed = _pruned(run, force=force) if prune else []
    for record in removed:
        why = run.gone.get(record.source, "the source does not name it any more") + " (prune)"
        remove_document(indexing.writer, record, clock, why)
    return report_of(
        outcomes, removed=removed, warnings=warnings, seconds=clock.monotonic() - started
    )


def _report_gone(run: _Run) -> None:
    for url, reason in run.gone.items():
        message = f"{url}: {reason}; its last version stays. --prune removes it."
        run.outcomes.append(Outcome(url, failure=FailedSource(url, "gone", message)))


def _pruned(run: _Run, *, force: bool) -> list[DocumentRecord]:
    """Documents that are gone, the files that were inside them included."""
    named = {url.partition("!/")[0] for url in run.seen} - run.gone.keys()
    gone = [each for url, each in run.records.items() if url.partition("!/")[0] in run.gone]
    if not run.source.complete:
        return gone
    own = {
        Path(url): record
        for url, record in run.records.items()
        if record.root == run.source.root and url.partition("!/")[0] not in run.gone
    }
    present = {path for path, record in own.items() if record.source.partition("!/")[0] in named}
    return [*gone, *lost_documents(run.source.root, own, present, force=force)]
