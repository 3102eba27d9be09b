"""Ingestion jobs: files that wait for a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class IngestJob:
    """A few files to bring into the index. Doing it twice is the same as doing it once.

    Attributes:
        tenant: whose documents they will be.
        root: the PATH given by whoever queued them; all workers must see it there.
        files: of each file, its path and its place below the root.
        declared: what was said of the documents: ``roles deny status lang owner``.
    """

    tenant: str
    root: str
    files: tuple[tuple[str, str], ...]
    declared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for two jobs on the same files of a tenant; they are not done at the same time."""
        named = "\n".join((self.tenant, self.root, *(relative for _, relative in self.files)))
        return hashlib.sha256(named.encode()).hexdigest()


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
