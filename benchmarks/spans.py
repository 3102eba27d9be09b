"""Random spans of canonical texts, found again in the original files by independent readers.

Run ``python -m benchmarks.spans FOLDER [--spans 200] [name ...]``: each file under FOLDER is read by
the product; of each document 200 spans are drawn; each is located, and the place is read again from
the original bytes by another library (``benchmarks/span_readers.py``). A row says how many of them
hold, and shows one that does not; each format's row is followed by why (``benchmarks/span_causes.py``).
"""

from __future__ import annotations

import argparse
import random
import warnings
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.span_causes import cause_of
from benchmarks.span_readers import READERS, letters, stands_there
from evidencedesk.errors import SourceError
from evidencedesk.ingestion.load import SourceFile, discover
from evidencedesk.ingestion.metadata import DeclaredMetadata
from evidencedesk.ingestion.sniff import WITHOUT_TEXT
from evidencedesk.model import BlockKind, Document, Locator, Span
from evidencedesk.pipeline.documents import Reading, open_file, read_document
from evidencedesk.settings import Settings
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.wiring import parser_pool, reading

_LONGEST = 60
_LARGEST_FILE = 20_000_000


def spans(document: Document, count: int) -> Iterator[Span]:
    """Random spans inside blocks, each with a letter in it."""
    choose = random.Random(document.content_hash)
    blocks = [block for block in document.blocks if block.kind is not BlockKind.HEADING]
    blocks = blocks or list(document.blocks)
    drawn = 0
    for _ in range(count * 5):
        if not blocks or drawn == count:
            return
        block = choose.choice(blocks)
        start = choose.randrange(block.start, block.end)
        end = min(start + choose.randint(1, _LONGEST), block.end)
        if letters(document.text[start:end]):
            drawn += 1
            yield Span(start, end)


def check(
    document: Document, data: bytes, count: int, causes: Counter[str]
) -> tuple[int, int, str]:
    """How many spans were drawn and hold, and one that does not; ``causes`` counts why."""
    locator, reader = Locator(document), READERS[document.media_type]
    drawn = held = 0
    problem = ""
    for span in spans(document, count):
        drawn += 1
        words = document.text[span.start : span.end]
        location = locator.locate(span)
        there = reader(data, location)
        if stands_there(words, there):
            held += 1
            continue
        causes[cause_of(document.media_type, data, words, there)] += 1
        if not problem:
            problem = f"{location.label}: {words!r} is not in {there[:80]!r}"
    return drawn, held, problem


def documents(folder: Path, how: Reading, names: list[str]) -> Iterator[tuple[Document, bytes]]:
    """Documents with the bytes they were read from."""
    for file in discover([folder]).files:
        wanted = not names or any(name in file.relative for name in names)
        if wanted and file.path.stat().st_size <= _LARGEST_FILE:
            yield from _documents(file, how)


def _documents(file: SourceFile, how: Reading) -> Iterator[tuple[Document, bytes]]:
    try:
        opened = open_file(file, how)
        if opened.media_type in WITHOUT_TEXT:
            return
        yield read_document(opened, how, taken=lambda _: False), opened.content.data
    except SourceError:
        return


def main() -> None:
    """Print a row for each file whose spans do not all hold, and one for each format."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--spans", type=int, default=200)
    options = arguments.parse_args()
    warnings.filterwarnings("ignore", module="html5lib")
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    causes: dict[str, Counter[str]] = defaultdict(Counter)
    with parser_pool(Settings()) as pool:
        how = reading(Settings(), pool, SteppingClock(), DeclaredMetadata(), "default")
        for document, data in documents(options.folder, how, options.names):
            kind = document.media_type.rpartition(".")[2].rpartition("/")[2]
            try:
                drawn, held, problem = check(document, data, options.spans, causes[kind])
            except (KeyError, ValueError, OSError, AttributeError, IndexError, zipfile.BadZipFile) as error:  # fmt: skip
                print(f"  not read by the other library: {document.source} ({error!r:.90})")
                continue
            total = totals[kind]
            total[0] += 1
            total[1] += drawn == held
            total[2] += drawn
            total[3] += held
            if drawn > held:
                print(f"  {held}/{drawn} {document.source}: {problem}", flush=True)
    for kind, (files, whole, drawn, held) in sorted(totals.items()):
        print(f"{kind}: {whole} of {files} files whole; {held} of {drawn} spans hold")
        for cause, number in causes[kind].most_common():
            print(f"    {number} not found: {cause}")


if __name__ == "__main__":
    main()
