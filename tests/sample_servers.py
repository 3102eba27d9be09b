"""Servers over the sample corpus; the folders whose tests ask one import these fixtures."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from evidencedesk.desk import Desk
from evidencedesk.server.pages import PAGES
from evidencedesk.testing.clock import SteppingClock
from evidencedesk.testing.serving import ServedDesk, listening, served, settings_for

SAMPLES = Path(__file__).parents[1] / "samples"
Served = Callable[..., ServedDesk]


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Kestrel handbook and the secret wages, by keywords only; never written to."""
    folder = tmp_path_factory.mktemp("sample")
    path = folder / "handbook.desk"
    wages = folder / "wages.md"
    wages.write_text("# Wages\n\nInstructors are paid 31 euros per hour.\n", "utf-8")
    with Desk.open(path, settings=settings_for(path)) as desk:
        desk.ingest(SAMPLES / "kestrel", roles={"staff"})
        desk.ingest(wages, roles={"board"})
    return path


@pytest.fixture
def index(sample_index: Path, tmp_path: Path) -> Path:
    """An index of one's own."""
    return Path(shutil.copytree(sample_index, tmp_path / "handbook.desk"))


@pytest.fixture
def serve(index: Path, clock: SteppingClock) -> Iterator[Served]:
    """Starts servers over ``index``; settings of ``[server]`` by name, other tables as ``tables``."""
    with ExitStack() as running:

        def start(
            *,
            generator: Any = None,
            client: Any = ("127.0.0.1", 50000),
            tables: Any = None,
            **server: Any,
        ) -> ServedDesk:
            settings = settings_for(index, tables, **server)
            started = served(settings, clock=clock, generator=generator, pages=PAGES, client=client)
            return running.enter_context(started)

        yield start


@pytest.fixture
def live_with(serve: Served) -> Iterator[Callable[..., tuple[str, ServedDesk]]]:
    """Starts servers on sockets: the address, and the server."""
    with ExitStack() as running:

        def start(**options: Any) -> tuple[str, ServedDesk]:
            server = serve(**options)
            return running.enter_context(listening(server, PAGES)), server

        yield start


@pytest.fixture
def live(live_with: Callable[..., tuple[str, ServedDesk]]) -> tuple[str, ServedDesk]:
    """A server on a socket: its address, and the server."""
    return live_with()


@pytest.fixture
def server(serve: Served) -> ServedDesk:
    """A server that knows callers by API keys."""
    return serve()
