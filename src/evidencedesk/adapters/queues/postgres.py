"""Ingestion jobs in the index's database, by procrastinate: workers anywhere take them.

A job is done at least once. A worker that dies stops sending a sign of life, and whoever works then
takes its job back; a job that was tried too often, or that ended its workers too often, is given up
and kept for a person to see and retry. Jobs of one file are done one after the other.

Tenants take turns: a job's priority falls with the number of its tenant's jobs that wait already, so a
tenant who queues one file does not wait for another's hundred thousand.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Self

import procrastinate
import psycopg
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import Job
from psycopg import sql
from psycopg.conninfo import make_conninfo

from evidencedesk.adapters.stores.postgres import failures
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.errors import IndexUnavailableError, SourceError, UsageError
from evidencedesk.model.job import FailedJob, IngestJob, QueueCounts

TURN = 10
"""Jobs that a tenant gets before another one's turn."""

_QUEUE = "ingest"
_BATCH = 500
_ATTEMPTS = 5
_RETRIED = (IndexUnavailableError, OSError)


@dataclass(frozen=True, slots=True)
class Pace:
    """How a worker works, in seconds.

    Attributes:
        sign_of_life: between two signs of life.
        given_up: without a sign of life, after which a worker counts as dead.
        poll: between two looks for jobs when nobody tells of any.
        most_waiting: jobs that may wait; more are refused.
    """

    sign_of_life: float = 10.0
    given_up: float = 30.0
    poll: float = 5.0
    most_waiting: int = 1_000_000


