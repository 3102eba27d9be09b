"""Messages (RFC 5322) and mailboxes: what was written when, by whom; attachments are members.

Canonical text of a message: a heading that says of which day it is, a paragraph of the headers that
people read, then the body by paragraphs, counted from 1. Of alternatives the plain one is read. Lines that
begin with ``>`` are quotes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import pairwise

from evidencedesk.adapters.parsers.blocks import BlockWriter
from evidencedesk.adapters.parsers.html import HtmlParser
from evidencedesk.adapters.parsers.joining import append_parsed
from evidencedesk.adapters.parsers.mail_parts import Mail, read_mail
from evidencedesk.adapters.parsers.member_names import clean_name
from evidencedesk.errors import ParseError
from evidencedesk.model import BlockKind, FailedSource, ParsedDocument
from evidencedesk.model.contents import Contents, Member

_PARAGRAPHS = re.compile(r"(?:[ \t]*\n){2,}")
_MESSAGE = re.compile(rb"^From [^\r\n]*\r?\n(?=[!-9;-~]+:[ \t]?)", re.MULTILINE)
_ESCAPED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MOST_MESSAGES = 50_000


class MailParser:
    """Parser and container for single messages."""

    name = "eml"
    version = "1"
    media_types = ("message/rfc822",)

    def __init__(self) -> None:
        self._html = HtmlParser()

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """Parse a message; see :class:`evidencedesk.protocols.Parser`.

        Raises:
            ParseError: ``unsupported`` when a body is text in no encoding.
        """
        mail = read_mail(data, file_name)
        writer = BlockWriter()
        writer.heading(_heading(mail), 1)
        lines = [f"{name}: {value}" for name, value in [("Subject", mail.subject), *mail.headers]]
        writer.add(
            BlockKind.PARAGRAPH, "\n".join(line for line in lines if not line.endswith(": "))
        )
        number = 1
        for body in mail.plain:
            number = _write_plain(writer, body, number)
        for body in mail.html:
            part = self._html.parse(body.encode("utf-8-sig", "replace"), file_name)
            number = append_parsed(writer, part, below=1, paragraphs_from=number)
        return ParsedDocument(
            text=writer.text,
            blocks=writer.blocks,
            media_type=self.media_types[0],
            parser=self.name,
            parser_version=self.version,
            title=mail.subject or None,
            warnings=tuple(dict.fromkeys(mail.defects)),
            partial=bool(mail.defects),
        )

    def members(self, data: bytes, file_name: str) -> Contents:
        """The attachments; see :class:`evidencedesk.protocols.Container`."""
        mail = read_mail(data, file_name)
        return Contents(tuple(_distinct(mail.attachments)))


class MailboxParser:
    """Container for mailboxes (RFC 4155): every message is a member, and a document of its own."""

    name = "mbox"
    version = "1"
    media_types = ("application/mbox",)

    def parse(self, data: bytes, file_name: str) -> ParsedDocument:
        """No text: a mailbox's words are those of its messages.

        Raises:
            ParseError: ``no_text``, always.
        """
        del data
        raise ParseError(
            f"{file_name}: a mailbox has no text of its own.",
            code="no_text",
            hint="Its messages are documents of their own.",
        )

    def members(self, data: bytes, file_name: str) -> Contents:
        """The messages, named by their day and a hash, so that they keep their names when others go.

        Raises:
            ParseError: ``refused`` when there are more than 50,000; ``damaged`` when there is none, but
                something else.
        """
        starts = [match.start() for match in _MESSAGE.finditer(data)]
        if not starts and data.strip():
            raise ParseError(
                f"{file_name}: no message begins in it.",
                code="damaged",
                hint="A message of a mailbox begins with a line `From `; export the mailbox again.",
            )
        if len(starts) > _MOST_MESSAGES:
            raise ParseError(
                f"{file_name}: refused, {len(starts)} messages, the limit is {_MOST_MESSAGES}.",
                code="refused",
                hint="Split the mailbox.",
            )
        found: dict[str, Member] = {}
        twice = 0
        for start, end in pairwise([*starts, len(data)]):
            message = _ESCAPED_FROM.sub(
                rb"\1", data[start:end].partition(b"\n")[2].rstrip() + b"\n"
            )
            name = _message_name(message, file_name)
            twice += name in found
            found.setdefault(name, Member(name, message))
        again = FailedSource(file_name, "duplicate", f"{twice} messages stand in it twice.")
        return Contents(tuple(found.values()), (again,) if twice else ())


def _heading(mail: Mail) -> str:
    if mail.date is None:
        return "Message"
    return f"Message of {mail.date.day} {_MONTHS[mail.date.month - 1]} {mail.date.year}"


def _write_plain(writer: BlockWriter, body: str, number: int) -> int:
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    for paragraph in _PARAGRAPHS.split(text):
        if paragraph.strip():
            lines = [line for line in paragraph.split("\n") if line.strip()]
            quoted = all(line.startswith(">") for line in lines)
            kind = BlockKind.QUOTE if quoted else BlockKind.PARAGRAPH
            writer.add(kind, paragraph, paragraph=number)
            number += 1
    return number


def _distinct(attachments: list[tuple[str, bytes]]) -> Iterator[Member]:
    names: set[str] = set()
    for name, data in attachments:
        cleaned = clean_name(name, "attachment")
        stem, dot, extension = cleaned.rpartition(".")
        number = 2
        while cleaned in names:
            cleaned = (
                f"{stem or extension}-{number}{dot if stem else ''}{extension if stem else ''}"
            )
            number += 1
        names.add(cleaned)
        yield Member(cleaned, data)


def _message_name(message: bytes, file_name: str) -> str:
    mail_date = read_headers_date(message, file_name)
    digest = hashlib.sha256(message).hexdigest()[:10]
    return f"{mail_date}{digest}.eml"


def read_headers_date(message: bytes, file_name: str) -> str:
    """``2024-05-03-`` of the message's date, or empty; only the headers are looked at."""
    head = re.split(rb"\r?\n\r?\n", message, maxsplit=1)[0] + b"\n\n"
    date = read_mail(head, file_name).date
    return f"{date.date().isoformat()}-" if date else ""
