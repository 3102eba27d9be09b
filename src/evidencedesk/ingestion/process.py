"""The child process from its parent's side: started, asked, timed, ended."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from evidencedesk.errors import InternalError
from evidencedesk.ingestion.frames import Header, pack, unpack

_START_SECONDS = 60.0
_READ_SIZE = 1 << 20
_NEARLY_ALL = 0.5
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """What reading one file may cost.

    Attributes:
        memory_bytes: address space of the parsing process.
        cpu_seconds: processor time for one file.
        wall_seconds: time for one file.
        max_chars: code points of canonical text.
        max_pages: pages.
        max_reply_bytes: size of the parsed document on its way back.
        files_per_process: the process is replaced after this many files.
    """

    memory_bytes: int = 1 << 30
    cpu_seconds: int = 60
    wall_seconds: float = 120.0
    max_chars: int = 50_000_000
    max_pages: int = 20_000
    max_reply_bytes: int = 1 << 30
    files_per_process: int = 2_000


class ChildLostError(Exception):
    """The process is gone, or was late and is to be ended; ``code`` is that of a ParseError."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class ChildProcess:
    """One running child. Not safe for threads, except :meth:`stop`."""

    def __init__(self, limits: ParseLimits) -> None:
        """Start a child and wait until it is ready.

        Raises:
            InternalError: ``parser_start``.
        """
        self.files = 0
        self._limits = limits
        self._process = subprocess.Popen(
            [sys.executable, "-m", "evidencedesk.ingestion.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
            bufsize=0,
        )
        self._let_be_polled()
        self._started = False
        self._peak_at_start = 0
        try:
            self._greet()
            self._started = True
        finally:
            if not self._started:
                self.kill()

    def _let_be_polled(self) -> None:
        """Have our ends of the pipes say that they would block, so that waiting has an end."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)

    def _greet(self) -> None:
        hello = pack({**asdict(self._limits), "parent": os.getpid()})
        try:
            header, _ = self._roundtrip(hello, time.monotonic() + _START_SECONDS)
        except ChildLostError as lost:
            raise _cannot_start(self._complaint() or str(lost)) from None
        if not header.get("ready"):
            raise _cannot_start(str(header.get("message", header)))
        self._peak_at_start = int(header["peak"]) * _RSS_UNIT

    def _complaint(self) -> str:
        """The last line that a child wrote which never became ready."""
        self._process.kill()
        assert self._process.stderr is not None
        lines = self._process.stderr.read().decode("utf-8", "replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "")

    def alive(self) -> bool:
        """Whether it is still running."""
        return self._process.poll() is None

    def ask(self, request: bytes) -> tuple[Header, bytes]:
        """Send one frame and wait for the answer.

        Raises:
            ChildLostError: it ended, or did not answer in time.
        """
        self.files += 1
        return self._roundtrip(request, time.monotonic() + self._limits.wall_seconds)

    def stop(self) -> None:
        """Kill the process and leave the pipes to whoever reads them."""
        self._process.kill()

    def kill(self) -> None:
        """Kill the process and close the pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _roundtrip(self, request: bytes, deadline: float) -> tuple[Header, bytes]:
        assert self._process.stdin is not None
        self._send(self._process.stdin.fileno(), memoryview(request), deadline)
        try:
            return unpack(self._reader(deadline), limit=self._limits.max_reply_bytes)
        except ValueError as error:
            raise ChildLostError(
                f"the parser's answer cannot be used ({error})", "parser_crashed"
            ) from None

    def _send(self, pipe: int, request: memoryview, deadline: float) -> None:
        while request:
            try:
                request = request[os.write(pipe, request) :]
            except BlockingIOError:
                self._wait(pipe, select.POLLOUT, deadline)
            except BrokenPipeError:
                raise self._lost() from None

    def _reader(self, deadline: float) -> Callable[[int], bytes]:
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        buffer = bytearray()

        def read(size: int) -> bytes:
            while len(buffer) < size:
                try:
                    received = os.read(pipe, _READ_SIZE)
                except BlockingIOError:
                    self._wait(pipe, select.POLLIN, deadline)
                    continue
                if not received:
                    raise self._lost()
                buffer.extend(received)
            taken = bytes(buffer[:size])
            del buffer[:size]
            return taken

        return read

    def _wait(self, pipe: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(pipe, event)
        if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
            raise self._late()

    def _late(self) -> ChildLostError:
        return ChildLostError(
            f"the parser was not done after {self._limits.wall_seconds:g} seconds", "timeout"
        )

    def _lost(self) -> ChildLostError:
        status, used = self._ended()
        if status == -signal.SIGXCPU:
            seconds = self._limits.cpu_seconds
            return ChildLostError(f"the parser used {seconds} seconds of processor time", "timeout")
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        if status < 0 and used > _NEARLY_ALL * self._limits.memory_bytes:
            megabytes = self._limits.memory_bytes >> 20
            return ChildLostError(f"the parser needed more than {megabytes} MiB ({how})", "memory")
        return ChildLostError(f"the parser ended with {how}", "parser_crashed")

    def _ended(self) -> tuple[int, int]:
        """Wait for the end: exit status, and the most bytes of memory it ever held.

        A library that runs out of memory often aborts; only its size then tells why. The peak starts
        at what its parent held when it was forked, so one that never rose since tells nothing.
        """
        if self._process.returncode is not None:
            return self._process.returncode, 0
        try:
            _, status, usage = os.wait4(self._process.pid, 0)
        except ChildProcessError:
            return self._process.wait(), 0
        self._process.returncode = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss * _RSS_UNIT
        return self._process.returncode, peak if peak > self._peak_at_start else 0


def _environment() -> dict[str, str]:
    """The parent's environment with its import path, so that the same parsers are found.

    One thread is enough for the numerical library that is imported along, and spares the memory
    limit the stacks of the others.
    """
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONFAULTHANDLER": "",
    }


def _cannot_start(reason: str) -> InternalError:
    return InternalError(
        f"The process that parses files cannot be started: {reason}.",
        code="parser_start",
        hint="Check that the installation is complete and that memory is left.",
    )
