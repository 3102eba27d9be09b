"""The processes of a server: one socket, one or several workers, an orderly end."""

from __future__ import annotations

import functools
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from evidencedesk.errors import UsageError
from evidencedesk.server.app import create_app
from evidencedesk.server.building import check_serving, services_of
from evidencedesk.server.pages import PAGES
from evidencedesk.settings import Settings

_BACKLOG = 2048
_WORKER_SILENCE_S = 60
_LOOK_S = 0.2
_NOT_STARTED = False
"""A worker that says nothing for so long is replaced; on a busy machine it takes a while to start."""
_METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def run(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until told to stop (SIGINT, SIGTERM); what is being answered then is finished.

    Args:
        settings: effective settings.
        announce: told the address, once connections are taken.

    Raises:
        SettingsError: the settings would let in whoever comes.
        UsageError: ``address_unavailable``.
        IndexingError: the index or the server's own database cannot be used.
    """
    check_serving(settings)
    services_of(settings).close()
    config = uvicorn.Config(
        functools.partial(application, settings),
        factory=True,
        workers=settings.server.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=bool(settings.server.trusted_proxies),
        forwarded_allow_ips=list(settings.server.trusted_proxies),
        timeout_graceful_shutdown=round(settings.server.shutdown_s),
        timeout_worker_healthcheck=_WORKER_SILENCE_S,
        ws="none",
    )
    with _listening(settings) as listener:
        announce(_address(listener))
        if settings.server.workers > 1:
            _run_workers(config, [listener])
        else:
            uvicorn.Server(config).run(sockets=[listener])


def application(settings: Settings) -> FastAPI:
    """The application of one worker process."""
    return create_app(services_of(settings), pages=PAGES)


def _run_workers(config: uvicorn.Config, sockets: Sequence[socket.socket]) -> None:
    """Workers add their figures up in files of a folder that goes when they have gone."""
    folder = tempfile.mkdtemp(prefix="evidencedesk-metrics-")
    os.environ.setdefault(_METRICS_FOLDER, folder)
    try:
        _Workers(config, list(sockets)).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Workers(Multiprocess):
    """Worker processes, of which a dead one is replaced at once.

    Between two pings uvicorn sees that a worker is dead; one that dies while it is being pinged is
    waited for as long as a slow one. So its ping is answered for it.
    """

    def run(self) -> None:
        """Run until told to stop."""
        threading.Thread(target=self._answer_for_the_dead, daemon=True).start()
        super().run()

    def _answer_for_the_dead(self) -> None:
        while not self.should_exit.wait(_LOOK_S):
            for worker in tuple(self.processes):
                if worker.exitcode is not None:
                    with suppress(OSError):
                        worker.child_conn.send(_NOT_STARTED)


def _listening(settings: Settings) -> socket.socket:
    host, port = settings.server.host, settings.server.port
    with ExitStack() as undo:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listener = undo.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError as error:
            raise UsageError(
                f"The server cannot listen on {host!r}, port {port}: {error.strerror}.",
                code="address_unavailable",
                hint="Another program may use it: name another with --port.",
            ) from error
        listener.set_inheritable(True)
        undo.pop_all()
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
