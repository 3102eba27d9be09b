from __future__ import annotations

import datetime
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from web_site import only_loopback

from evidencedesk.adapters.sources.addresses import Addresses
from evidencedesk.adapters.sources.fetching import Bounds, Fetcher
from evidencedesk.errors import SourceError


def certificate(folder: Path, name: str) -> Path:
    """A certificate with its key for a host of this name, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    today = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(named)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "both.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/down":
            self.send_response(302)
            self.send_header("Location", f"http://site.test:{self.server.server_port}/a")  # type: ignore[attr-defined]
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"secure words")
        while self.path == "/slow":
            self.wfile.write(b"x")
            time.sleep(0.05)

    def log_message(self, *_: object) -> None:
        return


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that goes away is expected here."""


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    return certificate(tmp_path, "site.test")


@pytest.fixture
def port(pem: Path) -> Iterator[int]:
    server = Server(("127.0.0.1", 0), Page)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def fetcher(port: int, pem: Path | None, *, seconds: float = 5.0) -> Fetcher:
    addresses = Addresses(
        [f"site.test:{port}", f"other.test:{port}"],
        resolver=lambda _host, _port: ["127.0.0.1"],
        may_connect=only_loopback,
    )
    tls = ssl.create_default_context(cafile=pem)
    return Fetcher(addresses, Bounds(seconds=seconds), tls)


def code_of(made: Fetcher, url: str) -> str:
    with pytest.raises(SourceError) as caught:
        made.fetch(url)
    return caught.value.code


def test_a_page_comes_from_the_pinned_address_under_its_own_name(port: int, pem: Path) -> None:
    response = fetcher(port, pem).fetch(f"https://site.test:{port}/a")
    assert response.data == b"secure words"


def test_a_certificate_for_another_name_or_of_nobody_is_refused(port: int, pem: Path) -> None:
    assert code_of(fetcher(port, pem), f"https://other.test:{port}/a") == "unreachable"
    assert code_of(fetcher(port, None), f"https://site.test:{port}/a") == "unreachable"


def test_encryption_is_not_given_up_by_a_redirect(port: int, pem: Path) -> None:
    assert code_of(fetcher(port, pem), f"https://site.test:{port}/down") == "downgraded"


def test_an_encrypted_body_that_never_ends_is_given_up(port: int, pem: Path) -> None:
    started = time.monotonic()
    slow = fetcher(port, pem, seconds=0.5)
    assert code_of(slow, f"https://site.test:{port}/slow") == "timeout"
    assert time.monotonic() - started < 3


def test_a_handshake_that_never_ends_is_given_up(pem: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        started = time.monotonic()
        code = code_of(fetcher(port, pem, seconds=0.4), f"https://site.test:{port}/a")
    assert code == "timeout"
    assert time.monotonic() - started < 3
