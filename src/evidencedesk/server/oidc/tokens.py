"""Signed tokens (RFC 7519, and RFC 8725 on what to be careful of)."""

from __future__ import annotations

import hmac
from typing import Any

import jwt

from evidencedesk.server.identity import Identity, Method
from evidencedesk.server.oidc.claims import granted
from evidencedesk.server.oidc.provider import Provider
from evidencedesk.server.state.credentials import name_of
from evidencedesk.settings import Settings

_MOST_CHARS = 16_384
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_OTHER_KINDS = frozenset({"id", "refresh", "offline", "logout"})
_REQUIRED = ["exp", "iat", "iss", "aud"]


class TokenVerifier:
    """Tokens of the provider.

    The signature must be of an algorithm that the settings name and of a key that the provider
    shows; which key is taken from the provider and never from the token.
    """

    def __init__(self, settings: Settings, provider: Provider) -> None:
        self._settings = settings
        self._oidc = settings.server.oidc
        self._provider = provider

    def identify(self, text: str) -> Identity | None:
        """Whose access token this is; None for none that is valid, and for a token of another kind.

        Raises:
            RequestError: ``provider_unreachable``.
        """
        if self._oidc.audience is None:
            return None
        claims = self._claims(text, self._oidc.audience)
        if claims is None or "nonce" in claims:
            return None  # an identity token says who signed in somewhere; it opens nothing here
        if str(claims.get("typ", "")).lower() in _OTHER_KINDS:
            return None
        found = granted(claims, self._settings)
        if found is None:
            return None
        return Identity(
            found.principal,
            found.permissions,
            Method.TOKEN,
            credential=name_of(found.principal),
        )

    def signed_in(self, text: str, nonce: str) -> dict[str, Any] | None:
        """Claims of an identity token made out to us for this very sign-in; None for any other."""
        if self._oidc.client_id is None:
            return None
        claims = self._claims(text, self._oidc.client_id)
        if claims is None or not isinstance(claims.get("nonce"), str):
            return None
        if not hmac.compare_digest(claims["nonce"].encode(), nonce.encode()):
            return None
        audience, party = claims["aud"], claims.get("azp")
        if isinstance(audience, list) and len(audience) > 1 and party != self._oidc.client_id:
            return None
        return claims

    def _claims(self, text: str, audience: str) -> dict[str, Any] | None:
        if len(text) > _MOST_CHARS:
            return None
        try:
            header = jwt.get_unverified_header(text)
            if str(header.get("typ", "JWT")).lower() not in _TYPES:
                return None
            kid = header.get("kid")
            key = self._provider.key(kid) if isinstance(kid, str) else None
            if key is None or header.get("alg") != key.algorithm_name:
                return None
            return jwt.decode(
                text,
                key,
                algorithms=list(self._oidc.algorithms),
                audience=audience,
                issuer=self._provider.issuer,
                leeway=self._oidc.leeway_s,
                options={"require": _REQUIRED},
            )
        except jwt.PyJWTError:
            return None
