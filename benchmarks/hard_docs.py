"""Difficult files, each through the product's own path, each held to what a person would expect.

Run ``python -m benchmarks.hard_docs ../shared/data/hard_docs [name ...]``. Every file is read, told
by its content, parsed in the child process with the product's limits and cut into chunks; a row says
how long that took, how much memory the parsing process had at its peak, what came out, and whether
the file's expectation (``hard_docs_expected.py``) holds. Files without an expectation of their own
must give text or a clear error, like all others: no crash, no more than 60 s or 1 GB.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.hard_docs_checks import Outcome, both, sane
from benchmarks.hard_docs_expected import EXPECTED
from evidencedesk.chunking import chunk_document
from evidencedesk.errors import SourceError
from evidencedesk.ingestion.load import SourceFile
from evidencedesk.ingestion.metadata import DeclaredMetadata
from evidencedesk.ingestion.sandbox import ParserPool
from evidencedesk.pipeline.documents import Reading, open_file, read_document
from evidencedesk.settings import Settings
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.wiring import parser_pool, reading


class Peak:
    """Peak resident memory of our child processes while a file is read."""

    def __init__(self) -> None:
        self.kilobytes = 0
        self._stop = threading.Event()
        for pid in _children():
            _write(Path(f"/proc/{pid}/clear_refs"), "5")
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            done = self._stop.wait(0.02)
            self.kilobytes = max([self.kilobytes, *map(_peak_of, _children())])
            if done:
                return

    def megabytes(self) -> float:
        """The peak so far; ends the watch."""
        self._stop.set()
        self._thread.join()
        return self.kilobytes / 1024


def _children() -> list[str]:
    found: list[str] = []
    for task in Path("/proc/self/task").iterdir():
        try:
            found += (task / "children").read_text().split()
        except OSError:
            continue
    return found


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError:
        return


def _peak_of(pid: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def read(path: Path, root: Path, how: Reading) -> Outcome:
    """What becomes of one file."""
    peak, started = Peak(), time.monotonic()
    found: list[tuple[str, object]] = list(_documents(path, root, how))
    seconds = time.monotonic() - started
    documents = tuple((source, each) for source, each in found if not isinstance(each, SourceError))
    return Outcome(
        documents=documents,
        errors=tuple(
            (source, each.code, each.message)
            for source, each in found
            if isinstance(each, SourceError)
        ),
        warnings=tuple(text for _, document in documents for text in document.warnings),
        chunks=sum(len(chunk_document(document)) for _, document in documents),
        seconds=seconds,
        peak_mb=peak.megabytes(),
        metadata=_declared(path, how),
    )


def _documents(path: Path, root: Path, how: Reading) -> Iterator[tuple[str, object]]:
    file = SourceFile(path, root, path.relative_to(root).as_posix())
    try:
        yield file.relative, read_document(open_file(file, how), how, taken=lambda _: False)
    except SourceError as error:
        yield file.relative, error


def _declared(path: Path, how: Reading) -> dict[str, object]:
    if path.suffix != ".md":
        return {}
    try:
        return how.parsers.parse(path.read_bytes(), path.name, "text/markdown").metadata
    except SourceError:
        return {}


def main() -> int:
    """Print a row for each file and a summary; 1 when fewer than 97 % hold."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("names", nargs="*", help="only files whose name has one of these in it")
    options = arguments.parse_args()
    root = options.folder.resolve()
    with (root / "manifest.tsv").open(encoding="utf-8", newline="") as manifest:
        names = [entry["file"] for entry in csv.DictReader(manifest, delimiter="\t")]
    if options.names:
        names = [name for name in names if any(part in name for part in options.names)]
    settings = Settings()
    with parser_pool(settings) as pool:
        failed = run(names, root, pool, settings)
    expected = sum(name in EXPECTED for name in names)
    missed = sum(name in EXPECTED for name in failed)
    print(
        f"\n{len(names)} files; {expected} with an expectation, {expected - missed} of them hold."
    )
    print(f"Others that crashed, hung or gave nothing: {len(failed) - missed}.")
    return int(missed > 0.03 * expected or len(failed) > missed)


def run(names: list[str], root: Path, pool: ParserPool, settings: Settings) -> list[str]:
    """Read the files, print their rows, and return those that failed."""
    clock = SteppingClock()
    failed = []
    print("holds  seconds    MB  chunks  file  (what came of it)")
    for name in names:
        how = reading(settings, pool, clock, DeclaredMetadata(), "default")
        outcome = read(root / name, root, how)
        problem = both(sane, EXPECTED.get(name, sane))(outcome)
        mark = "NO " if problem else ("yes" if name in EXPECTED else " - ")
        came = ", ".join(sorted(outcome.codes)) or f"{len(outcome.documents)} read"
        note = "; ".join(filter(None, [problem, *outcome.warnings]))[:300]
        print(
            f"{mark:5s} {outcome.seconds:8.2f} {outcome.peak_mb:5.0f} {outcome.chunks:7d}  {name}"
            f"  ({came}{': ' if note else ''}{note})",
            flush=True,
        )
        if problem:
            failed.append(name)
    return failed


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a text stream
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
