"""MIME (RFC 2045 to 2049) read forgivingly: headers, bodies and attachments of a message."""

from __future__ import annotations

import codecs
import email
import email.policy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime

from evidencedesk.adapters.parsers.decoding import decode
from evidencedesk.adapters.parsers.member_names import clean_name
from evidencedesk.errors import ParseError

_MOST_PARTS = 2_000
_DEEPEST = 20
_EXTENSIONS = {
    "text/plain": ".txt",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/calendar": ".txt",
    "application/pdf": ".pdf",
}


@dataclass(slots=True)
class Mail:
    """One message taken apart.

    Attributes:
        subject: decoded, on one line.
        headers: (name, value) of those that people read.
        date: when it says it was sent; None when it does not say so in a way that can be read.
        plain: decoded bodies of plain text, in order.
        html: decoded bodies of HTML for which there is no plain text.
        attachments: (name, bytes).
        defects: what was wrong with it, in words.
    """

    subject: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    date: datetime | None = None
    plain: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    attachments: list[tuple[str, bytes]] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)


def read_mail(data: bytes, file_name: str) -> Mail:
    """Take a message apart. A line ``From ...`` of a mailbox before its headers is skipped."""
    if data.startswith(b"From "):
        data = data.partition(b"\n")[2]
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    mail = Mail(subject=header_text(message, "Subject"), date=_date(message))
    for name in ("From", "To", "Cc", "Date"):
        value = header_text(message, name)
        if value:
            mail.headers.append((name, value))
    for number, (part, keep) in enumerate(_leaves(message, 0)):
        if number >= _MOST_PARTS:
            mail.defects.append(f"only the first {_MOST_PARTS} parts were read")
            break
        if keep:
            _take(part, mail, file_name)
    return mail


def header_text(message: Message, name: str) -> str:
    """A header decoded (RFC 2047), on one line; empty when it is not there."""
    raw = message.get(name)
    if raw is None:
        return ""
    pieces = []
    try:
        decoded = decode_header(str(raw))
    except (ValueError, LookupError, HeaderParseError):  # binascii.Error is a ValueError
        decoded = [(str(raw), None)]
    for piece, charset in decoded:
        pieces.append(piece if isinstance(piece, str) else _text_of(piece, charset))
    text = "".join(char if char.isprintable() else " " for char in "".join(pieces))
    return " ".join(text.split())


def _date(message: Message) -> datetime | None:
    try:
        return parsedate_to_datetime(str(message.get("Date", "")))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _text_of(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(codecs.lookup(charset or "utf-8").name)
    except (LookupError, ValueError):
        pass
    try:
        return decode(data, "header").text
    except ParseError:
        return data.decode("latin-1")


def _leaves(message: Message, depth: int) -> Iterator[tuple[Message, bool]]:
    """The parts that hold content; of alternatives only the plainest is to be kept."""
    kind = message.get_content_type()
    payload = message.get_payload() if message.is_multipart() else None
    if kind == "message/rfc822" or not isinstance(payload, list) or depth >= _DEEPEST:
        yield message, True
        return
    chosen = _plainest(payload) if kind == "multipart/alternative" else None
    for part in payload:
        if isinstance(part, Message):
            for leaf, keep in _leaves(part, depth + 1):
                yield leaf, keep and (chosen is None or part is chosen or _is_attached(leaf))


def _plainest(parts: Sequence[object]) -> object | None:
    """The alternative with plain text in it, else the last one, which the sender likes best."""
    for part in parts:
        if isinstance(part, Message) and part.get_content_type() == "text/plain":
            content = part.get_payload(decode=True)
            if isinstance(content, bytes) and content.strip():
                return part
    return parts[-1] if parts else None


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _take(part: Message, mail: Mail, file_name: str) -> None:
    kind = part.get_content_type()
    name = _file_name(part)
    if kind == "message/rfc822":
        inner = part.get_payload()
        if isinstance(inner, list) and inner and isinstance(inner[0], Message):
            subject = header_text(inner[0], "Subject")
            mail.attachments.append((f"{name or subject or 'message'}.eml", _bytes_of(inner[0])))
        return
    data = _content(part, mail)
    if kind in {"text/plain", "text/html"} and not _is_attached(part) and not name:
        bodies = mail.plain if kind == "text/plain" else mail.html
        bodies.append(_body_text(part, data, mail, file_name))
    elif name or _is_attached(part):
        number = len(mail.attachments) + 1
        mail.attachments.append((name or f"part-{number}{_EXTENSIONS.get(kind, '')}", data))
    elif part.get_content_maintype() not in {"image", "multipart"} and data.strip():
        mail.attachments.append((f"part{_EXTENSIONS.get(kind, '')}", data))


def _bytes_of(message: Message) -> bytes:
    try:
        return message.as_bytes()
    except (UnicodeError, ValueError, LookupError, KeyError, AttributeError):
        return str(message.get_payload()).encode("utf-8", "replace")


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename() or ""
    except (ValueError, LookupError, TypeError):
        return ""
    holder = Message()
    holder["X"] = " ".join(str(name).split())
    return clean_name(header_text(holder, "X"), "").rpartition("/")[2] if name else ""


def _content(part: Message, mail: Mail) -> bytes:
    try:
        content = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        content = None
    if isinstance(content, bytes):
        return content
    mail.defects.append("a part could not be decoded")
    return b""


def _body_text(part: Message, data: bytes, mail: Mail, file_name: str) -> str:
    try:
        charset = part.get_content_charset() or ""
    except (ValueError, LookupError):
        charset = ""
    declared = [] if charset.lower() in {"", "us-ascii"} else [charset.strip("'\"")]
    try:
        return decode(data, file_name, declared=declared).text
    except ParseError:
        mail.defects.append("a part is text in no encoding that is known")
        return ""
