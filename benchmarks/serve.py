"""The server under load, beside a bare FastAPI route in the same run.

    python -m benchmarks.serve [--seconds 8] [--workers 1] [--soak-minutes 5] [--json]

A server with the extractive reader and the sample corpora runs in processes of its own; 1, 8 and 64
clients ask and search for a bounded time each, half as one reader and half as another. ``bare`` is a
FastAPI route that returns a constant, on the same uvicorn, asked by the same clients: what HTTP and the
clients themselves cost here. With ``--soak-minutes`` 64 clients go on asking while files are uploaded.
Every answer is looked at: one that cites what its reader may not see is an error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from evidencedesk import Desk
from evidencedesk.settings import Settings

ROOT = Path(__file__).parents[1]
CLIENTS = (1, 8, 64)
QUESTIONS = {
    "staff": [
        "How long do I have to return a bike?",
        "What does the warranty cover?",
        "Who pays for the delivery?",
        "How do I report a damaged frame?",
    ],
    "academy": [
        "When can a student get a refund?",
        "How many lessons can be missed?",
        "What does the beginner course cost?",
        "Who teaches the evening class?",
    ],
}

bare_app = FastAPI(openapi_url=None)


@bare_app.get("/")
async def constant() -> dict[str, str]:
    """The bare route."""
    return {"answer": "constant"}


@dataclass(slots=True)
class Reader:
    """Who asks, and which documents he may see."""

    name: str
    headers: dict[str, str]
    visible: frozenset[str]


@dataclass(slots=True)
class Load:
    """What came of one load."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """p50 and p95 in milliseconds, requests per second, errors."""
        cuts = statistics.quantiles(self.times, n=20) if len(self.times) > 1 else [0.0] * 19
        return {
            "requests": len(self.times),
            "p50_ms": round(statistics.median(self.times) * 1000, 1) if self.times else None,
            "p95_ms": round(cuts[18] * 1000, 1),
            "per_second": round(len(self.times) / self.seconds, 1),
            "errors": len(self.errors),
        }


@contextmanager
def served(arguments: Sequence[str], environment: dict[str, str]) -> Iterator[tuple[int, str]]:
    """A process that prints ``{"address": ...}`` once it serves: its id and that address."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
    )
    try:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            text += process.stdout.readline()
        address = json.loads(text)["address"]
        _wait_for(address + ("/health/ready" if "serve" in arguments else "/"))
        yield process.pid, address
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if httpx2.get(url).status_code == httpx2.codes.OK:
                return
        except httpx2.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(url)


def serve_bare() -> None:
    """Serve the bare route on a free port (run in a process of its own)."""
    import socket  # noqa: PLC0415 - only this child needs it

    import uvicorn  # noqa: PLC0415

    # Named as TCP, or asyncio does not switch Nagle's algorithm off and each reply waits 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        print(json.dumps({"address": f"http://127.0.0.1:{listener.getsockname()[1]}"}), flush=True)
        config = uvicorn.Config(bare_app, log_config=None, access_log=False, ws="none")
        uvicorn.Server(config).run(sockets=[listener])


async def load(
    address: str, path: str, readers: Sequence[Reader], clients: int, seconds: float
) -> Load:
    """``clients`` ask one after the other for ``seconds``."""
    found = Load()
    limits = httpx2.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx2.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        started = time.perf_counter()
        until = started + seconds
        await asyncio.gather(
            *(_client(client, path, readers, number, until, found) for number in range(clients))
        )
        found.seconds = time.perf_counter() - started
    return found


async def _client(
    client: httpx2.AsyncClient,
    path: str,
    readers: Sequence[Reader],
    number: int,
    until: float,
    found: Load,
) -> None:
    choose = random.Random(number)
    while time.perf_counter() < until:
        began = time.perf_counter()
        try:
            if path == "/":
                reply, wrong = await client.get("/"), ""
            else:
                reader = readers[number % len(readers)]
                reply, wrong = await _ask(client, path, reader, choose)
        except httpx2.HTTPError as error:
            found.errors.append(type(error).__name__)
            continue
        if reply.status_code != httpx2.codes.OK or wrong:
            found.errors.append(wrong or str(reply.status_code))
        else:
            found.times.append(time.perf_counter() - began)


async def _ask(
    client: httpx2.AsyncClient, path: str, reader: Reader, choose: random.Random
) -> tuple[httpx2.Response, str]:
    everybody = [question for each in QUESTIONS.values() for question in each]
    body = {"query" if path == "/v1/search" else "question": choose.choice(everybody)}
    reply = await client.post(path, json=body, headers=reader.headers)
    found = reply.json() if reply.status_code == httpx2.codes.OK else {}
    rows = [*found.get("hits", []), *found.get("citations", [])]
    seen = {row["document_id"] for row in rows}
    seen |= {row["chunk_id"].rpartition(":")[0] for row in found.get("retrieved", [])}
    foreign = {each for each in seen if each not in reader.visible and "~" not in each}
    return reply, f"{reader.name} saw {sorted(foreign)[:3]}" if foreign else ""


