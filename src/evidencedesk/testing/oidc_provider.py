"""A small OpenID Connect provider on the loopback address: real sockets, real signatures.

OpenID Connect Core 1.0 with the authorisation code flow and PKCE (RFC 7636), as much of it as a
client needs to be held to it. It remembers codes, and refuses whatever a provider has to refuse.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

_MOST_BODY = 1 << 16


@dataclass(slots=True)
class SigningKey:
    """A private key with the name that its tokens and the key set have for it."""

    kid: str
    algorithm: str
    private: Any

    @classmethod
    def made(cls, algorithm: str = "RS256") -> SigningKey:
        """A new key for RS256 or ES256."""
        private: Any = (
            rsa.generate_private_key(public_exponent=65537, key_size=2048)
            if algorithm.startswith("RS")
            else ec.generate_private_key(ec.SECP256R1())
        )
        return cls(secrets.token_hex(4), algorithm, private)

    def jwk(self) -> dict[str, Any]:
        """The public half as a JSON Web Key."""
        kind = jwt.algorithms.get_default_algorithms()[self.algorithm]
        public: dict[str, Any] = json.loads(kind.to_jwk(self.private.public_key()))
        return {**public, "kid": self.kid, "use": "sig", "alg": self.algorithm}


@dataclass(slots=True)
class _Code:
    client_id: str
    redirect_uri: str
    nonce: str
    challenge: str
    subject: str


@dataclass(slots=True)
class OidcProvider:
    """A provider with ``users``: name to the claims of that user. A context manager.

    Attributes:
        users: claims by the name that is typed in to sign in.
        client_id: the only client.
        client_secret: its secret; empty for a public client.
        issuer: its address, once it runs.
        keys: signing keys that the key set shows; the first one signs.
        fetched: how often the key set was asked for.
    """

    users: Mapping[str, Mapping[str, Any]]
    client_id: str = "evidencedesk"
    client_secret: str = "provider-secret"  # noqa: S105 - of a provider for tests
    issuer: str = ""
    keys: list[SigningKey] = field(default_factory=lambda: [SigningKey.made()])
    fetched: int = 0
    _codes: dict[str, _Code] = field(default_factory=dict)
    _access: dict[str, str] = field(default_factory=dict)
    _server: ThreadingHTTPServer | None = None
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        provider = self

        class Handler(_Handler):
            pass

        Handler.provider = provider
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def rotate(self, algorithm: str = "RS256") -> None:
        """Sign with a new key, and show no other any more."""
        self.keys[:] = [SigningKey.made(algorithm)]

    def token(
        self, claims: Mapping[str, Any], *, key: SigningKey | None = None, **header: Any
    ) -> str:
        """A signed token with the usual claims, those given last; None leaves one out."""
        signing = key or self.keys[0]
        now = int(time.time())
        usual = {"iss": self.issuer, "iat": now, "exp": now + 300, "sub": "somebody"}
        merged = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return jwt.encode(
            merged,
            signing.private,
            algorithm=signing.algorithm,
            headers={"kid": signing.kid, **header},
        )

    def document(self) -> dict[str, Any]:
        """The discovery document."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def granted(self, asked: Mapping[str, str], user: str) -> str:
        """Where the browser goes on to once ``user`` has signed in."""
        code = secrets.token_urlsafe(16)
        self._codes[code] = _Code(
            asked["client_id"],
            asked["redirect_uri"],
            asked.get("nonce", ""),
            asked.get("code_challenge", ""),
            user,
        )
        back = {"code": code, "state": asked.get("state", ""), "iss": self.issuer}
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    def redeemed(self, form: Mapping[str, str], credentials: str) -> dict[str, Any] | None:
        """Tokens for a code, once; None when anything does not fit."""
        code = self._codes.pop(form.get("code", ""), None)
        if code is None or not self._is_client(form, credentials):
            return None
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if challenge != code.challenge or form.get("redirect_uri") != code.redirect_uri:
            return None
        claims = {"sub": code.subject, **self.users[code.subject]}
        access = secrets.token_urlsafe(16)
        self._access[access] = code.subject
        return {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": self.token({**claims, "aud": self.client_id, "nonce": code.nonce}),
        }

    def user_info(self, access: str) -> dict[str, Any] | None:
        """Claims of whoever the access token is for."""
        user = self._access.get(access)
        return None if user is None else {"sub": user, **self.users[user]}

    def _is_client(self, form: Mapping[str, str], credentials: str) -> bool:
        if not self.client_secret:
            return form.get("client_id") == self.client_id
        expected = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        return credentials == f"Basic {expected}"


class _Handler(BaseHTTPRequestHandler):
    """The provider's five addresses."""

    provider: OidcProvider

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the base class
        """Say nothing."""

    def do_GET(self) -> None:
        """Discovery, keys, who somebody is, and the page on which he says who he is."""
        url = urlsplit(self.path)
        provider = self.provider
        if url.path == "/.well-known/openid-configuration":
            self._json(provider.document())
        elif url.path == "/keys":
            provider.fetched += 1
            self._json({"keys": [key.jwk() for key in provider.keys]})
        elif url.path == "/userinfo":
            access = self.headers.get("Authorization", "").removeprefix("Bearer ")
            found = provider.user_info(access)
            self._json(found or {"error": "invalid_token"}, 200 if found else 401)
        elif url.path == "/authorize":
            self._page(dict(_flat(url.query)))
        else:
            self._json({}, 404)

    def do_POST(self) -> None:
        """Codes for tokens, and the filled-in page."""
        length = min(int(self.headers.get("Content-Length", "0")), _MOST_BODY)
        form = dict(_flat(self.rfile.read(length).decode()))
        if urlsplit(self.path).path == "/token":
            found = self.provider.redeemed(form, self.headers.get("Authorization", ""))
            self._json(found or {"error": "invalid_grant"}, 200 if found else 400)
        elif form.get("user") in self.provider.users:
            self.send_response(303)
            self.send_header("Location", self.provider.granted(form, form["user"]))
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._json({"error": "access_denied"}, 403)

    def _page(self, asked: Mapping[str, str]) -> None:
        hidden = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in asked.items()
        )
        body = (
            '<!doctype html><html lang="en"><title>Sign in</title><form method="post" '
            f'action="/authorize">{hidden}<label>Name <input name="user"></label>'
            "<button>Sign in</button></form></html>"
        )
        self._send(body.encode(), "text/html; charset=utf-8", 200)

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json", status)

    def _send(self, body: bytes, kind: str, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _flat(query: str) -> list[tuple[str, str]]:
    return [(name, values[-1]) for name, values in parse_qs(query).items()]
