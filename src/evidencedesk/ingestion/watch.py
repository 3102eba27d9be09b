"""Waiting for files to change."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import watchfiles

from evidencedesk.ingestion.load import MANIFEST_NAME


def watch(
    paths: Sequence[Path], *, stop: threading.Event | None = None, debounce_ms: int = 500
) -> Iterator[frozenset[Path]]:
    """Batches of paths under ``paths`` that were added, changed or removed, until ``stop`` is set.

    Hidden files and folders never wake it; a changed manifest does, since it changes the rights of
    others. Changes that follow each other within ``debounce_ms`` milliseconds come as one batch.
    """
    for changes in watchfiles.watch(
        *paths, stop_event=stop, debounce=debounce_ms, raise_interrupt=True, watch_filter=None
    ):
        batch = frozenset(Path(name) for _, name in changes if _counts(Path(name), paths))
        if batch:
            yield batch


def _counts(path: Path, roots: Sequence[Path]) -> bool:
    for root in roots:
        try:
            inside = path.relative_to(root.resolve())
        except ValueError:
            continue
        return not any(part.startswith(".") for part in inside.parts)
    return path.name == MANIFEST_NAME