async def soak(
    address: str, readers: Sequence[Reader], uploader: dict[str, str], pid: int, minutes: float
) -> dict[str, Any]:
    """64 clients ask while files are uploaded; what came of it, and memory before and after."""
    await load(address, "/v1/ask", readers, 64, 10)
    before = resident_mb(pid)
    asking = asyncio.create_task(load(address, "/v1/ask", readers, 64, minutes * 60))
    jobs: list[str] = []
    async with httpx2.AsyncClient(base_url=address, timeout=120, headers=uploader) as client:
        while not asking.done():
            files = [
                (
                    "files",
                    (f"n{n}.md", f"# N{n}\n\nShelf {len(jobs)}-{n} has part {n * 7}.\n".encode()),
                )
                for n in range(5)
            ]
            reply = await client.post("/v1/documents", files=files, data={"roles": "uploads"})
            if reply.status_code == httpx2.codes.ACCEPTED:
                jobs.append(reply.json()["job_id"])
            await asyncio.wait([asking], timeout=5)
        ended = await asking
        outcomes = [await _outcome(client, job) for job in jobs]
    return {
        **ended.row(),
        "uploads": len(jobs),
        "uploads_done": outcomes.count("done"),
        "memory_mb_before": before,
        "memory_mb_after": resident_mb(pid),
        "first_errors": ended.errors[:3],
    }


async def _outcome(client: httpx2.AsyncClient, job: str) -> str:
    for _ in range(600):
        found = (await client.get(f"/v1/jobs/{job}")).json()
        if found["state"] in {"done", "failed"}:
            return str(found["state"])
        await asyncio.sleep(0.2)
    return "unfinished"


def resident_mb(pid: int) -> float:
    """Resident memory of a process and of all that descend from it."""
    parents, sizes = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            pages = int((path / "statm").read_text().split()[1])
        except OSError:
            continue
        parents[int(path.name)], sizes[int(path.name)] = int(fields[1]), pages
    family = {pid}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    return round(sum(sizes.get(each, 0) for each in family) * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def prepared(folder: Path, model: str) -> Path:
    """An index of two sample corpora for two kinds of readers."""
    index = folder / "handbook.desk"
    settings = Settings.model_validate(
        {"index": {"url": str(index)}, "embedding": {"model": model}}
    )
    with Desk.open(index, settings=settings) as desk:
        desk.ingest(ROOT / "samples" / "kestrel", roles={"staff"})
        desk.ingest(ROOT / "samples" / "academy", roles={"academy"})
    return index


def reader(name: str, address: str, environment: dict[str, str], *options: str) -> Reader:
    """A key for the role ``name``, and the documents that are visible with it."""
    made = subprocess.run(
        [
            *(sys.executable, "-m", "evidencedesk", "apikeys", "create", name),
            *("--role", name, "--json", *options),
        ],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    headers = {"Authorization": f"Bearer {json.loads(made.stdout)['key']}"}
    listed = httpx2.get(f"{address}/v1/documents?limit=200", headers=headers).json()["documents"]
    return Reader(name, headers, frozenset(each["document_id"] for each in listed))


def measured(arguments: argparse.Namespace) -> dict[str, Any]:
    """Everything that is measured, as rows by path and number of clients."""
    result: dict[str, Any] = {"workers": arguments.workers, "model": arguments.model, "rows": {}}
    with tempfile.TemporaryDirectory() as temporary:
        environment = {
            "EVIDENCEDESK_INDEX__URL": str(prepared(Path(temporary), arguments.model)),
            "EVIDENCEDESK_EMBEDDING__MODEL": arguments.model,
            "EVIDENCEDESK_SERVER__AUTHENTICATION": "keys",
            "EVIDENCEDESK_SERVER__LIMITS__REQUESTS_PER_MINUTE": "0",
            "EVIDENCEDESK_TELEMETRY__LOG_LEVEL": "error",
        }
        options = ["--port", "0", "--workers", str(arguments.workers), "--json"]
        with (
            served(["-m", "evidencedesk", "serve", *options], environment) as (pid, address),
            served(["-m", "benchmarks.serve", "--bare"], {}) as (_, bare),
        ):
            readers = [reader(name, address, environment) for name in QUESTIONS]
            places = {"/v1/ask": address, "/v1/search": address, "/": bare}
            asyncio.run(load(address, "/v1/ask", readers, 4, 2))
            for path, where in places.items():
                for clients in CLIENTS:
                    found = asyncio.run(load(where, path, readers, clients, arguments.seconds))
                    result["rows"][f"{path} {clients}"] = found.row()
            if arguments.soak_minutes:
                uploader = reader(
                    "uploads", address, environment, "--allow", "read", "--allow", "write"
                )
                result["soak"] = asyncio.run(
                    soak(address, readers, uploader.headers, pid, arguments.soak_minutes)
                )
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--soak-minutes", type=float, default=0.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.bare:
        serve_bare()
        return
    result = measured(arguments)
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(f"{'route':<12} {'clients':>7} {'p50 ms':>8} {'p95 ms':>8} {'per s':>8} {'errors':>7}")
    for name, row in result["rows"].items():
        path, clients = name.rsplit(" ", 1)
        print(
            f"{'bare' if path == '/' else path:<12} {clients:>7} {row['p50_ms']:>8} "
            f"{row['p95_ms']:>8} {row['per_second']:>8} {row['errors']:>7}"
        )
    if "soak" in result:
        print(f"soak: {json.dumps(result['soak'])}")


if __name__ == "__main__":
    main()
