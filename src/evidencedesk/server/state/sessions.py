"""Browsers that are signed in, and sign-ins under way. Tokens are stored hashed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from evidencedesk.access import Principal
from evidencedesk.protocols import Clock
from evidencedesk.server.identity import Identity, Method, Permission
from evidencedesk.server.state.credentials import (
    hash_of,
    listed,
    name_of,
    permissions_in,
    principal_in,
)
from evidencedesk.server.state.database import StateDatabase

_SIGN_IN_LASTS = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in that was begun here and comes back from the provider.

    Attributes:
        state: ties the reply to this sign-in.
        browser: ties it to the browser that began it.
        nonce: ties the identity token to it.
        verifier: proves to the provider that we began it (PKCE, RFC 7636).
        target: the page to go on to.
    """

    state: str
    browser: str
    nonce: str
    verifier: str
    target: str


class Sessions:
    """Sessions of browsers, seen alike by every worker process.

    Args:
        database: where they are kept.
        clock: decides what has expired.
        lifetime: how long a session works.
        new_secret: makes tokens.
    """

    def __init__(
        self,
        database: StateDatabase,
        clock: Clock,
        *,
        lifetime: timedelta,
        new_secret: Callable[[], str],
    ) -> None:
        self._database = database
        self._clock = clock
        self.lifetime = lifetime
        self._new_secret = new_secret

    def begin(self, target: str) -> SignIn:
        """A sign-in under way; it can be completed once, within ten minutes."""
        state, browser, nonce = self._new_secret(), self._new_secret(), self._new_secret()
        # A code verifier has 43 to 128 characters.
        sign_in = SignIn(state, browser, nonce, self._new_secret() + self._new_secret(), target)
        now = self._clock.now()
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sign_ins WHERE expires_at <= ?", (now.timestamp(),))
            connection.execute(
                "INSERT INTO sign_ins VALUES (?, ?, ?, ?, ?, ?)",
                (
                    hash_of(state),
                    hash_of(browser),
                    nonce,
                    sign_in.verifier,
                    target,
                    (now + _SIGN_IN_LASTS).timestamp(),
                ),
            )
        return sign_in

    def take(self, state: str, browser: str) -> SignIn | None:
        """The sign-in that came back to its browser, once; None for any other."""
        with self._database.writing() as connection:
            row = connection.execute(
                "DELETE FROM sign_ins WHERE state_hash = ? AND browser_hash = ? RETURNING *",
                (hash_of(state), hash_of(browser)),
            ).fetchone()
        if row is None or row["expires_at"] <= self._clock.now().timestamp():
            return None
        return SignIn(state, browser, row["nonce"], row["verifier"], row["target"])

    def open(self, principal: Principal, permissions: frozenset[Permission]) -> str:
        """A new session; the token that its browser is given."""
        token, now = self._new_secret(), self._clock.now()
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE expires_at <= ?", (now.timestamp(),))
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    hash_of(token),
                    self._new_secret(),
                    principal.tenant,
                    principal.subject or "",
                    listed(principal.roles),
                    listed(frozenset(permissions)),
                    int(principal.administrator),
                    (now + self.lifetime).timestamp(),
                ),
            )
        return token

    def identify(self, token: str) -> Identity | None:
        """Whose session this is; None for none, an expired or a closed one."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT * FROM sessions WHERE token_hash = ?", (hash_of(token),)
            ).fetchone()
        if row is None or row["expires_at"] <= self._clock.now().timestamp():
            return None
        principal = principal_in(row)
        return Identity(
            principal,
            permissions_in(row),
            Method.SESSION,
            credential=name_of(principal),
            csrf_token=row["csrf_token"],
        )

    def close(self, token: str) -> None:
        """End a session; its token is worth nothing any more."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE token_hash = ?", (hash_of(token),))

    def close_all(self, tenant: str, subject: str) -> int:
        """End every session of somebody; how many there were."""
        with self._database.writing() as connection:
            ended = connection.execute(
                "DELETE FROM sessions WHERE tenant = ? AND subject = ?", (tenant, subject)
            )
            return ended.rowcount
