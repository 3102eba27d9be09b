"""One folder of a mailbox as a source of documents, over IMAP (RFC 9051), read and never changed.

A message is a document; its address is its URL of RFC 5092, with the folder's UIDVALIDITY and the
message's UID. What stands at such an address never changes, so a message that is in the index is not
fetched again. The server is one that the operator names, so it may be inside the network.
"""

from __future__ import annotations

import imaplib
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from evidencedesk.errors import SourceError
from evidencedesk.model.source import Fetched, NotFetched, NotModified, SourceItem, Validators

_PORTS = {"imaps": 993, "imap": 143}
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")
_FAILURES = (imaplib.IMAP4.error, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class MailAccount:
    """Where a folder is, and who reads it.

    Attributes:
        url: ``imaps://user@host/folder``; ``imap://`` is not encrypted and for this machine only.
        password: of the user.
        seconds: the longest that one answer of the server may take.
        max_bytes: larger messages are refused.
        tls: how the server proves who it is; the machine's certificates when None.
    """

    url: str
    password: str
    seconds: float = 30.0
    max_bytes: int = 200 << 20
    tls: ssl.SSLContext | None = None


class MailFolder:
    """The messages of one folder; see :class:`evidencedesk.protocols.Source`."""

    def __init__(self, account: MailAccount) -> None:
        """Read the folder of ``account``.

        Raises:
            SourceError: ``bad_url``.
        """
        parts = urlsplit(account.url)
        self._folder = unquote(parts.path.strip("/")) or "INBOX"
        self._user, self._host = unquote(parts.username or ""), parts.hostname or ""
        self._scheme = parts.scheme
        local = self._host in {"localhost", "127.0.0.1", "::1"}
        if parts.scheme not in _PORTS or not self._host or not self._user or parts.password:
            raise _bad(account.url, "it is not of the form imaps://user@host/folder")
        if parts.scheme == "imap" and not local:
            raise _bad(account.url, "without encryption a mailbox is read on this machine only")
        self._port = parts.port or _PORTS[parts.scheme]
        self._account = account
        self.root = f"{parts.scheme}://{parts.netloc}/{quote(self._folder)}"
        self.complete = False

    def items(self, known: Mapping[str, Validators]) -> Iterator[SourceItem]:
        """What has become of each message; a server that fails is an item of its own."""
        self.complete = False
        try:
            with self._opened() as (server, validity):
                uids = _answer(server.uid("SEARCH", "ALL"))[0].split()
                for uid in uids:
                    source = f"{self.root};UIDVALIDITY={validity}/;UID={uid.decode()}"
                    if source in known:
                        yield NotModified(source)
                    else:
                        yield self._message(server, uid.decode(), source)
            self.complete = True
        except _FAILURES as error:
            yield NotFetched(self.root, "unreachable", f"{self.root}: {error}.")

    @contextmanager
    def _opened(self) -> Iterator[tuple[imaplib.IMAP4, str]]:
        """A server with the folder open for reading, and the folder's UIDVALIDITY."""
        server = self._connected()
        try:
            server.login(self._user, self._account.password)
            _answer(server.select(_quoted(self._folder), readonly=True))
            validity = server.response("UIDVALIDITY")[1][0]
            yield server, validity.decode() if isinstance(validity, bytes) else "0"
        finally:
            with suppress(*_FAILURES):
                server.logout()

    def _connected(self) -> imaplib.IMAP4:
        timeout = self._account.seconds
        if self._scheme == "imap":
            return imaplib.IMAP4(self._host, self._port, timeout=timeout)
        tls = self._account.tls or ssl.create_default_context()
        return imaplib.IMAP4_SSL(self._host, self._port, ssl_context=tls, timeout=timeout)

    def _message(self, server: imaplib.IMAP4, uid: str, source: str) -> SourceItem:
        described = _SIZE.search(b" ".join(_bytes(server.uid("FETCH", uid, "(RFC822.SIZE)"))))
        size = int(described[1]) if described else 0
        if size > self._account.max_bytes:
            message = f"{source}: larger than the limit of {self._account.max_bytes} bytes."
            return NotFetched(source, "too_large", message)
        found = server.uid("FETCH", uid, "(BODY.PEEK[])")[1]
        body = next((each[1] for each in found if isinstance(each, tuple)), None)
        if body is None:
            return NotFetched(source, "unreachable", f"{source}: the server gave no message.")
        return Fetched(source, bytes(body), "message.eml", Validators(etag=uid))


def _answer(answered: tuple[str, Sequence[bytes | None]]) -> list[bytes]:
    """What the server answered.

    Raises:
        ValueError: it answered no.
    """
    kind, data = answered
    if kind != "OK":
        raise ValueError(b" ".join(each or b"" for each in data).decode("utf-8", "replace") or kind)
    return [each or b"" for each in data]


def _bytes(answered: tuple[str, list[object]]) -> Iterator[bytes]:
    for each in answered[1]:
        yield from (part for part in (each if isinstance(each, tuple) else (each,)) if isinstance(part, bytes))  # fmt: skip


def _quoted(folder: str) -> str:
    """A folder's name as a quoted string, in modified UTF-7 where it is not ASCII (RFC 3501, 5.1.3)."""
    coded = re.sub(
        r"[^\x20-\x7e]+",
        lambda run: "&" + run[0].encode("utf-7").decode()[1:].rstrip("-").replace("/", ",") + "-",
        folder.replace("&", "&-"),
    )
    return '"' + coded.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _bad(url: str, reason: str) -> SourceError:
    shown = re.sub(r"(?<=//)([^/@:]*):[^@/]*@", r"\1:***@", url)
    return SourceError(
        f"{shown!r} is not read: {reason}.",
        code="bad_url",
        hint="The password is read from the environment variable that --password-env names.",
    )
