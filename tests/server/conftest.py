"""A server over the sample corpus, and callers of every kind."""

from __future__ import annotations

import io
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from evidencedesk.access import Principal
from evidencedesk.desk import Desk
from evidencedesk.server.app import create_app
from evidencedesk.server.building import services_of
from evidencedesk.server.identity import GRANTABLE, Permission
from evidencedesk.server.logs import logger_of
from evidencedesk.server.services import Services
from evidencedesk.server.state.keys import KeyGrant
from evidencedesk.settings import Settings
from evidencedesk.settings.serving import TelemetryTable
from evidencedesk.testing.clock import SteppingClock

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Kestrel handbook and the secret wages, by keywords only; never written to."""
    folder = tmp_path_factory.mktemp("sample")
    path = folder / "handbook.desk"
    settings = settings_for(path)
    wages = folder / "wages.md"
    wages.write_text("# Wages\n\nInstructors are paid 31 euros per hour.\n", "utf-8")
    with Desk.open(path, settings=settings) as desk:
        desk.ingest(SAMPLES / "kestrel", roles={"staff"})
        desk.ingest(wages, roles={"board"})
    return path


def settings_for(index: Path, **server: Any) -> Settings:
    tables: dict[str, Any] = {
        "index": {"url": str(index)},
        "embedding": {"model": "none"},
        "server": {"authentication": ("keys",), **server},
    }
    return Settings.model_validate(tables)


@pytest.fixture
def index(sample_index: Path, tmp_path: Path) -> Path:
    """An index of one's own."""
    return Path(shutil.copytree(sample_index, tmp_path / "handbook.desk"))


@pytest.fixture
def logged() -> io.StringIO:
    return io.StringIO()


Served = Callable[..., "Server"]


class Server:
    """A server under test, with a client per caller."""

    def __init__(self, services: Services, client: TestClient) -> None:
        self.services = services
        self.client = client

    def key(
        self,
        *roles: str,
        permissions: frozenset[Permission] | None = None,
        tenant: str = "default",
        subject: str | None = None,
        administrator: bool = False,
        lifetime: timedelta | None = None,
    ) -> dict[str, str]:
        """Headers of a caller with these roles and, unless said otherwise, every permission."""
        principal = Principal(
            tenant=tenant,
            roles=frozenset(roles),
            subject=subject,
            administrator=administrator,
        )
        granted = GRANTABLE if permissions is None else permissions
        text, _ = self.services.state.keys.create(
            KeyGrant("test", principal, frozenset(granted), lifetime)
        )
        return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def serve(index: Path, clock: SteppingClock, logged: io.StringIO) -> Iterator[Served]:
    """Starts servers over ``index``; ``server`` settings by name."""
    running: list[TestClient] = []

    def start(
        *, pages: Any = (), generator: Any = None, client: Any = None, **server: Any
    ) -> Server:
        services = services_of(
            settings_for(index, **server),
            clock=clock,
            generator=generator,
            log=logger_of(TelemetryTable(log_format="json", log_level="debug"), logged),
        )
        started = TestClient(
            create_app(services, pages=pages),
            raise_server_exceptions=False,
            base_url="http://127.0.0.1",
            client=client or ("127.0.0.1", 50000),
            follow_redirects=False,
        )
        started.__enter__()
        running.append(started)
        return Server(services, started)

    yield start
    for each in running:
        each.__exit__(None, None, None)


@pytest.fixture
def live(serve: Served) -> Iterator[tuple[str, Server]]:
    """A server on a socket: its address, and the server."""
    server = serve()
    config = uvicorn.Config(create_app(server.services), log_config=None, lifespan="off", ws="none")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        host, port = listener.getsockname()
        yield f"http://{host}:{port}", server
        running.should_exit = True
        thread.join()


@pytest.fixture
def server(serve: Served) -> Server:
    """A server that knows callers by API keys."""
    return serve()
