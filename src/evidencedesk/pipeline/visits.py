"""What servers said of documents the last time, kept beside the index.

Derived: without the file everything is fetched again, and nothing else changes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evidencedesk.model.source import Validators

FILE_NAME = "visits.json"


@dataclass(frozen=True, slots=True)
class Visit:
    """One document as it was fetched last.

    Attributes:
        validators: what the server said of its state.
        file_hash: of the bytes that it was.
    """

    validators: Validators
    file_hash: str


class Visits(Protocol):
    """Where visits are kept."""

    def load(self) -> dict[str, Visit]:
        """Visits by address."""

    def save(self, visits: Mapping[str, Visit]) -> None:
        """Keep these, and no others."""


class NoVisits:
    """Keeps nothing: everything is fetched every time."""

    def load(self) -> dict[str, Visit]:
        """None."""
        return {}

    def save(self, visits: Mapping[str, Visit]) -> None:
        """Forget them."""


class VisitsFile:
    """Visits in a file that its owner only may read."""

    def __init__(self, folder: Path) -> None:
        """Keep them in ``folder``, which is there once an index is."""
        self._path = folder / FILE_NAME

    def load(self) -> dict[str, Visit]:
        """Visits by address; none when the file is not there or is no such file."""
        try:
            stored = json.loads(self._path.read_text("utf-8"))
            return {
                url: Visit(Validators(str(etag), str(modified)), str(file_hash))
                for url, (etag, modified, file_hash) in stored.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def save(self, visits: Mapping[str, Visit]) -> None:
        """Write beside and rename, so that a run that is cut off leaves the old file."""
        rows = {
            url: [visit.validators.etag, visit.validators.modified, visit.file_hash]
            for url, visit in visits.items()
        }
        beside = self._path.with_suffix(".new")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(rows, file)
        beside.replace(self._path)
