"""Real receivers on loopback: a web server over TLS and a mail server, and a desk that tells them."""

from __future__ import annotations

import datetime
import http.server
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from evidencedesk.desk import Desk
from evidencedesk.settings import Settings
from evidencedesk.testing.clock import SteppingClock

POLICY = """---
id: returns
title: Returns policy
roles: [everyone]
---
You can return a new bike within 30 days of delivery for a full refund.
"""
SECRET = "a shared secret"
PASSWORD = "a mail password"


@dataclass(frozen=True)
class Certificates:
    """A certificate for localhost that signs itself, with its key."""

    certificate: Path
    context: ssl.SSLContext


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certificates")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate_file, key_file = folder / "certificate.pem", folder / "key.pem"
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate_file, key_file)
    return Certificates(certificate_file, context)


@dataclass
class Received:
    """What a receiver was sent, and what it answers."""

    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    status: int = 200
    location: str = ""
    arrived: threading.Event = field(default_factory=threading.Event)
    hold: threading.Event | None = None
    url: str = ""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    received: Received


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        received = self.server.received
        body = self.rfile.read(int(self.headers["Content-Length"]))
        received.requests.append((self.path, dict(self.headers), body))
        received.arrived.set()
        if received.hold is not None:
            received.hold.wait(10)
        self.send_response(received.status)
        if received.location:
            self.send_header("Location", received.location)
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        """Prints nothing."""


@pytest.fixture
def webhook(certificates: Certificates) -> Iterator[Received]:
    """A web server over TLS that keeps what it is posted."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.socket = certificates.context.wrap_socket(server.socket, server_side=True)
    server.received = Received(url=f"https://localhost:{server.server_address[1]}/hook?desk=1")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server.received
    if server.received.hold is not None:
        server.received.hold.set()
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Mailbox:
    """What a mail server took, and where it is."""

    port: int
    messages: list[tuple[str, list[str], str]] = field(default_factory=list)
    refuse: str = ""

    async def handle_DATA(self, _: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.refuse:
            return self.refuse
        assert session.ssl, "nothing is taken over a connection without TLS"
        content = envelope.content.decode("utf-8")
        self.messages.append((envelope.mail_from, envelope.rcpt_tos, content))
        return "250 taken"


def _sign_in(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    known = (data.login, data.password) == (b"desk", PASSWORD.encode())
    return AuthResult(success=known, handled=known)


@pytest.fixture
def mailbox(certificates: Certificates) -> Iterator[Mailbox]:
    """A mail server that takes mail after STARTTLS and sign-in only."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        box = Mailbox(free.getsockname()[1])
    controller = Controller(
        box,
        hostname="127.0.0.1",
        port=box.port,
        tls_context=certificates.context,
        require_starttls=True,
        authenticator=_sign_in,
        auth_required=True,
    )
    controller.start()
    yield box
    controller.stop()


Telling = Callable[..., Desk]


@pytest.fixture
def telling(
    tmp_path: Path, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Telling]:
    """Opens a desk over one policy; keyword arguments are settings of notifications."""
    monkeypatch.setenv("DESK_WEBHOOK", SECRET)
    monkeypatch.setenv("DESK_SMTP", PASSWORD)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "returns.md").write_text(POLICY, "utf-8")
    opened: list[Desk] = []

    def call(*, privacy: dict[str, Any] | None = None, **notifications: Any) -> Desk:
        settings = Settings.model_validate(
            {
                "embedding": {"model": "none"},
                "privacy": privacy or {},
                "notifications": {
                    "allow_private": True,
                    "webhook_secret_env": "DESK_WEBHOOK",
                    "smtp_password_env": "DESK_SMTP",
                    "ca_file": str(certificates.certificate),
                    "timeout_s": 2.0,
                    **notifications,
                },
            }
        )
        desk = Desk.open(tmp_path / "index.desk", settings=settings, clock=SteppingClock())
        opened.append(desk)
        desk.ingest(tmp_path / "policies")
        return desk

    yield call
    for desk in opened:
        desk.close()
    assert not [t for t in threading.enumerate() if t.name == "evidencedesk-notices"]
