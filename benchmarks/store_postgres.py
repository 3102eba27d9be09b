"""The store on PostgreSQL: search under rights, replace, build, beside the best form found by hand.

    python -m benchmarks.store --engine postgres [--chunks 100000 1000000] [--url postgresql://...]

The workload is that of ``benchmarks.store_workload``. Without ``--url`` a server of its own is started
(``evidencedesk.testing.postgres_server``), with a quarter of the memory a server would be given. ``by
hand`` is pgvector's exact search over ``halfvec`` for the ten nearest under the same classes, with
nothing else: no words, no statistics, no second scoring, no row-level security.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import psycopg

from benchmarks import store_workload as workload
from benchmarks.store_timing import (
    SPEC,
    measure_replacing,
    measure_searching,
    pair,
    percentiles,
    recall,
    show_searches,
)
from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.adapters.stores.postgres.address import Address
from evidencedesk.adapters.stores.postgres.connections import Limits
from evidencedesk.adapters.stores.postgres.placing import half_vector
from evidencedesk.adapters.stores.shared.quantization import quantize
from evidencedesk.model import StoreQuery
from evidencedesk.protocols import Clock
from evidencedesk.testing.postgres_server import temporary_server

PATIENT = Limits(statement=3600.0, idle=3600.0)
SERVER = {
    "shared_buffers": "2GB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "8GB",
    "max_connections": "40",
}
_BY_HAND = """
SELECT slot FROM vectors WHERE generation = 1 AND class = ANY (%s::integer[])
ORDER BY (codes <#> %s::halfvec) + 0 LIMIT 10
"""


def main(options: argparse.Namespace, clock: Clock) -> None:
    """Measure and print."""
    with ExitStack() as stack:
        url = options.url or stack.enter_context(temporary_server(small=False, **SERVER)).url()
        reports = [measure(url, chunks, options, clock) for chunks in options.chunks]
    if options.json:
        print(json.dumps(reports, indent=1))
        return
    for report in reports:
        show(report)


def measure(url: str, chunks: int, options: argparse.Namespace, clock: Clock) -> dict[str, Any]:
    """Build ``chunks`` chunks in a schema of their own and measure everything."""
    address = f"{url}{'&' if '?' in url else '?'}schema=bench_{chunks}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS bench_{chunks} CASCADE".encode())
    report: dict[str, Any] = {"chunks": chunks, "load_average": os.getloadavg()[0]}
    store = PostgresStore.open(address, create=True, clock=clock, embedding=SPEC, limits=PATIENT)
    questions = workload.queries(options.queries)
    exact, report["build_chunks_per_s"] = build(store, chunks, questions)
    with psycopg.connect(Address.parse(address).conninfo, autocommit=True) as connection:
        connection.execute(f"SET search_path = bench_{chunks}, public".encode())
        for table in ("vectors", "postings", "chunks", "placements", "documents"):
            connection.execute(f"VACUUM (ANALYZE) {table}".encode())
        report["bytes"] = store.info().bytes
        searches, found = measure_searching(store, questions)
        report |= searches | {"recall": recall(exact, found)}
        report["by_hand"] = by_hand(connection, questions)
    report["replace"] = measure_replacing(store, chunks, options.replacements)
    store.close()
    return report


def build(
    store: PostgresStore, chunks: int, questions: list[StoreQuery]
) -> tuple[dict[str, list[list[int]]], float]:
    """Write the index; the exact answers, and chunks per second without making the workload."""
    exact = workload.ExactNeighbours(questions)
    spent = 0.0
    with store.write() as writer:
        for batch in workload.batches(chunks):
            exact.add(batch.vectors)
            start = time.perf_counter()
            with writer.together():
                for document, indexed in batch.documents:
                    writer.replace_document(document, {1: indexed})
            spent += time.perf_counter() - start
    return exact.answers(), chunks / spent


def by_hand(
    connection: psycopg.Connection[Any], questions: Sequence[StoreQuery]
) -> dict[str, dict[str, float]]:
    """The ten nearest by a query that somebody who knows pgvector would write."""
    report = {}
    for role in workload.SHARES:
        classes = [
            number
            for number, roles in connection.execute("SELECT id, roles FROM access_classes")
            if role in roles
        ]
        times = []
        for question in questions:
            assert question.vector is not None
            codes, _ = quantize(question.vector[None])
            start = time.perf_counter()
            connection.execute(_BY_HAND, (classes, half_vector(codes[0]))).fetchall()
            times.append(1000 * (time.perf_counter() - start))
        report[role] = percentiles(times)
    return report


def show(report: dict[str, Any]) -> None:
    """Print a report for people."""
    show_searches(report, ("vector", "keyword", "hybrid", "by_hand"), "PostgreSQL, ")
    print(
        f"replace {pair(report['replace'])}; built at {report['build_chunks_per_s']:,.0f} chunks/s; "
        f"{report['bytes'] / 1e6:,.0f} MB"
    )
    ratio = report["vector"]["tenth"]["p95"] / report["by_hand"]["tenth"]["p95"]
    worst = min(report["recall"].values())
    for ok, line in (
        (worst >= 0.99, f"recall@10, worst: {worst:.4f} (at least 0.99)"),
        (ratio <= 3.0, f"p95 at 10 % seen, times the best by hand: {ratio:.2f} (at most 3)"),
    ):
        print(f"  {'ok  ' if ok else 'MISS'} {line}")
