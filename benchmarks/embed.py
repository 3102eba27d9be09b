"""Rates of the semantic model: alone or in padded batches, sessions by threads, int8 or fp32.

Run ``python -m benchmarks.embed``. The texts are the reference sentences of the tests and
paragraphs packed from them; every row embeds the same ones. ``bare_session_rate`` is the yardstick
of ``benchmarks.ingest``: what ONNX Runtime does when nothing else is done.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from evidencedesk.adapters.cores import usable_cores
from evidencedesk.adapters.embedders.onnx import OnnxEmbedder
from evidencedesk.adapters.models.cache import cache_directory, where
from evidencedesk.adapters.models.manifest import read_manifest

SENTENCES = Path(__file__).parent.parent / "tests" / "data" / "reference_sentences.json"
BATCH = 32
ENGLISH = 120
"""So many of the reference sentences, from the first, are plain English."""

Feed = dict[str, NDArray[np.int64]]


def bare_session_rate(
    directory: Path, texts: Sequence[str], *, sessions: int | None = None, precision: str = ""
) -> float:
    """Texts per second of bare ONNX sessions on texts tokenised beforehand.

    One text per run, one single-thread session per core, each taking the next text when it is
    free. Tokenising, pooling, checking and storing are left out, so nothing can be faster.

    Args:
        directory: the model directory.
        texts: what to embed.
        sessions: how many run side by side; one per core when None.
        precision: which graph; the default one when empty.
    """
    count = sessions or usable_cores()
    runners = [open_bare(directory, precision) for _ in range(count)]
    feeds = tokenised(directory, texts)
    for runner in runners:
        runner.run(["sentence_embedding"], feeds[0])
    remaining = iter(feeds)

    def drain(runner: onnxruntime.InferenceSession) -> None:
        for feed in remaining:
            runner.run(["sentence_embedding"], feed)

    start = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(drain, runners))
    return len(texts) / (time.perf_counter() - start)


def open_bare(
    directory: Path, precision: str = "", threads: int = 1
) -> onnxruntime.InferenceSession:
    """A session on a graph of the directory with so many threads for one run."""
    manifest = read_manifest(directory)
    graph = manifest.graphs[precision or next(iter(manifest.graphs))][0]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        str(directory / graph), options, providers=["CPUExecutionProvider"]
    )


def tokenised(directory: Path, texts: Sequence[str]) -> list[Feed]:
    """What a session is fed for each text alone."""
    tokenizer = _tokenizer(directory)
    encodings = [tokenizer.encode(text) for text in texts]
    return [
        {
            "input_ids": np.array([encoding.ids]),
            "attention_mask": np.array([encoding.attention_mask]),
        }
        for encoding in encodings
    ]


def padded(directory: Path, texts: Sequence[str], size: int) -> list[Feed]:
    """What a session is fed in batches of similar length, padded to the longest of each."""
    tokenizer = _tokenizer(directory)
    ordered = by_tokens(directory, texts)
    tokenizer.enable_padding()
    groups = [
        tokenizer.encode_batch(ordered[start : start + size])
        for start in range(0, len(ordered), size)
    ]
    return [
        {
            "input_ids": np.array([encoding.ids for encoding in group]),
            "attention_mask": np.array([encoding.attention_mask for encoding in group]),
        }
        for group in groups
    ]


def by_tokens(directory: Path, texts: Sequence[str]) -> list[str]:
    """The texts, shortest first."""
    tokenizer = _tokenizer(directory)
    return sorted(texts, key=lambda text: len(tokenizer.encode(text).ids))


def _tokenizer(directory: Path) -> Tokenizer:
    manifest = read_manifest(directory)
    tokenizer = Tokenizer.from_file(str(directory / manifest.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(manifest.max_tokens)
    return tokenizer


def run_all(
    runners: Sequence[onnxruntime.InferenceSession], feeds: Sequence[Feed], workers: int
) -> float:
    """Seconds to run all feeds, spread over the sessions by as many workers."""
    remaining = iter(feeds)

    def drain(worker: int) -> None:
        runner = runners[worker % len(runners)]
        for feed in remaining:
            runner.run(["sentence_embedding"], feed)

    start = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(drain, range(workers)))
    return time.perf_counter() - start


def best_of(rounds: int, measure: Callable[[], float]) -> float:
    """The smallest of several measurements."""
    return min(measure() for _ in range(rounds))


def drift(directory: Path, precision: str, texts: Sequence[str]) -> float:
    """Smallest cosine between a text's vector alone and in a padded batch of similar length."""
    session = open_bare(directory, precision)
    ordered = by_tokens(directory, texts)

    def vectors(feeds: Sequence[Feed]) -> NDArray[np.float32]:
        return np.concatenate([session.run(["sentence_embedding"], feed)[0] for feed in feeds])

    alone = vectors(tokenised(directory, ordered))
    return float((alone * vectors(padded(directory, ordered, BATCH))).sum(axis=1).min())


