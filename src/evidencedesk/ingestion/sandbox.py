"""Parsing in a process of its own: a file that breaks a parser costs that file and nothing else."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Self

from evidencedesk.errors import InternalError, MetadataError, ParseError
from evidencedesk.ingestion.frames import Header, decode_parsed, pack, unpack
from evidencedesk.model import ParsedDocument

_START_SECONDS = 60.0
_READ_SIZE = 1 << 20
_HINTS = {
    "timeout": "The file is unusually hard to read; try it saved again, or split.",
    "memory": "The file is unusually large or hostile; split it.",
    "parser_crashed": "The file is damaged or hostile, or the parser has a fault; please report it.",
}


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

    memory_bytes: int = 3 << 30
    cpu_seconds: int = 60
    wall_seconds: float = 120.0
    max_chars: int = 50_000_000
    max_pages: int = 20_000
    max_reply_bytes: int = 1 << 30
    files_per_process: int = 2_000


class ParserPool:
    """Parses files one after another in one child process, which is replaced when it breaks.

    The process is started at the first file. Safe for threads; files wait for each other.
    """

    def __init__(self, parsers: Mapping[str, str], limits: ParseLimits | None = None) -> None:
        """Parse with the parser classes named in ``parsers``.

        Args:
            parsers: media type to ``"package.module:Class"``.
            limits: what one file may cost.
        """
        self._parsers = dict(parsers)
        self._limits = limits or ParseLimits()
        self._child: _Child | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, also in the middle of a file: whoever waits for it gets a ParseError."""
        child = self._child
        if child is not None:
            child.stop()
        with self._lock:
            self._discard()

    def parse(self, data: bytes, file_name: str, media_type: str) -> ParsedDocument:
        """Parse ``data``.

        Raises:
            ParseError: with one of its codes.
            MetadataError: front matter is wrong.
            InternalError: the parsing process cannot be started.
        """
        parser = self._parsers.get(media_type)
        if parser is None:
            raise ParseError(
                f"{file_name}: there is no parser for {media_type}.",
                code="unsupported",
                hint=f"Supported: {', '.join(sorted(self._parsers))}.",
            )
        request = pack({"parser": parser, "file_name": file_name}, data)
        with self._lock:
            header, body = self._exchange(request, file_name)
            if "error" in header:
                raise self._failure(header, file_name)
            return self._decode(header, body, file_name)

    def _exchange(self, request: bytes, file_name: str) -> tuple[Header, bytes]:
        child = self._ready_child()
        answered = False
        try:
            reply = child.ask(request)
            answered = True
        except _ChildLostError as lost:
            message = f"{file_name}: {lost}."
            raise ParseError(message, code=lost.code, hint=_HINTS[lost.code]) from None
        finally:
            # Ctrl-C included: a process in the middle of a file must not outlive the question.
            if not answered or child.files >= self._limits.files_per_process:
                self._discard()
        return reply

    def _failure(self, header: Header, file_name: str) -> ParseError | MetadataError:
        code, message = str(header["error"]), str(header.get("message", ""))
        hint = str(header.get("hint", "")) or _HINTS.get(code, "")
        if header.get("about") == "metadata":
            return MetadataError(message, code=code, hint=hint)
        if "about" not in header and code in _HINTS:
            self._discard()
            message = f"{file_name}: the parser gave up ({message})."
        return ParseError(message, code=code, hint=hint)

    def _decode(self, header: Header, body: bytes, file_name: str) -> ParsedDocument:
        try:
            return decode_parsed(header, body)
        except (KeyError, TypeError, ValueError, IndexError):
            self._discard()
            raise ParseError(
                f"{file_name}: the parsing process answered with something else than a document.",
                code="parser_crashed",
                hint=_HINTS["parser_crashed"],
            ) from None

    def _ready_child(self) -> _Child:
        if self._child is not None and not self._child.alive():
            self._discard()
        if self._child is None:
            self._child = _Child(self._limits)
        return self._child

    def _discard(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()


class _ChildLostError(Exception):
    """The process is gone, or was late and is to be ended."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class _Child:
    def __init__(self, limits: ParseLimits) -> None:
        self.files = 0
        self._limits = limits
        self._process = subprocess.Popen(
            [sys.executable, "-m", "evidencedesk.ingestion.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,
            bufsize=0,
        )
        self._started = False
        try:
            self._greet()
            self._started = True
        finally:
            if not self._started:
                self.kill()

    def _greet(self) -> None:
        hello = pack({**asdict(self._limits), "parent": os.getpid()})
        try:
            header, _ = self._roundtrip(hello, time.monotonic() + _START_SECONDS)
        except _ChildLostError as lost:
            raise _cannot_start(str(lost)) from None
        if not header.get("ready"):
            raise _cannot_start(str(header.get("message", header)))

    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: bytes) -> tuple[Header, bytes]:
        self.files += 1
        return self._roundtrip(request, time.monotonic() + self._limits.wall_seconds)

    def stop(self) -> None:
        """Kill the process and leave the pipes to whoever reads them."""
        self._process.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _roundtrip(self, request: bytes, deadline: float) -> tuple[Header, bytes]:
        assert self._process.stdin is not None
        self._send(self._process.stdin.fileno(), memoryview(request), deadline)
        try:
            return unpack(self._reader(deadline), limit=self._limits.max_reply_bytes)
        except ValueError as error:
            raise _ChildLostError(
                f"the parser's answer cannot be used ({error})", "parser_crashed"
            ) from None

    def _send(self, pipe: int, request: memoryview, deadline: float) -> None:
        while request:
            self._wait(pipe, select.POLLOUT, deadline)
            try:
                request = request[os.write(pipe, request[: select.PIPE_BUF]) :]
            except BrokenPipeError:
                raise self._lost() from None

    def _reader(self, deadline: float) -> Callable[[int], bytes]:
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        buffer = bytearray()

        def read(size: int) -> bytes:
            while len(buffer) < size:
                self._wait(pipe, select.POLLIN, deadline)
                received = os.read(pipe, _READ_SIZE)
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

    def _late(self) -> _ChildLostError:
        return _ChildLostError(
            f"the parser was not done after {self._limits.wall_seconds:g} seconds", "timeout"
        )

    def _lost(self) -> _ChildLostError:
        status = self._process.wait()
        if status == -signal.SIGXCPU:
            seconds = self._limits.cpu_seconds
            return _ChildLostError(
                f"the parser used {seconds} seconds of processor time", "timeout"
            )
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return _ChildLostError(f"the parser ended with {how}", "parser_crashed")


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
