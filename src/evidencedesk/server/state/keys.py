"""API keys: random, stored hashed, bound to a tenant, roles and permissions, expiring, revocable."""

from __future__ import annotations

import hmac
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evidencedesk.access import Principal, check_known_roles, check_tenant
from evidencedesk.errors import UsageError
from evidencedesk.protocols import Clock
from evidencedesk.server.identity import GRANTABLE, Identity, Method, Permission
from evidencedesk.server.state.credentials import hash_of, listed, permissions_in, principal_in
from evidencedesk.server.state.database import StateDatabase

PREFIX = "edk_"
_KEY = re.compile(r"edk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_USE_NOTED_EVERY = timedelta(minutes=1)
_COLUMNS = "id, name, tenant, subject, roles, permissions, administrator, created_at, expires_at, revoked_at, used_at"


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """What a new key is for.

    Attributes:
        name: what people call it.
        principal: whose eyes it reads with; its subject is ``key:<id>`` unless one is named.
        permissions: which routes it opens.
        lifetime: how long it works; None for until it is revoked.
    """

    name: str
    principal: Principal
    permissions: frozenset[Permission]
    lifetime: timedelta | None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key as it is listed; the secret is not in it."""

    id: str
    name: str
    principal: Principal
    permissions: frozenset[Permission]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None

    def to_json(self) -> dict[str, object]:
        """The stable JSON shape."""
        times = {
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            "revoked_at": self.revoked_at,
            "used_at": self.used_at,
        }
        return {
            "id": self.id,
            "name": self.name,
            "tenant": self.principal.tenant,
            "subject": self.principal.subject,
            "roles": sorted(self.principal.roles),
            "administrator": self.principal.administrator,
            "permissions": sorted(self.permissions),
            **{name: value and value.isoformat() for name, value in times.items()},
        }


class ApiKeys:
    """The keys of a server.

    Args:
        database: where they are kept.
        clock: decides what has expired.
        new_id: makes the 16 hex digits that a key is found by.
        new_secret: makes the secret, 43 letters of base64url.
    """

    def __init__(
        self,
        database: StateDatabase,
        clock: Clock,
        *,
        new_id: Callable[[], str],
        new_secret: Callable[[], str],
    ) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._new_secret = new_secret

    def create(self, grant: KeyGrant) -> tuple[str, ApiKey]:
        """A new key: the text that is shown once, and what is kept of it.

        Raises:
            UsageError: ``bad_permission``, ``bad_lifetime``; a malformed role or tenant.
        """
        _check(grant)
        key_id, secret = self._new_id(), self._new_secret()
        now = self._clock.now()
        expires = None if grant.lifetime is None else (now + grant.lifetime).timestamp()
        principal = grant.principal
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
                (
                    key_id,
                    grant.name,
                    hash_of(secret),
                    principal.tenant,
                    principal.subject or f"key:{key_id}",
                    listed(principal.roles),
                    listed(frozenset(grant.permissions)),
                    int(principal.administrator),
                    now.timestamp(),
                    expires,
                ),
            )
        return f"{PREFIX}{key_id}_{secret}", self._found(key_id)

    def list(self, tenant: str | None = None) -> tuple[ApiKey, ...]:
        """All keys, or those of a tenant, oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM api_keys WHERE ?1 IS NULL OR tenant = ?1 "  # noqa: S608
                "ORDER BY created_at, id",
                (tenant,),
            ).fetchall()
        return tuple(map(_key_in, rows))

    def revoke(self, key_id: str) -> ApiKey:
        """Make a key worthless, at once and in every worker process.

        Raises:
            UsageError: ``not_found``.
        """
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
                (self._clock.now().timestamp(), key_id),
            )
        return self._found(key_id)

    def identify(self, text: str) -> Identity | None:
        """Whose key this is; None for none of ours, a wrong secret, an expired or a revoked one."""
        match = _KEY.fullmatch(text)
        if match is None:
            return None
        with self._database.reading() as connection:
            row = connection.execute("SELECT * FROM api_keys WHERE id = ?", (match[1],)).fetchone()
        if row is None or not hmac.compare_digest(row["secret_hash"], hash_of(match[2])):
            return None
        now = self._clock.now().timestamp()
        expired = row["expires_at"] is not None and row["expires_at"] <= now
        if expired or row["revoked_at"] is not None:
            return None
        self._note_use(row, now)
        return Identity(
            principal_in(row), permissions_in(row), Method.API_KEY, credential=f"key:{row['id']}"
        )

    def _note_use(self, row: sqlite3.Row, now: float) -> None:
        """Once a minute is enough for a person, and spares a write per request."""
        if row["used_at"] is None or now - row["used_at"] >= _USE_NOTED_EVERY.total_seconds():
            with self._database.writing() as connection:
                connection.execute("UPDATE api_keys SET used_at = ? WHERE id = ?", (now, row["id"]))

    def _found(self, key_id: str) -> ApiKey:
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM api_keys WHERE id = ?",  # noqa: S608
                (key_id,),
            ).fetchone()
        if row is None:
            raise UsageError(
                f"There is no API key {key_id!r}.",
                code="not_found",
                hint="`evidencedesk apikeys list` shows their ids.",
            )
        return _key_in(row)


def _check(grant: KeyGrant) -> None:
    check_tenant(grant.principal.tenant)
    check_known_roles(grant.principal.roles, None)
    if not grant.permissions or grant.permissions - GRANTABLE:
        raise UsageError(
            f"A key cannot be granted {sorted(grant.permissions)}.",
            code="bad_permission",
            hint=f"Grant one or more of: {', '.join(sorted(GRANTABLE))}.",
        )
    if grant.lifetime is not None and grant.lifetime <= timedelta(0):
        raise UsageError(
            "A key that has expired when it is made is of no use.",
            code="bad_lifetime",
            hint="Give a lifetime of a day or more.",
        )


def _key_in(row: sqlite3.Row) -> ApiKey:
    return ApiKey(
        id=row["id"],
        name=row["name"],
        principal=principal_in(row),
        permissions=permissions_in(row),
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
        expires_at=_time(row["expires_at"]),
        revoked_at=_time(row["revoked_at"]),
        used_at=_time(row["used_at"]),
    )


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
