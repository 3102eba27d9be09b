"""Rates of ingestion, end to end from files, with the semantic model and by keywords only.

Run ``python -m benchmarks.ingest``. Files of Markdown are written to a temporary folder and ingested
by the product with its defaults: parsed in the child process, chunked, embedded, stored. The
yardstick with the model is bare ONNX sessions on the very same texts (chunks and sentences, each
distinct one once, tokenised beforehand), in the same run. Memory is the peak of a fresh process.

Text: sentences of 6 to 24 words drawn from a 50,000-word vocabulary of English-like words by Zipf's
law, in paragraphs of about 100 words under headings.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.embed import bare_session_rate
from evidencedesk.adapters.models.cache import cache_directory, where
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.chunking import chunk_document
from evidencedesk.desk import Desk
from evidencedesk.indexing import embedding_text
from evidencedesk.model import Document, IngestReport
from evidencedesk.settings import Settings
from evidencedesk.text.sentences import sentences

VOCABULARY = 50_000
LONG, SHORT = 40, 5
"""Sections of a file, each a chunk: a manual of ten pages, and a page."""

ONSETS = [
    "b",
    "br",
    "c",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "qu",
    "r",
    "s",
    "sh",
    "st",
    "t",
    "th",
    "tr",
    "v",
    "w",
]
NUCLEI = ["a", "e", "i", "o", "u", "ai", "ea", "ee", "io", "ou"]
CODAS = ["n", "r", "s", "t", "l", "m", "ck", "nd", "st", "ng", "ble", "tion"]


def main() -> None:
    """Print the rates, or with ``--child`` the outcome of one ingestion as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model-files", type=int, default=60, help="files embedded")
    parser.add_argument("--keyword-files", type=int, default=500, help="long files by keywords")
    parser.add_argument("--memory-files", type=int, default=8000, help="short files by keywords")
    parser.add_argument("--child", nargs=2, metavar=("FOLDER", "MODEL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(ingest_here(Path(options.child[0]), options.child[1])))
        return
    with tempfile.TemporaryDirectory() as scratch:
        with_model(Path(scratch, "model"), options.model_files)
        by_keywords(Path(scratch, "keywords"), options.keyword_files)
        memory(Path(scratch, "memory"), options.memory_files)


def with_model(folder: Path, files: int) -> None:
    """The end-to-end rate beside that of bare sessions."""
    write_files(folder, files)
    texts = embedded_texts(folder)
    directory = where("minilm", cache_directory())
    before = bare_session_rate(directory, texts)
    outcome = in_child(folder, "minilm")
    after = bare_session_rate(directory, texts)
    bare, rate = (before + after) / 2, len(texts) / outcome["seconds"]
    print(f"with the model: {files} files, {outcome['chunks']} chunks, {len(texts)} texts")
    print(f"  bare ONNX sessions   {bare:8.0f} texts/s  ({before:.0f} before, {after:.0f} after)")
    print(
        f"  end to end           {rate:8.0f} texts/s  = {100 * rate / bare:.0f} % of bare (bar: 80 %)"
    )
    print(f"                       {outcome['chunks'] / outcome['seconds']:8.1f} chunks/s")


def by_keywords(folder: Path, files: int) -> None:
    """The rate without a model, of long files and of as many chunks in short ones."""
    for sections in (LONG, SHORT):
        part = folder / str(sections)
        write_files(part, files * LONG // sections, sections)
        outcome = in_child(part, "none")
        rate = outcome["chunks"] / outcome["seconds"]
        print(
            f"by keywords only: {files * LONG // sections} files of {sections} sections, "
            f"{outcome['chunks']} chunks"
        )
        print(f"  end to end           {rate:8.0f} chunks/s (bar: 4,000)")


def memory(folder: Path, files: int) -> None:
    """Peak memory for a number of files of one section, and for four times as many."""
    print("peak memory by keywords only (parent; largest child process)")
    for factor in (1, 4):
        part = folder / str(factor)
        write_files(part, files * factor, 1)
        outcome = in_child(part, "none")
        print(
            f"  {files * factor:6d} files        {outcome['peak_mb']:8.0f} MB; {outcome['child_mb']:.0f} MB"
        )


def in_child(folder: Path, model: str) -> dict[str, float]:
    """Ingest in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.ingest", "--child", str(folder), model]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    outcome: dict[str, float] = json.loads(done.stdout)
    return outcome


def ingest_here(folder: Path, model: str) -> dict[str, float]:
    """Ingest in this process and say what it took; the model is loaded before the clock starts."""
    settings = Settings.model_validate({"embedding": {"model": model}})
    with (
        tempfile.TemporaryDirectory() as scratch,
        Desk.open(Path(scratch, "bench.desk"), settings=settings, create=True) as desk,
    ):
        started = time.perf_counter()
        report: IngestReport = desk.ingest(folder, roles={"everyone"}, lang="en")
        seconds = time.perf_counter() - started
    return {
        "chunks": report.chunks,
        "seconds": seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "child_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }


def embedded_texts(folder: Path) -> list[str]:
    """The distinct texts that an ingestion of the folder embeds."""
    found: dict[str, None] = {}
    for path in sorted(folder.rglob("*.md")):
        parsed = MarkdownParser().parse(path.read_bytes(), path.name)
        document = Document(
            id=path.stem, text=parsed.text, title=parsed.title or path.stem, blocks=parsed.blocks
        )
        for chunk in chunk_document(document):
            found[embedding_text(chunk)] = None
            found.update(
                (chunk.text[span.start : span.end], None) for span in sentences(chunk.text)
            )
    return list(found)


def write_files(folder: Path, count: int, paragraphs: int = 5) -> None:
    """Write ``count`` Markdown files of so many sections."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(7)
    vocabulary = make_vocabulary(random)
    weights = 1.0 / np.arange(1, VOCABULARY + 1)
    draws = words(vocabulary, random, weights / weights.sum())
    for number in range(count):
        sections = [
            f"## Section {index + 1} about {next(draws)}\n\n{paragraph(draws, random)}\n"
            for index in range(paragraphs)
        ]
        text = f"# Policy {number} of {next(draws)}\n\n" + "\n".join(sections)
        (folder / f"policy-{number:06d}.md").write_text(text, encoding="utf-8")


def make_vocabulary(random: np.random.Generator) -> list[str]:
    """Distinct English-like words; the shortest come first, as frequent words are short."""
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        syllables = 1 if len(found) < 1_000 else 2 if len(found) < 20_000 else 3
        found[
            "".join(
                str(random.choice(ONSETS)) + str(random.choice(NUCLEI)) + str(random.choice(CODAS))
                for _ in range(syllables)
            )
        ] = None
    return list(found)


def words(vocabulary: list[str], random: np.random.Generator, weights: np.ndarray) -> Iterator[str]:
    """Words without end, drawn by the weights."""
    while True:
        for index in random.choice(len(vocabulary), size=100_000, p=weights):
            yield vocabulary[index]


def paragraph(draws: Iterator[str], random: np.random.Generator) -> str:
    """About a hundred words in sentences."""
    written, length = [], 0
    while length < 95:
        size = int(random.integers(6, 25))
        sentence = " ".join(next(draws) for _ in range(size))
        written.append(sentence[0].upper() + sentence[1:] + ".")
        length += size
    return " ".join(written)


if __name__ == "__main__":
    main()
