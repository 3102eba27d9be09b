"""Who is calling: one place that all ways in go through.

Whatever is presented must hold. A request with a key or token that is wrong, expired or revoked is
refused; it never falls back to a session or to the local reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import HTTPConnection

from evidencedesk.access import Principal, check_known_roles
from evidencedesk.server.identity import GRANTABLE, Identity, Method
from evidencedesk.server.state.keys import PREFIX
from evidencedesk.settings import Settings

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_FORWARDED = ("forwarded", "via", "x-forwarded-", "x-real-", "x-client-", "x-original-", "cf-")
"""How names of headers begin that proxies add."""


class Verifier(Protocol):
    """Finds the caller that a credential stands for; None when it stands for nobody."""

    def identify(self, text: str) -> Identity | None:
        """The caller.

        Raises:
            RequestError: ``provider_unreachable``, when that cannot be found out.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Authenticator:
    """Every way in.

    Attributes:
        keys: API keys; always accepted.
        tokens: signed tokens of the OpenID Connect provider; None where there is none.
        sessions: browsers that are signed in; None where nobody can sign in.
        local: the caller without credentials in single-user mode; None in any other.
        suspended: whether somebody is shut out, whatever he comes with.
        cookie: name of the session cookie.
    """

    keys: Verifier
    tokens: Verifier | None
    sessions: Verifier | None
    local: Identity | None
    suspended: Callable[[Principal], bool]
    cookie: str

    def authenticate(self, connection: HTTPConnection) -> Identity | None:
        """The caller, or None when he is not known or is shut out."""
        identity = self._identified(connection)
        shut_out = identity is not None and self.suspended(identity.principal)
        return None if shut_out else identity

    def _identified(self, connection: HTTPConnection) -> Identity | None:
        presented = connection.headers.getlist("authorization")
        if presented:
            return self._bearer(presented)
        token = connection.cookies.get(self.cookie)
        if token is not None and self.sessions is not None:
            return self.sessions.identify(token)
        return self.local if self.local is not None and is_direct(connection) else None

    def _bearer(self, presented: Sequence[str]) -> Identity | None:
        scheme, _, credential = presented[0].partition(" ")
        if len(presented) > 1 or scheme.lower() != "bearer" or not credential:
            return None
        if credential.startswith(PREFIX):
            return self.keys.identify(credential)
        return None if self.tokens is None else self.tokens.identify(credential)


def is_direct(connection: HTTPConnection) -> bool:
    """Whether the request comes from this machine, by name of this machine, and not by a proxy.

    A page of another site can send a browser here, and can make its own name mean 127.0.0.1 (DNS
    rebinding); then the name in ``Host`` is the other site's.
    """
    client = connection.client
    if client is None or client.host not in LOOPBACK - {"localhost"}:
        return False
    if any(name.startswith(_FORWARDED) for name in connection.headers):
        return False
    hosts = connection.headers.getlist("host")
    return len(hosts) == 1 and host_name(hosts[0]) in LOOPBACK


def host_name(host: str) -> str:
    """The name in a ``Host`` header, without the port and the brackets of an IPv6 address."""
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def local_identity(settings: Settings) -> Identity:
    """The reader of ``[access.local]``, who may use every route."""
    local = settings.access.local
    principal = Principal(
        tenant=settings.access.tenant,
        roles=check_known_roles(local.roles, settings.access.known_roles),
        subject=local.subject,
        administrator=local.administrator,
        auditor=True,
    )
    return Identity(principal, GRANTABLE, Method.LOCAL, credential="local")


Authenticate = Callable[[HTTPConnection], Identity | None]