class PostgresQueue:
    """Jobs of one index; see the module. Close it at the end."""

    def __init__(self, address: Address, pace: Pace) -> None:
        self._address = address
        self._pace = pace
        self._schema = f"{address.schema}_jobs"
        self._conninfo = make_conninfo(
            address.conninfo,
            options=f"-c search_path={self._schema} -c client_min_messages=warning",
            application_name="evidencedesk worker",
        )

    @classmethod
    def open(cls, url: str, pace: Pace | None = None) -> Self:
        """The queue of the index at ``url``, its tables made if they are not there.

        Raises:
            IndexUnavailableError: ``index_unreachable`` or ``index_read_only``.
        """
        queue = cls(Address.parse(url), pace or Pace())
        with failures.translated(queue._address):
            queue._prepare()
        return queue

    def put(self, jobs: Sequence[IngestJob]) -> int:
        """Queue jobs; how many were new: the same files are not queued twice.

        Raises:
            UsageError: ``queue_full``.
        """
        counts = self.counts()
        if sum(counts.waiting.values()) + len(jobs) > self._pace.most_waiting:
            raise UsageError(
                f"{sum(counts.waiting.values()):,} jobs wait already.",
                code="queue_full",
                hint="Wait until workers have caught up, or start more of them.",
            )
        position = Counter(counts.waiting)
        added = 0
        with failures.translated(self._address), self._app().open() as app:
            remaining = iter(jobs)
            while batch := list(islice(remaining, _BATCH)):
                for job in batch:
                    added += self._defer(app, job, -(position[job.tenant] // TURN))
                    position[job.tenant] += 1
        return added

    def work(self, run: Callable[[IngestJob], None], *, wait: bool = True) -> None:
        """Do jobs with ``run`` until stopped by a signal, or without ``wait`` until none waits.

        What ``run`` raises decides: an index that is not available or a file that cannot be read just
        now is tried again, with growing pauses; anything else gives the job up.
        """
        with failures.translated(self._address):
            asyncio.run(self._work(run, wait=wait))

    def counts(self) -> QueueCounts:
        """How many jobs there are."""
        rows = self._select(
            "SELECT status, args ->> 'tenant', count(*) FROM procrastinate_jobs GROUP BY 1, 2"
        )
        total: Counter[str] = Counter()
        for status, _, count in rows:
            total[status] += count
        waiting = {tenant: count for status, tenant, count in rows if status == "todo"}
        return QueueCounts(waiting, total["doing"], total["failed"])

    def failed(self, limit: int = 100) -> tuple[FailedJob, ...]:
        """Jobs that were given up, the newest first."""
        rows = self._select(
            "SELECT id, args, attempts FROM procrastinate_jobs WHERE status = 'failed' "
            "ORDER BY id DESC LIMIT %s",
            (limit,),
        )
        return tuple(FailedJob(number, _job(args), tries) for number, args, tries in rows)

    def retry(self, number: int, now: datetime) -> None:
        """Let a job that was given up wait again.

        Raises:
            UsageError: ``not_found``.
        """
        if number not in {each.id for each in self.failed(_BATCH)}:
            raise UsageError(
                f"No job {number} was given up.",
                code="not_found",
                hint="`evidencedesk jobs list` shows those that were.",
            )
        with failures.translated(self._address), self._app().open() as app:
            app.job_manager.retry_job_by_id(number, now)

    def _prepare(self) -> None:
        with psycopg.connect(self._conninfo) as connection:
            connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(%s, 3))", (self._schema,)
            )
            found = connection.execute(
                "SELECT to_regclass(%s)", (f"{self._schema}.procrastinate_jobs",)
            ).fetchone()
            if found == (None,):
                connection.execute(
                    sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self._schema))
                )
                connection.execute(procrastinate.schema.SchemaManager.get_schema().encode())

    def _select(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with (
            failures.translated(self._address),
            psycopg.connect(self._conninfo, autocommit=True) as connection,
        ):
            return connection.execute(statement.encode(), values).fetchall()

    def _app(self, run: Callable[[IngestJob], None] | None = None) -> procrastinate.App:
        connector: procrastinate.BaseConnector = (
            procrastinate.SyncPsycopgConnector(conninfo=self._conninfo, min_size=1, max_size=2)
            if run is None
            else procrastinate.PsycopgConnector(conninfo=self._conninfo, min_size=1, max_size=4)
        )
        app = procrastinate.App(connector=connector)

        @app.task(
            name=_QUEUE,
            queue=_QUEUE,
            retry=procrastinate.RetryStrategy(
                max_attempts=_ATTEMPTS, exponential_wait=2, retry_exceptions=_RETRIED
            ),
        )
        def ingest(**values: Any) -> None:
            if run is not None:
                run(_job(values))

        return app

    def _defer(self, app: procrastinate.App, job: IngestJob, priority: int) -> int:
        task = app.configure_task(
            _QUEUE, queue=_QUEUE, lock=job.key, queueing_lock=job.key, priority=priority
        )
        try:
            task.defer(**asdict(job))
        except AlreadyEnqueued:
            return 0
        return 1

    async def _work(self, run: Callable[[IngestJob], None], *, wait: bool) -> None:
        app = self._app(run)
        async with app.open_async():
            rescuing = asyncio.create_task(self._rescue(app))
            await app.run_worker_async(
                queues=[_QUEUE],
                wait=wait,
                fetch_job_polling_interval=self._pace.poll,
                update_heartbeat_interval=self._pace.sign_of_life,
                stalled_worker_timeout=self._pace.given_up,
                delete_jobs="successful",
            )
            rescuing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await rescuing

    async def _rescue(self, app: procrastinate.App) -> None:
        """Take back the jobs of workers that died, until cancelled."""
        while True:
            stalled = await app.job_manager.get_stalled_jobs(
                seconds_since_heartbeat=self._pace.given_up
            )
            for job in stalled:
                await _take_back(app, job)
            await asyncio.sleep(self._pace.sign_of_life)


async def _take_back(app: procrastinate.App, job: Job) -> None:
    assert job.id is not None
    with contextlib.suppress(procrastinate.exceptions.ConnectorException):
        if job.attempts >= _ATTEMPTS:
            await app.job_manager.finish_job_by_id_async(
                job.id, status=procrastinate.jobs.Status.FAILED, delete_job=False
            )
        else:
            await app.job_manager.retry_job(job, retry_at=datetime.now(UTC))


def _job(values: Mapping[str, Any]) -> IngestJob:
    files = tuple((path, relative) for path, relative in values["files"])
    return IngestJob(**{**values, "files": files})


class FileFailedError(SourceError):
    """A file could not be read; trying again unchanged cannot help, so its job is given up."""

    default_code = "file_failed"


__all__ = ["FileFailedError", "Pace", "PostgresQueue"]
