"""``evidencedesk worker`` and ``evidencedesk jobs``: ingestion by workers, over a database server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.options import DocumentRoles, DocumentStatus, DocumentTenant
from evidencedesk.desk.queueing import jobs_for, queue_of, working
from evidencedesk.wiring import SystemClock

app = new_app()
jobs_app = new_app("Files that wait for workers, and those that were given up.")


@app.command(epilog=examples("worker", "worker --once"))
@command()
def worker(
    call: Call,
    *,
    once: Annotated[bool, typer.Option("--once", help="End when no job waits.")] = False,
) -> None:
    """Take ingestion jobs from the queue until Ctrl-C; run as many as you like, anywhere."""
    with call.open(create=True) as desk, working(desk) as run:
        queue_of(desk).work(run, wait=not once)
    if call.as_json:
        call.terminal.json({"done": run.done, "failed": run.failed})
        return
    call.terminal.line(f"{run.done} jobs done, {run.failed} failed")


@jobs_app.command("put", epilog=examples("jobs put policies/ --role staff"))
@command()
def put(
    call: Call,
    *,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders.")],
    role: DocumentRoles = None,
    tenant: DocumentTenant = None,
    status: DocumentStatus = None,
) -> None:
    """Queue every file under PATH. Workers must see the files at the same place."""
    declared: dict[str, Any] = {
        "roles": None if role is None else frozenset(role),
        "deny": None,
        "status": status,
        "lang": None,
        "owner": None,
    }
    with call.open() as desk:
        jobs = jobs_for(desk, paths, declared, tenant)
        added = queue_of(desk).put(jobs)
    if call.as_json:
        call.terminal.json({"queued": added, "waiting_already": len(jobs) - added})
        return
    call.terminal.line(f"{added} jobs queued, {len(jobs) - added} waited already")


@jobs_app.command("list", epilog=examples("jobs list"))
@command()
def list_jobs(call: Call) -> None:
    """How many jobs of a few files wait, for each tenant, and which were given up (`log` says why)."""
    with call.open() as desk:
        queue = queue_of(desk)
        counts, failed = queue.counts(), queue.failed()
    if call.as_json:
        call.terminal.json(
            {
                "waiting": dict(counts.waiting),
                "doing": counts.doing,
                "failed": [
                    {
                        "id": each.id,
                        "tenant": each.job.tenant,
                        "files": [path for path, _ in each.job.files],
                        "attempts": each.attempts,
                    }
                    for each in failed
                ],
            }
        )
        return
    for tenant, count in sorted(counts.waiting.items()):
        call.terminal.line(f"{count} wait for {tenant}")
    call.terminal.line(f"{counts.doing} in work, {counts.failed} given up")
    call.terminal.table(
        ("job", "tenant", "files", "attempts"),
        (
            (str(each.id), each.job.tenant, _shown(each.job.files), str(each.attempts))
            for each in failed
        ),
    )


def _shown(files: Sequence[tuple[str, str]]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{files[0][0]}{more}"


@jobs_app.command("retry", epilog=examples("jobs retry 17"))
@command()
def retry(
    call: Call,
    *,
    job: Annotated[int, typer.Argument(metavar="JOB", help="Its number in `jobs list`.")],
) -> None:
    """Let a job that was given up wait again."""
    with call.open() as desk:
        queue_of(desk).retry(job, SystemClock().now())
    if call.as_json:
        call.terminal.json({"retried": job})
        return
    call.terminal.line(f"Job {job} waits again.")