def report(directory: Path, rounds: int) -> None:
    """Print every table."""
    sentences = json.loads(SENTENCES.read_text(encoding="utf-8"))[:ENGLISH]
    paragraphs = [" ".join(sentences[start : start + 8]) for start in range(0, ENGLISH - 8, 2)]
    cores = usable_cores()
    modes = {
        f"alone, {cores} sessions x 1 thread": (cores, 1, cores, 1),
        f"alone, 1 session shared by {cores} workers": (1, 1, cores, 1),
        f"alone, 1 session x {cores} threads": (1, cores, 1, 1),
        f"batch {BATCH}, {cores} sessions x 1 thread": (cores, 1, cores, BATCH),
        f"batch {BATCH}, 1 session x {cores} threads": (1, cores, 1, BATCH),
    }
    for label, texts in (("sentences", sentences), ("paragraphs", paragraphs)):
        tokens = sum(feed["input_ids"].size for feed in tokenised(directory, texts)) / len(texts)
        print(f"\n{len(texts)} {label}, {tokens:.0f} tokens each on average: texts/s")
        for precision in read_manifest(directory).graphs:
            for mode, (count, threads, workers, size) in modes.items():
                runners = [open_bare(directory, precision, threads) for _ in range(count)]
                feeds = tokenised(directory, texts) if size == 1 else padded(directory, texts, size)
                run_all(runners, feeds[:2], workers)
                seconds = best_of(rounds, partial(run_all, runners, feeds, workers))
                print(f"  {precision}  {mode:42}{len(texts) / seconds:8.0f}")
            embedder = OnnxEmbedder(directory, precision=precision)
            seconds = best_of(rounds, partial(_timed, embedder, texts))
            print(f"  {precision}  {'OnnxEmbedder.embed_passages':42}{len(texts) / seconds:8.0f}")
    for precision in read_manifest(directory).graphs:
        least = drift(directory, precision, sentences)
        print(f"\n{precision}: smallest cosine of a text alone and in a padded batch: {least:.5f}")
        _latency(directory, precision, sentences)


def _timed(embedder: OnnxEmbedder, texts: Sequence[str]) -> float:
    start = time.perf_counter()
    embedder.embed_passages(texts)
    return time.perf_counter() - start


def _latency(directory: Path, precision: str, questions: Sequence[str]) -> None:
    start = time.perf_counter()
    embedder = OnnxEmbedder(directory, precision=precision)
    opened = time.perf_counter() - start
    laps = []
    for question in questions:
        start = time.perf_counter()
        embedder.embed_query(question)
        laps.append(1000 * (time.perf_counter() - start))
    p50, p95 = np.percentile(laps, [50, 95])
    print(
        f"{precision}: open {1000 * opened:.0f} ms; a question {p50:.1f} ms p50, {p95:.1f} ms p95"
    )


def main() -> None:
    """Read the options and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, nargs="?", help="model directory")
    parser.add_argument("--rounds", type=int, default=3, help="best of so many (default 3)")
    options = parser.parse_args()
    report(options.directory or where("minilm", cache_directory()), options.rounds)


if __name__ == "__main__":
    main()
