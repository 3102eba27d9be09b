"""Servers for tests: the real application, its client, and callers of every kind."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import uvicorn
from starlette.testclient import TestClient

from evidencedesk.access import Principal
from evidencedesk.protocols import Clock, Generator
from evidencedesk.server.app import Router, create_app
from evidencedesk.server.building import services_of
from evidencedesk.server.identity import GRANTABLE, Permission
from evidencedesk.server.logs import logger_of
from evidencedesk.server.services import Services
from evidencedesk.server.state.keys import KeyGrant
from evidencedesk.settings import Settings
from evidencedesk.settings.serving import TelemetryTable

HERE = ("127.0.0.1", 50000)


def settings_for(index: Path, tables: dict[str, Any] | None = None, **server: Any) -> Settings:
    """Settings of a server over ``index`` that knows callers by API keys; no semantic model."""
    return Settings.model_validate(
        {
            "index": {"url": str(index)},
            "embedding": {"model": "none"},
            **(tables or {}),
            "server": {"authentication": ("keys",), **server},
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class ServedDesk:
    """A server under test.

    Attributes:
        services: its parts.
        client: sends it requests without a socket; keeps cookies, follows no redirects.
        logged: what it told of itself.
    """

    services: Services
    client: TestClient
    logged: io.StringIO = field(default_factory=io.StringIO)

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
            tenant=tenant, roles=frozenset(roles), subject=subject, administrator=administrator
        )
        granted = GRANTABLE if permissions is None else permissions
        grant = KeyGrant("test", principal, frozenset(granted), lifetime)
        text, _ = self.services.state.keys.create(grant)
        return {"Authorization": f"Bearer {text}"}


@contextmanager
def served(
    settings: Settings,
    *,
    clock: Clock | None = None,
    generator: Generator | None = None,
    pages: Sequence[Router] = (),
    client: tuple[str, int] = HERE,
) -> Iterator[ServedDesk]:
    """A server with ``settings``, started, and stopped at the end."""
    logged = io.StringIO()
    log = logger_of(TelemetryTable(log_format="json", log_level="debug"), logged)
    services = services_of(settings, clock=clock, generator=generator, log=log)
    with TestClient(
        create_app(services, pages=pages),
        raise_server_exceptions=False,
        base_url="http://127.0.0.1",
        client=client,
        follow_redirects=False,
    ) as started:
        yield ServedDesk(services, started, logged)


@contextmanager
def listening(server: ServedDesk, pages: Sequence[Router] = ()) -> Iterator[str]:
    """The same server on a socket of the loopback address; its address."""
    app = create_app(server.services, pages=pages)
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none")
    # Named as TCP, or asyncio does not switch Nagle's algorithm off and each reply waits 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        host, port = listener.getsockname()
        try:
            yield f"http://{host}:{port}"
        finally:
            running.should_exit = True
            thread.join()
