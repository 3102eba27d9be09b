"""Parsing in a process of its own: a file that breaks a parser costs that file and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self, TypeVar

from evidencedesk.errors import MetadataError, ParseError
from evidencedesk.ingestion.frames import Header, decode_contents, decode_parsed, pack
from evidencedesk.ingestion.process import ChildLostError, ChildProcess, ParseLimits
from evidencedesk.model import ParsedDocument
from evidencedesk.model.contents import Contents

__all__ = ["ParseLimits", "ParserPool"]

_Answer = TypeVar("_Answer")
_HINTS = {
    "timeout": "The file is unusually hard to read; try it saved again, or split.",
    "memory": "The file is unusually large or hostile; split it.",
    "parser_crashed": "The file is damaged or hostile, or the parser has a fault; please report it.",
}


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
        self._child: ChildProcess | None = None
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
        return self._ask(data, file_name, media_type, decode_parsed)

    def members(self, data: bytes, file_name: str, media_type: str) -> Contents:
        """The files inside ``data``, whose parser is a :class:`evidencedesk.protocols.Container`.

        Raises:
            ParseError: with one of its codes.
            InternalError: the parsing process cannot be started.
        """
        return self._ask(data, file_name, media_type, decode_contents, members=True)

    def _ask(
        self,
        data: bytes,
        file_name: str,
        media_type: str,
        decode: Callable[[Header, bytes], _Answer],
        *,
        members: bool = False,
    ) -> _Answer:
        parser = self._parsers.get(media_type)
        if parser is None:
            raise ParseError(
                f"{file_name}: there is no parser for {media_type}.",
                code="unsupported",
                hint=f"Supported: {', '.join(sorted(self._parsers))}.",
            )
        request = pack({"parser": parser, "file_name": file_name, "members": members}, data)
        with self._lock:
            header, body = self._exchange(request, file_name)
            if "error" in header:
                raise self._failure(header, file_name)
            return self._decode(header, body, file_name, decode)

    def _exchange(self, request: bytes, file_name: str) -> tuple[Header, bytes]:
        child = self._ready_child()
        answered = False
        try:
            reply = child.ask(request)
            answered = True
        except ChildLostError as lost:
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

    def _decode(
        self,
        header: Header,
        body: bytes,
        file_name: str,
        decode: Callable[[Header, bytes], _Answer],
    ) -> _Answer:
        try:
            return decode(header, body)
        except (KeyError, TypeError, ValueError, IndexError):
            self._discard()
            raise ParseError(
                f"{file_name}: the parsing process answered with something else than a document.",
                code="parser_crashed",
                hint=_HINTS["parser_crashed"],
            ) from None

    def _ready_child(self) -> ChildProcess:
        if self._child is not None and not self._child.alive():
            self._discard()
        if self._child is None:
            self._child = ChildProcess(self._limits)
        return self._child

    def _discard(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
