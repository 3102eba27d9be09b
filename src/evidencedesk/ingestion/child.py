"""The process that parses: ``python -m evidencedesk.ingestion.child``.

It reads a frame with its limits, then one frame per file, and answers each with one frame, until
its input ends. It is given bytes and has no business with files or the network. An exception that
no parser should raise ends the process: the last frame says which one it was.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import BinaryIO, cast

from evidencedesk.errors import ParseError, SourceError
from evidencedesk.ingestion.frames import (
    Header,
    encode_contents,
    encode_parsed,
    pack,
    unpack,
)
from evidencedesk.protocols import Container, Parser

_WATCH_SECONDS = 0.5
_FRAME_LIMIT = 1 << 32


def main() -> None:
    """Serve parse requests from standard input until it ends."""
    requests, replies = _take_over_pipes()
    sys.excepthook = _last_words(replies)
    read = _exact_reader(requests)
    limits, _ = unpack(read, limit=_FRAME_LIMIT)
    _limit_memory(int(limits["memory_bytes"]))
    _die_with_parent(int(limits["parent"]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    replies.write(pack({"ready": True, "peak": peak}))
    replies.flush()
    _fall_silent()
    gc.freeze()  # what was imported stays: looking at it again and again costs a twentieth
    parsers: dict[str, Parser] = {}
    while True:
        request, data = unpack(read, limit=_FRAME_LIMIT)
        _allow_cpu(int(limits["cpu_seconds"]))
        replies.write(_answer(parsers, request, data, limits))
        replies.flush()


def _take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Our ends of the pipes, with standard output sent to standard error.

    A library that prints must not write between our frames.
    """
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device, not a path
        os.dup2(nothing.fileno(), 0)
    return requests, replies


def _fall_silent() -> None:
    """From here on nobody reads what libraries print, and a full pipe must stop nobody."""
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - a device, not a path
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)


def _exact_reader(requests: BinaryIO) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        data = requests.read(size)
        if len(data) < size:
            sys.exit(0)
        return data

    return read


def _last_words(
    replies: BinaryIO,
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    def report(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        code = "memory" if issubclass(kind, MemoryError) else "parser_crashed"
        replies.write(pack({"error": code, "message": f"{kind.__name__}: {error}"[:500]}))
        replies.flush()

    return report


def _limit_memory(size: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _allow_cpu(seconds: int) -> None:
    """Move the limit on, since it counts from the start of the process and this one lives long."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(usage.ru_utime + usage.ru_stime) + seconds + 1
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, hard))


def _die_with_parent(parent: int) -> None:
    """End within half a second of the parent's death, even in the middle of a file.

    ``PR_SET_PDEATHSIG`` would fire when the thread that started us ends, and exists on Linux only.
    """

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=wait, daemon=True, name="parent-watch").start()


def _answer(parsers: dict[str, Parser], request: Header, data: bytes, limits: Header) -> bytes:
    parser = _parser(parsers, request["parser"])
    try:
        if request.get("members"):
            contents = cast("Container", parser).members(data, request["file_name"])
            return pack(*encode_contents(contents))
        parsed = parser.parse(data, request["file_name"])
    except SourceError as error:
        return pack(
            {
                "error": error.code,
                "message": error.message,
                "hint": error.hint,
                "about": "content" if isinstance(error, ParseError) else "metadata",
            }
        )
    for what, size, most in (
        ("pages", len(parsed.pages), limits["max_pages"]),
        ("characters of text", len(parsed.text), limits["max_chars"]),
    ):
        if size > most:
            message = f"{request['file_name']}: {size} {what}, more than the limit of {most}."
            return pack({"error": "too_large", "message": message, "hint": "Split the file."})
    return pack(*encode_parsed(parsed))


def _parser(parsers: dict[str, Parser], name: str) -> Parser:
    if name not in parsers:
        module, _, attribute = name.partition(":")
        parsers[name] = cast("Parser", getattr(importlib.import_module(module), attribute)())
    return parsers[name]


if __name__ == "__main__":
    main()
