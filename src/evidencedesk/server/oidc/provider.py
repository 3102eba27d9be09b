"""The provider's addresses and keys, asked for when they are needed and kept for a while."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import httpx2
import jwt

from evidencedesk.protocols import Clock
from evidencedesk.server.problems import RequestError
from evidencedesk.settings.serving import OidcTable

DISCOVERY = "/.well-known/openid-configuration"
REFRESH_AT_MOST_EVERY = 10.0
"""Seconds; tokens with made-up key names must not make us ask again and again."""
USED_AT_MOST = 86_400.0
"""Seconds for which known keys are used while the provider cannot be reached."""
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the provider is asked for what (OpenID Connect Discovery 1.0)."""

    authorization: str
    token: str
    keys: str
    user_info: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    addresses: Addresses
    keys: Mapping[str, jwt.PyJWK]
    at: float


class Provider:
    """The provider of the settings. Safe for threads.

    Its documents are asked for anew after ``keys_cache_s``, and at once when a token names a key that
    is not known, which is how keys are rotated. While it cannot be reached, keys that were known go
    on being used until the server is started anew.

    Args:
        settings: issuer, limits and algorithms.
        clock: measures age.
        client: makes the connections; redirects are never followed.
    """

    def __init__(self, settings: OidcTable, clock: Clock, client: httpx2.Client) -> None:
        self.issuer = settings.issuer or ""
        self._settings = settings
        self._clock = clock
        self._client = client
        self._lock = threading.Lock()
        self._known: _Known | None = None
        self._tried = -REFRESH_AT_MOST_EVERY

    def key(self, kid: str) -> jwt.PyJWK | None:
        """The signing key called ``kid``; None when the provider has none of that name.

        Raises:
            RequestError: ``provider_unreachable``, when no key is known at all.
        """
        known = self._current()
        if kid not in known.keys:
            known = self._current(wanted=kid)
        return known.keys.get(kid)

    def addresses(self) -> Addresses:
        """Where the provider is asked for what.

        Raises:
            RequestError: ``provider_unreachable``.
        """
        return self._current().addresses

    def post(self, address: str, form: Mapping[str, str], auth: Any) -> dict[str, Any] | None:
        """The provider's reply to a form; None when it refuses.

        Raises:
            RequestError: ``provider_unreachable``.
        """
        try:
            reply = self._client.post(address, data=dict(form), auth=auth)
        except httpx2.HTTPError as error:
            raise unreachable() from error
        return _object_in(reply) if reply.status_code == httpx2.codes.OK else None

    def get(self, address: str, access: str = "") -> dict[str, Any]:
        """A document of the provider.

        Raises:
            RequestError: ``provider_unreachable``.
        """
        headers = {"Authorization": f"Bearer {access}"} if access else {}
        try:
            reply = self._client.get(address, headers=headers)
        except httpx2.HTTPError as error:
            raise unreachable() from error
        if reply.status_code != httpx2.codes.OK:
            raise unreachable()
        return _object_in(reply)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _current(self, wanted: str | None = None) -> _Known:
        with self._lock:
            now = self._clock.monotonic()
            known = self._known
            stale = known is None or now - known.at > self._settings.keys_cache_s
            missing = known is not None and wanted is not None and wanted not in known.keys
            may_ask = now - self._tried >= REFRESH_AT_MOST_EVERY
            if not (stale or missing) or (known is not None and not may_ask):
                assert known is not None
                return known
            self._tried = now
            try:
                self._known = self._asked(now)
            except RequestError:
                if known is None or now - known.at > USED_AT_MOST:
                    raise
                return known
            return self._known

    def _asked(self, now: float) -> _Known:
        document = self.get(self.issuer.rstrip("/") + DISCOVERY)
        if document.get("issuer") != self.issuer:
            raise unreachable()
        addresses = _addresses(document)
        listed = self.get(addresses.keys).get("keys")
        found: dict[str, jwt.PyJWK] = {}
        for each in listed if isinstance(listed, list) else []:
            key = self._usable(each)
            if key is not None and key.key_id:
                found[key.key_id] = key
        return _Known(addresses, found, now)

    def _usable(self, described: Any) -> jwt.PyJWK | None:
        """A key for signatures that are accepted here; others are left out."""
        if not isinstance(described, dict) or described.get("use", "sig") != "sig":
            return None
        try:
            key = jwt.PyJWK(described)
        except jwt.PyJWTError:
            return None
        return key if key.algorithm_name in self._settings.algorithms else None


def unreachable() -> RequestError:
    """The error for a provider that does not answer, or not as a provider does."""
    return RequestError(
        "The sign-in provider does not answer as it should.",
        code="provider_unreachable",
        hint="Try again later, or tell whoever runs this server.",
        retry_after=10,
    )


def _object_in(reply: httpx2.Response) -> dict[str, Any]:
    if len(reply.content) > _MOST_BYTES:
        raise unreachable()
    try:
        found = reply.json()
    except ValueError as error:
        raise unreachable() from error
    if not isinstance(found, dict):
        raise unreachable()
    return found


def _addresses(document: Mapping[str, Any]) -> Addresses:
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")
    found = [document.get(name) for name in names]
    authorization, token, keys, user_info = (each if _is_address(each) else "" for each in found)
    if not (authorization and token and keys):
        raise unreachable()
    return Addresses(authorization, token, keys, user_info)


def _is_address(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and value.startswith(("https://", "http://"))
