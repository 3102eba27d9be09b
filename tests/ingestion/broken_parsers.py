"""Parsers that misbehave, each in the way its name says; loaded by name in the parsing process."""
# ruff: noqa: ARG002 - the port names its arguments

from __future__ import annotations

import os
import signal
import sys
import time

from evidencedesk.errors import MetadataError, ParseError
from evidencedesk.model import Block, BlockKind, PageBoxes, PageSpan, ParsedDocument


class _Parser:
    name = "test"
    version = "1"
    media_types = ("text/test",)

    def document(self, text: str, **fields: object) -> ParsedDocument:
        blocks = (Block(BlockKind.PARAGRAPH, 0, len(text)),) if text else ()
        return ParsedDocument(text, blocks, "text/test", self.name, self.version, **fields)


class Echo(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        return self.document(data.decode())


class Everything(_Parser):
    """Fills every field, so that nothing is lost on the way."""

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        text = data.decode()
        return ParsedDocument(
            text=text,
            blocks=(
                Block(BlockKind.HEADING, 0, 1, ("a",), 1),
                Block(BlockKind.TABLE_ROW, 1, 2, ("a",), 0, "head", 3, 4, 5, "#x > p"),
            ),
            media_type="text/test",
            parser=self.name,
            parser_version=self.version,
            first_line=7,
            pages=(PageSpan(1, 0, 2, 595.28, 841.89, "iv"),),
            page_boxes=(PageBoxes(1, 0, b"\x00\xff\n"), PageBoxes(2, 9, b"")),
            title="T",
            lang="bn",
            metadata={"roles": ["staff"], "nested": {"a": None}},
            warnings=("careful",),
            partial=True,
        )


class Pid(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        return self.document(str(os.getpid()))


class Refuses(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        raise ParseError(f"{file_name}: locked.", code="encrypted", hint="Unlock it.")


class BadFrontMatter(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        raise MetadataError(f"{file_name}, line 2: no.", code="duplicate_key", hint="Keep one.")


class LoopsForever(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        while True:
            pass


class Sleeps(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        time.sleep(600)
        return self.document("")


class EatsMemory(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        hoard = []
        while True:
            hoard.append(bytearray(256 << 20))


class Raises(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        return self.document("") if data == b"good" else {}["no such key"]


class Exits(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        os._exit(3)


class Segfaults(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        os.kill(os.getpid(), signal.SIGSEGV)
        return self.document("")


class Prints(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        sys.stdout.write("noise")
        sys.stdout.flush()
        os.write(1, b"more noise")
        return self.document("quiet")


class ManyPages(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        pages = tuple(PageSpan(number, 0, 0) for number in range(1, 101))
        return self.document("x", pages=pages)


class Endless(_Parser):
    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        return self.document("x" * 10_000)


class Lies(_Parser):
    """Answers with what is no document."""

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        return self.document("x", metadata=["not", "a", "mapping"])
