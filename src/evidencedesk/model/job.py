"""Ingestion jobs: files that wait for a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class IngestJob:
    """One file to bring into the index. Doing it twice is the same as doing it once.

    Attributes:
        tenant: whose document it will be.
        path: where workers open it; all must see it there.
        root: the PATH given by whoever queued it.
        relative: its place below the root.
        declared: what was said of the documents: ``roles deny status lang owner``.
    """

    tenant: str
    path: str
    root: str
    relative: str
    declared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for two jobs on one file of one tenant, which are not done at the same time."""
        return f"{self.tenant} {self.root} {self.relative}"


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that was given up.

    Attributes:
        id: its number, by which it is retried.
        job: the job.
        attempts: how often it was tried.
    """

    id: int
    job: IngestJob
    attempts: int


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many jobs there are.

    Attributes:
        waiting: of each tenant, those not begun.
        doing: those that workers have.
        failed: those given up.
    """

    waiting: Mapping[str, int]
    doing: int
    failed: int
