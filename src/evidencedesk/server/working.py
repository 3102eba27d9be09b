"""The thread of each worker process that brings uploads into the index."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from evidencedesk.desk.keeping import Upload
from evidencedesk.errors import (
    EvidenceDeskError,
    IndexingError,
    IndexUnavailableError,
    SourceError,
    UsageError,
)
from evidencedesk.model import IngestReport
from evidencedesk.model.document import MASKED
from evidencedesk.server.services import Services
from evidencedesk.server.state.jobs import LEASE, MOST_ATTEMPTS, Job, JobFile

_LOOKS_EVERY = 1.0
_FORGETS_EVERY = 3600.0
_BUSY_WAIT = timedelta(seconds=2)


class JobRunner:
    """Takes jobs one after the other until it is stopped; any number of them may run side by side.

    Args:
        services: the server's parts.
        name: of this worker, unlike that of any other that ever was.
    """

    def __init__(self, services: Services, name: str) -> None:
        self._services = services
        self._name = name
        self._forgets_after = 0.0
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the file that is being read, put the rest back for another worker, and end."""
        self._services.stopping.set()
        self._services.job_arrived.set()
        self._thread.join()

    def _run(self) -> None:
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="job") as pool:
            while not self._services.stopping.is_set():
                self._services.job_arrived.clear()
                # The outcome of a future tells of a bug without ending this thread.
                step = pool.submit(self._step)
                error = step.exception()
                if error is not None:
                    code = error.code if isinstance(error, EvidenceDeskError) else "internal"
                    self._services.log.error("job_failed", kind=type(error).__name__, code=code)
                if error is not None or not step.result():
                    self._services.job_arrived.wait(_LOOKS_EVERY)

    def _step(self) -> bool:
        """Carry out the next job; False when there is none."""
        job = self._services.state.jobs.claim(self._name)
        if job is None:
            self._forget()
            return False
        if job.attempts > MOST_ATTEMPTS:
            self._finish(job, "given_up")
            return True
        with self._held(job) as lost:
            self._carry_out(job, lost)
        return True

    def _forget(self) -> None:
        now = self._services.clock.monotonic()
        if now >= self._forgets_after:
            self._services.state.jobs.forget()
            self._forgets_after = now + _FORGETS_EVERY

    def _carry_out(self, job: Job, lost: threading.Event) -> None:
        jobs = self._services.state.jobs
        for file in (each for each in job.files if each.outcome is None):
            if lost.is_set():
                return
            if self._services.stopping.is_set():
                jobs.put_back(job.id)
                return
            try:
                outcome = self._outcome(job, file)
            except IndexUnavailableError:
                jobs.put_back(job.id, _BUSY_WAIT)
                return
            except IndexingError as error:
                self._finish(job, error.code)
                return
            jobs.record(job.id, file.number, outcome)
        self._finish(job, "")

    def _outcome(self, job: Job, file: JobFile) -> Mapping[str, Any]:
        try:
            report = self._ingested(job, file)
        except (UsageError, SourceError) as error:
            return outcome_of(IngestReport(), error)
        self._services.metrics.ingested(report)
        return outcome_of(report)

    def _ingested(self, job: Job, file: JobFile) -> IngestReport:
        originals = self._services.originals
        waiting, kept = originals.incoming(job.id, file.number), originals.kept(file.key, file.name)
        if file.replaces is None:
            originals.keep(waiting, file.key, file.name)
        path = waiting if waiting.exists() else kept
        if not path.is_file():
            raise SourceError(f"{file.name}: its bytes have gone.", code="unreadable")
        limit = self._services.settings.ingestion.max_file_mb << 20
        if file.bytes > limit:
            raise SourceError(f"{file.name}: larger than {limit:,} bytes.", code="too_large")
        upload = Upload(file.key, file.name, originals.folder(file.key), path.read_bytes())
        report = self._services.desk.upload(upload, job.said, principal=job.principal)
        succeeded = not (report.failed or report.refused)
        if file.replaces is not None and succeeded:
            originals.keep(waiting, file.key, file.name)
        if _masked_any(report) or (file.replaces is None and not _kept_any(report)):
            originals.drop(file.key)
        return report

    def _finish(self, job: Job, error: str) -> None:
        self._services.state.jobs.finish(job.id, error)
        self._services.originals.drop_incoming(job.id)
        self._services.log.info("job", state="failed" if error else "done", code=error)

    @contextmanager
    def _held(self, job: Job) -> Iterator[threading.Event]:
        """Renew the lease while the job is carried out; the event tells that it was lost."""
        over, lost = threading.Event(), threading.Event()

        def renew() -> None:
            while not over.wait(LEASE.total_seconds() / 3):
                try:
                    if self._services.state.jobs.renew(job.id, self._name):
                        continue
                except EvidenceDeskError as error:
                    self._services.log.warning("lease", code=error.code)
                    continue
                lost.set()

        thread = threading.Thread(target=renew, name="lease", daemon=True)
        thread.start()
        try:
            yield lost
        finally:
            over.set()
            thread.join()


def outcome_of(report: IngestReport, error: EvidenceDeskError | None = None) -> dict[str, Any]:
    """What became of one file, in its stable shape; documents are those in it."""
    found = report.to_json()
    failed = [*found["failed"], *found["refused"]]
    if error is not None:
        failed.append({"source": "", "code": error.code, "message": error.message})
    state = "done" if not failed else "partly" if _kept_any(report) else "failed"
    return {
        "state": state,
        "added": found["added"],
        "changed": found["changed"],
        "metadata": found["metadata"],
        "unchanged": found["unchanged"],
        "failed": failed,
        "warnings": found["warnings"],
        "chunks": found["chunks"],
    }


def _masked_any(report: IngestReport) -> bool:
    """Whether the file holds what was masked, so that it must not stay here."""
    return any(MASKED in warning for warning in report.warnings)


def _kept_any(report: IngestReport) -> bool:
    changed = (report.added, report.changed, report.metadata, report.embedded)
    return any(changed) or report.unchanged > 0
