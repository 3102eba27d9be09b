"""Who is calling, how that was found out, and what he may do here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from starlette.requests import HTTPConnection

from evidencedesk.access import Principal


class Permission(StrEnum):
    """What a route needs. Which *documents* somebody sees is decided by his roles, never by this."""

    PUBLIC = "public"
    READ = "read"
    WRITE = "write"
    AUDIT = "audit"
    METRICS = "metrics"


GRANTABLE = frozenset(Permission) - {Permission.PUBLIC}


class Method(StrEnum):
    """How a caller was authenticated."""

    LOCAL = "local"
    API_KEY = "api_key"
    TOKEN = "token"  # noqa: S105 - the name of a method, not a secret
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Identity:
    """An authenticated caller.

    Attributes:
        principal: what the desk is given with every call.
        permissions: which routes he may use.
        method: how he was authenticated.
        credential: name of the key, token or session, for limits and the security log; no secret.
        csrf_token: what an unsafe request of a browser session must repeat; empty without session.
    """

    principal: Principal
    permissions: frozenset[Permission]
    method: Method
    credential: str = ""
    csrf_token: str = ""

    @property
    def owner(self) -> str:
        """Whose uploads his are: his subject's within his tenant."""
        return json.dumps([self.principal.tenant, self.principal.subject or self.credential])

    def may(self, permission: Permission) -> bool:
        """Whether a route that needs ``permission`` is open to him."""
        return permission is Permission.PUBLIC or permission in self.permissions


def identity_of(connection: HTTPConnection) -> Identity:
    """The caller of a request, as the gate found him; a FastAPI dependency.

    The gate lets no request to a route that is not public pass without one.
    """
    identity: Identity = connection.scope["evidencedesk.identity"]
    return identity
