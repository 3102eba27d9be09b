"""E-mail by SMTP, encrypted from the first byte or by STARTTLS (RFC 3207), never silently without."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Literal

from evidencedesk.errors import NotificationError, SettingsError
from evidencedesk.model.notice import Message

_PORTS = {"starttls": 587, "tls": 465, "none": 25}


@dataclass(frozen=True, slots=True)
class EmailConfiguration:
    """Through which server, from whom, to whom.

    Attributes:
        host: the mail server.
        sender: address in ``From``.
        recipients: addresses in ``To``.
        port: 0 for the usual one.
        security: how the connection is encrypted.
        user: name at the server; None sends without signing in.
        password: goes with ``user``.
        timeout_s: each step takes no longer.
        ca_file: certificates that are trusted instead of the system's; None for those.
    """

    host: str
    sender: str
    recipients: tuple[str, ...]
    port: int = 0
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password: str = field(default="", repr=False)
    timeout_s: float = 5.0
    ca_file: str | None = None


class EmailNotifier:
    """The ``Notifier`` port over SMTP."""

    name = "email"

    def __init__(self, configuration: EmailConfiguration) -> None:
        """Hold the configuration; nothing is connected to before the first delivery.

        Raises:
            SettingsError: ``bad_email``.
        """
        self._configuration = configuration
        if configuration.user is not None and configuration.security == "none":
            raise SettingsError(
                "[notifications] smtp_user would be sent without encryption.",
                code="bad_email",
                hint='Set smtp_security to "starttls" or "tls".',
            )
        try:
            self._headers()
            self._ssl = ssl.create_default_context(cafile=configuration.ca_file)
        except (ValueError, OSError) as error:
            raise SettingsError(
                f"The addresses or certificates in [notifications] cannot be used: "
                f"{type(error).__name__}.",
                code="bad_email",
                hint="Look at email_from, email_to and ca_file.",
            ) from None

    def deliver(self, message: Message) -> None:
        """See ``protocols.Notifier.deliver``."""
        written = self._headers()
        written["Subject"] = message.subject
        written["Date"] = format_datetime(message.at)
        written["Message-ID"] = f"<{message.id}@evidencedesk>"
        written["Auto-Submitted"] = "auto-generated"
        written.set_content(message.text)
        try:
            with self._connected() as server:
                server.send_message(written)
        except smtplib.SMTPResponseException as error:
            raise NotificationError(f"The mail server answered {error.smtp_code}.") from None
        except (smtplib.SMTPException, OSError, UnicodeError) as error:
            raise NotificationError(f"The mail server failed: {type(error).__name__}.") from None

    def _headers(self) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._configuration.sender
        message["To"] = ", ".join(self._configuration.recipients)
        return message

    def _connected(self) -> smtplib.SMTP:
        chosen = self._configuration
        port = chosen.port or _PORTS[chosen.security]
        server: smtplib.SMTP
        if chosen.security == "tls":
            server = smtplib.SMTP_SSL(
                chosen.host, port, timeout=chosen.timeout_s, context=self._ssl
            )
        else:
            server = smtplib.SMTP(chosen.host, port, timeout=chosen.timeout_s)
        try:
            if chosen.security == "starttls":
                server.starttls(context=self._ssl)
            if chosen.user is not None:
                server.login(chosen.user, chosen.password)
        except (smtplib.SMTPException, OSError, UnicodeError):
            server.close()
            raise
        return server
