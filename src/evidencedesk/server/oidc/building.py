"""The parts of sign-in, made from the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import httpx2

from evidencedesk import __version__
from evidencedesk.errors import SettingsError
from evidencedesk.protocols import Clock
from evidencedesk.server.oidc.provider import Provider
from evidencedesk.settings import Settings

_ASYMMETRIC = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)


def check_oidc(settings: Settings) -> None:
    """Refuse settings with which forged tokens would pass, or nobody could sign in.

    Raises:
        SettingsError: ``bad_authentication``.
    """
    oidc = settings.server.oidc
    if not oidc.issuer or not (oidc.audience or oidc.client_id):
        raise _bad("[server.oidc] needs issuer, and audience or client_id.", "Set them.")
    if not oidc.issuer.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise _bad(f"The issuer {oidc.issuer!r} is not reached by HTTPS.", "Use its https address.")
    weak = sorted(set(oidc.algorithms) - _ASYMMETRIC)
    if weak or not oidc.algorithms:
        raise _bad(
            f"Signatures of algorithm {weak[0] if weak else 'none'!r} prove nothing here.",
            f"Use some of {', '.join(sorted(_ASYMMETRIC))}.",
        )
    if settings.offline:
        raise _bad(
            "[server] authentication names oidc, and `offline` forbids every connection.",
            'Use "keys", or allow connections.',
        )


def provider_of(settings: Settings, clock: Clock) -> Provider:
    """The provider that the settings name."""
    oidc = settings.server.oidc
    client = httpx2.Client(
        timeout=oidc.timeout_s,
        follow_redirects=False,
        headers={"User-Agent": f"evidencedesk/{__version__}"},
    )
    return Provider(oidc, clock, client)


def client_secret(settings: Settings, environment: Mapping[str, str] = os.environ) -> str:
    """Our secret at the provider; empty for a public client.

    Raises:
        SettingsError: ``secret_missing``.
    """
    oidc = settings.server.oidc
    if oidc.client_secret_file is not None:
        try:
            return Path(oidc.client_secret_file).read_text("utf-8").strip()
        except OSError as error:
            raise SettingsError(
                f"{oidc.client_secret_file!r} cannot be read: {error.strerror}.",
                code="secret_missing",
                hint="[server.oidc] client_secret_file names it.",
            ) from error
    if oidc.client_secret_env is None:
        return ""
    secret = environment.get(oidc.client_secret_env, "")
    if not secret:
        raise SettingsError(
            f"The environment variable {oidc.client_secret_env!r} is not set.",
            code="secret_missing",
            hint="[server.oidc] client_secret_env names it.",
        )
    return secret


def _bad(message: str, hint: str) -> SettingsError:
    return SettingsError(message, code="bad_authentication", hint=hint)
