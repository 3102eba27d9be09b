"""A webhook: one signed POST per notice (Standard Webhooks 1.0).

The receiver checks ``webhook-signature`` against HMAC-SHA256 of ``id.timestamp.body`` under the shared
secret. The connection goes to an address that was checked, straight, without a proxy; a redirect is
not followed, and of the response only the status is read.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import http.client
import json
import re
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from evidencedesk.adapters.notifiers.addresses import addresses_of
from evidencedesk.errors import NotificationError, SettingsError
from evidencedesk.model.notice import Message
from evidencedesk.protocols import Clock

_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d)\b")
_LONGEST_STATUS_LINE = 4096
_PORTS = {"https": 443, "http": 80}
_SECRET_PREFIX = "whsec_"  # noqa: S105 - how Standard Webhooks marks a secret


@dataclass(frozen=True, slots=True)
class WebhookConfiguration:
    """Where notices go.

    Attributes:
        url: ``https://…``; plain ``http://`` only with ``allow_private``.
        secret: the shared secret: ``whsec_`` and Base64, or any text.
        allow_private: whether it may be at an address that is not public.
        timeout_s: one delivery takes no longer.
        ca_file: certificates that are trusted instead of the system's; None for those.
    """

    url: str
    secret: str = field(repr=False)
    allow_private: bool = False
    timeout_s: float = 5.0
    ca_file: str | None = None


class WebhookNotifier:
    """The ``Notifier`` port over HTTP."""

    name = "webhook"

    def __init__(self, configuration: WebhookConfiguration, clock: Clock) -> None:
        """Hold the configuration; nothing is connected to before the first delivery.

        Raises:
            SettingsError: ``bad_webhook``: an address or secret that cannot be used.
        """
        self._configuration = configuration
        self._clock = clock
        self._target = _Target.of(configuration.url, allow_private=configuration.allow_private)
        self._key = _key(configuration.secret)
        self._ssl = _context(configuration.ca_file) if self._target.tls else None

    def deliver(self, message: Message) -> None:
        """See ``protocols.Notifier.deliver``."""
        body = json.dumps(dict(message.payload), ensure_ascii=True).encode("ascii")
        status = self._post(body, self._headers(message.id, body))
        if not 200 <= status < 300:
            raise NotificationError(
                f"The webhook answered {status}.", hint="Redirects are not followed."
            )

    def _headers(self, identity: str, body: bytes) -> dict[str, str]:
        timestamp = str(int(self._clock.now().timestamp()))
        return {
            "Content-Type": "application/json",
            "User-Agent": "EvidenceDesk",
            "Connection": "close",
            "webhook-id": identity,
            "webhook-timestamp": timestamp,
            "webhook-signature": signature(self._key, identity, timestamp, body),
        }

    def _post(self, body: bytes, headers: dict[str, str]) -> int:
        deadline = time.monotonic() + self._configuration.timeout_s
        target = self._target
        addresses = addresses_of(
            target.host, target.port, allow_private=self._configuration.allow_private
        )
        try:
            with _connected(addresses, target, self._ssl, deadline) as connection:
                sent = http.client.HTTPConnection(target.host, target.port)
                sent.sock = connection
                sent.request("POST", target.path, body, headers)
                return _status(connection, deadline)
        except OSError as error:
            raise NotificationError(f"The webhook failed: {type(error).__name__}.") from None


def signature(key: bytes, identity: str, timestamp: str, body: bytes) -> str:
    """``v1,`` and the Base64 of HMAC-SHA256 over ``identity.timestamp.body`` (Standard Webhooks)."""
    signed = f"{identity}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode("ascii")


@dataclass(frozen=True, slots=True)
class _Target:
    host: str
    port: int
    path: str
    tls: bool

    @classmethod
    def of(cls, url: str, *, allow_private: bool) -> _Target:
        """The parts of an address.

        Raises:
            SettingsError: ``bad_webhook``.
        """
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError:
            raise _unusable("is no address") from None
        if not parts.hostname or not port or not re.fullmatch(r"[!-~]+", url):
            raise _unusable("is no address of a web server")
        if parts.username is not None or parts.password is not None:
            raise _unusable("holds a name or a password")
        if parts.scheme == "http" and not allow_private:
            raise _unusable("is not https")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(parts.hostname, port, path, parts.scheme == "https")


def _connected(
    addresses: Sequence[str], target: _Target, context: ssl.SSLContext | None, deadline: float
) -> socket.socket:
    connection = _reached(addresses, target.port, deadline)
    if context is None:
        return connection
    try:
        connection.settimeout(_left(deadline))
        return context.wrap_socket(connection, server_hostname=target.host)
    except OSError:
        connection.close()
        raise


def _reached(addresses: Sequence[str], port: int, deadline: float) -> socket.socket:
    """A connection to the first of the addresses that takes one."""
    *others, last = addresses
    for address in others:
        try:
            return socket.create_connection((address, port), timeout=_left(deadline))
        except ConnectionError:
            continue
    return socket.create_connection((last, port), timeout=_left(deadline))


def _status(connection: socket.socket, deadline: float) -> int:
    """The status of the response; whatever follows its first line is not read."""
    received = b""
    while b"\n" not in received and len(received) < _LONGEST_STATUS_LINE:
        connection.settimeout(_left(deadline))
        piece = connection.recv(_LONGEST_STATUS_LINE)
        if not piece:
            break
        received += piece
    match = _STATUS.match(received)
    if match is None:
        raise NotificationError("The webhook answered with something that is not HTTP.")
    return int(match[1])


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _key(secret: str) -> bytes:
    try:
        if secret.startswith(_SECRET_PREFIX):
            key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX), validate=True)
        else:
            key = secret.encode()
    except (binascii.Error, UnicodeError):
        raise _unusable("has a secret that is not Base64 after whsec_") from None
    if not key:
        raise _unusable("has no secret to sign with")
    return key


def _context(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise SettingsError(
            f"{ca_file!r}, which [notifications] ca_file names, holds no certificates: "
            f"{type(error).__name__}.",
            code="settings_unreadable",
            hint="Correct the path.",
        ) from None


def _unusable(what: str) -> SettingsError:
    return SettingsError(
        f"[notifications] webhook_url {what}.",
        code="bad_webhook",
        hint="Write https://HOST/PATH, and name the secret with webhook_secret_env.",
    )
