"""The embedded store: search under rights, replace, open, memory, beside bare products and FTS5.

    python -m benchmarks.store [--chunks 100000 1000000] [--json]

The workload is that of ``benchmarks.store_workload``. Each number of chunks is built once in a
temporary folder; a child process opens it and is measured. ``bare`` is one int8 product of the
whole matrix with the question by numkong, by itself, one after the other in the same child after
its memory was taken; ``bare_in_turn`` are such products with a vector search before each: a memory
bus that was busy with other things answers more slowly than one that does nothing else. ``fts5`` is
SQLite's own full-text index on the same texts with one access token per chunk; its scores know the
statistics of what the reader may not see.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numkong
import numpy as np

from benchmarks import store_partitions, store_postgres
from benchmarks import store_workload as workload
from benchmarks.store_timing import (
    SPEC,
    measure_replacing,
    measure_searching,
    only,
    pair,
    percentiles,
    recall,
    search,
    show_searches,
    timed,
)
from evidencedesk.access import AccessFilter
from evidencedesk.adapters.stores.sqlite import SQLiteStore
from evidencedesk.model import StoreQuery

BARS = {
    100_000: (
        (
            "vector p50, all seen, over 3 * bare + 1 ms",
            lambda r: r["vector"]["all"]["p50"] - 3 * r["bare"]["p50"],
            1.0,
        ),
        ("1 - recall@10, worst", lambda r: 1 - min(r["recall"].values()), 0.001),
        ("keyword p95, 10 % seen", lambda r: r["keyword"]["tenth"]["p95"], 10.0),
        ("keyword p95, all seen", lambda r: r["keyword"]["all"]["p95"], 25.0),
        ("replace p95", lambda r: r["replace"]["p95"], 10.0),
        ("open, ms", lambda r: r["open_ms"], 200.0),
    ),
    1_000_000: (
        ("hybrid p95, 10 % seen", lambda r: r["hybrid"]["tenth"]["p95"], 120.0),
        ("resident, MB", lambda r: r["resident_mb"], 1000.0),
    ),
}


class UtcClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The time of day."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds."""
        return time.monotonic()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--replacements", type=int, default=300)
    parser.add_argument("--folder", type=Path, help="keep the indexes here and use those found")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--partitions", action="store_true", help="in partitions, too (postgres)")
    parser.add_argument("--url", help="the PostgreSQL server; one of its own is started without")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine == "postgres":
        engine = store_partitions if options.partitions else store_postgres
        engine.main(options, UtcClock())
        return
    if options.read:
        print(json.dumps(measure_reader(options.read, options.queries)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        reports = [measure(folder, chunks, options) for chunks in options.chunks]
    if options.json:
        print(json.dumps(reports, indent=1))
    else:
        for report in reports:
            show(report)


def measure(folder: Path, chunks: int, options: argparse.Namespace) -> dict[str, Any]:
    """Build ``chunks`` chunks unless they are there, and measure everything."""
    path = folder / f"{chunks}.desk"
    exact_path = folder / f"{chunks}.exact.json"
    report: dict[str, Any] = {"chunks": chunks, "load_average": os.getloadavg()[0]}
    if not exact_path.exists():
        report["build_chunks_per_s"] = build(path, exact_path, chunks, options.queries)
    command = [sys.executable, "-m", "benchmarks.store", "--read", str(path)]
    command += ["--queries", str(options.queries)]
    child = subprocess.run(command, check=True, capture_output=True, text=True)
    report |= json.loads(child.stdout)
    found = report.pop("found")
    exact = json.loads(exact_path.read_text())
    report["recall"] = recall(exact, found)
    if chunks <= 100_000:
        report["fts5"] = measure_fts5(folder / f"{chunks}.fts5.sqlite3", chunks, options.queries)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        copy = shutil.copytree(path, Path(scratch) / path.name)
        store = SQLiteStore.open(copy, clock=UtcClock())
        report["replace"] = measure_replacing(store, chunks, options.replacements)
        store.close()
    return report


def build(path: Path, exact_path: Path, chunks: int, queries: int) -> float:
    """Write the index and the exact answers; chunks per second, without making the workload."""
    exact = workload.ExactNeighbours(workload.queries(queries))
    spent = 0.0
    store = SQLiteStore.open(path, create=True, clock=UtcClock(), embedding=SPEC)
    with store.write() as writer:
        for batch in workload.batches(chunks):
            exact.add(batch.vectors)
            start = time.perf_counter()
            for document, indexed in batch.documents:
                writer.replace_document(document, {1: indexed})
            spent += time.perf_counter() - start
    start = time.perf_counter()
    store.compact()
    store.close()
    exact_path.write_text(json.dumps(exact.answers()))
    return chunks / (spent + time.perf_counter() - start)


def measure_reader(path: Path, count: int) -> dict[str, Any]:
    """In a process of its own: open, searches of each kind, memory; then the bare product."""
    start = time.perf_counter()
    store = SQLiteStore.open(path, clock=UtcClock())
    with store.read(access=AccessFilter(roles=frozenset({"all"}))) as snapshot:
        snapshot.search(StoreQuery((("w0",),), None, 1))
    report: dict[str, Any] = {"open_ms": 1000 * (time.perf_counter() - start)}
    questions = workload.queries(count)
    searches, report["found"] = measure_searching(store, questions)
    report |= searches | _memory()
    chunks = store.info().chunks[1]
    matrix = np.random.default_rng(4).integers(-127, 128, (chunks, workload.DIMENSIONS), np.int8)
    products = [lambda r=row: numkong.cdist(matrix[r : r + 1], matrix, "dot") for row in range(50)]
    alone = [timed(product) for product in products]
    in_turn = []
    for product, question in zip(products, questions, strict=False):
        search(store, "all", [only("vector", question)])
        in_turn.append(timed(product))
    report["bare"], report["bare_in_turn"] = percentiles(alone), percentiles(in_turn)
    store.close()
    return report


def measure_fts5(path: Path, chunks: int, count: int) -> dict[str, Any]:
    """The same texts and questions in FTS5, filtered by a token per chunk and role."""
    fresh = not path.exists()
    database = sqlite3.connect(path)
    if fresh:
        database.execute("CREATE VIRTUAL TABLE texts USING fts5(text, roles, content='')")
        for batch in workload.batches(chunks):
            database.executemany(
                "INSERT INTO texts (text, roles) VALUES (?, ?)",
                [(c.chunk.text, " ".join(d.roles)) for d, cs in batch.documents for c in cs],
            )
        database.execute("INSERT INTO texts (texts) VALUES ('optimize')")
        database.commit()
    report: dict[str, Any] = {}
    for role in workload.SHARES:
        times = []
        for question in workload.queries(count):
            words = " OR ".join(f'"{group[0]}"' for group in question.term_groups)
            match = f"text : ({words}) AND roles : {role}"
            times.append(timed(lambda m=match: _fts5(database, m)))
        report[role] = percentiles(times)
    database.close()
    return report


def show(report: dict[str, Any]) -> None:
    """Print a report for people."""
    show_searches(report, ("vector", "keyword", "hybrid", "fts5"))
    print(
        f"bare int8 product {pair(report['bare'])}, in turn with searches "
        f"{pair(report['bare_in_turn'])}; replace {pair(report['replace'])}; "
        f"open {report['open_ms']:.0f}; resident {report['resident_mb']:.0f} MB "
        f"(own {report['own_mb']:.0f} MB, the rest mapped files)"
    )
    if "build_chunks_per_s" in report:
        print(f"built at {report['build_chunks_per_s']:,.0f} chunks/s")
    for name, value, bar in BARS.get(report["chunks"], ()):
        reached = value(report)
        print(f"  {'ok  ' if reached <= bar else 'MISS'} {name}: {reached:.4g} (at most {bar:g})")


def _fts5(database: sqlite3.Connection, match: str) -> list[Any]:
    return database.execute(
        "SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 100", (match,)
    ).fetchall()


def _memory() -> dict[str, float]:
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if " kB" in line}
    return {"resident_mb": sizes["VmRSS"], "own_mb": sizes["RssAnon"]}


if __name__ == "__main__":
    main()
