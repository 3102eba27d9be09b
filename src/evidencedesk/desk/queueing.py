"""Ingestion by workers: files are queued in the index's database, and workers anywhere take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from evidencedesk import wiring
from evidencedesk.access import check_tenant
from evidencedesk.adapters.queues.postgres import FileFailedError, PostgresQueue
from evidencedesk.desk.desk import Desk
from evidencedesk.errors import UsageError
from evidencedesk.ingestion.load import SourceFile, discover
from evidencedesk.ingestion.sandbox import ParserPool
from evidencedesk.model.job import IngestJob
from evidencedesk.pipeline import Indexing, run_files

FILES_PER_JOB = 25
"""Every job reads which files the index knows, so a job of one file would cost more than its file."""


def queue_of(desk: Desk) -> PostgresQueue:
    """The queue of the desk's index.

    Raises:
        UsageError: ``not_on_a_server``.
    """
    if isinstance(desk.path, Path):
        raise UsageError(
            f"The index {str(desk.path)!r} is a folder; it has no queue.",
            code="not_on_a_server",
            hint="Name an index on a server: --index postgresql://...",
        )
    return PostgresQueue.open(desk.path)


def jobs_for(
    desk: Desk, paths: Sequence[Path], declared: Mapping[str, Any], tenant: str | None = None
) -> list[IngestJob]:
    """All files under ``paths``, a few per job; ``declared`` says ``roles deny status lang owner``.

    Raises:
        SourceError: ``path_missing``.
        AccessRuleError: a malformed or unknown role, or an unknown status.
    """
    wiring.declared(desk.settings, **declared)
    owner = check_tenant(tenant or desk.settings.access.tenant)
    plain = {
        name: sorted(value) if isinstance(value, frozenset | set) else value
        for name, value in declared.items()
    }
    places = [
        (str(file.root.absolute()), (str(file.path.absolute()), file.relative))
        for file in discover(paths).files
    ]
    return [
        IngestJob(owner, root, tuple(batch), plain)
        for root, of_root in groupby(places, itemgetter(0))
        for batch in _batches(place for _, place in of_root)
    ]


def _batches(places: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    remaining = iter(places)
    while batch := list(islice(remaining, FILES_PER_JOB)):
        yield batch


@contextmanager
def working(desk: Desk) -> Iterator[Worker]:
    """A worker of the desk's index, which is made if it is not there; its parsers end with it."""
    with desk._index.ingesting():  # noqa: SLF001 - the desk's own package
        pass
    with wiring.parser_pool(desk.settings) as parsers:
        yield Worker(desk, parsers)


class Worker:
    """Does one job after another.

    Attributes:
        done: jobs that were done.
        failed: jobs that were not, or not wholly.
    """

    def __init__(self, desk: Desk, parsers: ParserPool) -> None:
        self._desk = desk
        self._parsers = parsers
        self.done = self.failed = 0

    def __call__(self, job: IngestJob) -> None:
        """Bring the files into the index.

        Raises:
            FileFailedError: one cannot be read, the others are done; the ingestion log says why.
            IndexingError: the index cannot be written now.
        """
        self.failed += 1
        self._bring_in(job)
        self.failed -= 1
        self.done += 1

    def _bring_in(self, job: IngestJob) -> None:
        desk, index = self._desk, self._desk._index  # noqa: SLF001 - the desk's own package
        request = wiring.declared(desk.settings, **job.declared)
        reading = wiring.reading(desk.settings, self._parsers, index.clock, request, job.tenant)
        files = [SourceFile(Path(path), Path(job.root), place) for path, place in job.files]
        with index.writing() as writer:
            report = run_files(files, reading, Indexing(writer, index.models.for_generation))
        for failure in (*report.failed, *report.refused):
            raise FileFailedError(f"{failure.source}: {failure.message}")
