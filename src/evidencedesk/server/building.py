"""From settings to the parts of a running server."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from evidencedesk.desk import Desk
from evidencedesk.errors import SettingsError
from evidencedesk.protocols import Clock, Generator
from evidencedesk.registry import load
from evidencedesk.server.auth import LOOPBACK, Authenticator, local_identity
from evidencedesk.server.limits import Allowance, Turns
from evidencedesk.server.logs import Log, Pseudonyms, logger_of
from evidencedesk.server.metrics import Metrics
from evidencedesk.server.oidc.building import check_oidc, provider_of
from evidencedesk.server.oidc.provider import Provider
from evidencedesk.server.oidc.tokens import TokenVerifier
from evidencedesk.server.originals import Originals
from evidencedesk.server.services import Services
from evidencedesk.server.state.store import FILE_NAME, ServerState
from evidencedesk.server.traces import NoTraces, Traces
from evidencedesk.settings import Settings
from evidencedesk.wiring import SystemClock


def new_secret() -> str:
    """43 letters of base64url: 256 random bits."""
    return secrets.token_urlsafe(32)


def new_id() -> str:
    """16 hex digits: enough to tell things apart, no secret."""
    return secrets.token_hex(8)


def check_serving(settings: Settings) -> None:
    """Refuse settings under which the server would let in whoever comes.

    Raises:
        SettingsError: ``open_to_all``, ``bad_authentication``.
    """
    server = settings.server
    methods = frozenset(server.authentication)
    if not methods or ("local" in methods and len(methods) > 1):
        raise SettingsError(
            f"[server] authentication is {list(server.authentication)}.",
            code="bad_authentication",
            hint='Name ["local"] alone, or "keys", "oidc" or both.',
        )
    if "local" in methods and server.host not in LOOPBACK:
        raise SettingsError(
            f"Without authentication the server does not listen on {server.host!r}.",
            code="open_to_all",
            hint='Set [server] authentication to ["keys"] or ["oidc"], or host to "127.0.0.1".',
        )
    if "oidc" in methods:
        check_oidc(settings)
    if settings.offline and settings.telemetry.otlp_endpoint is not None:
        raise SettingsError(
            "[telemetry] otlp_endpoint is set, and `offline` forbids every connection.",
            code="bad_telemetry",
            hint="Leave one of them out.",
        )


def state_path(settings: Settings) -> Path:
    """Where the server's own database lies.

    Raises:
        SettingsError: ``state_unset`` when the index is no folder and no place is named.
    """
    if settings.server.state is not None:
        return Path(settings.server.state)
    if "://" in settings.index.url:
        raise SettingsError(
            "The index is no folder, so the server's own database needs a place.",
            code="state_unset",
            hint="Set [server] state to a path on a local disk.",
        )
    return Path(settings.index.url) / FILE_NAME


def open_state(settings: Settings, clock: Clock) -> ServerState:
    """The server's own database.

    Raises:
        IndexUnavailableError: ``state_unavailable``.
    """
    return ServerState.open(
        state_path(settings),
        clock,
        new_id=new_id,
        new_secret=new_secret,
        session_lifetime=timedelta(hours=settings.server.session_hours),
    )


@contextmanager
def opened_state(settings: Settings, clock: Clock) -> Iterator[ServerState]:
    """The server's own database for a while; raises what :func:`open_state` raises."""
    state = open_state(settings, clock)
    try:
        yield state
    finally:
        state.close()


def services_of(
    settings: Settings,
    *,
    clock: Clock | None = None,
    generator: Generator | None = None,
    log: Log | None = None,
) -> Services:
    """The parts of a server; close them.

    Args:
        settings: effective settings.
        clock: where time comes from; the machine's clock when None.
        generator: who writes replies; the one that the settings name when None.
        log: where the server tells of itself; as the settings say when None.

    Raises:
        SettingsError: the settings would let in whoever comes.
        IndexingError: the index or the server's own database cannot be used.
    """
    check_serving(settings)
    time = clock or SystemClock()
    desk = Desk.open(
        settings.index.url, settings=settings, create=True, clock=time, generator=generator
    )
    state = open_state(settings, time)
    limits = settings.server.limits
    signs_in = "oidc" in settings.server.authentication
    provider = provider_of(settings, time) if signs_in else None
    return Services(
        settings=settings,
        desk=desk,
        clock=time,
        new_secret=new_secret,
        state=state,
        authenticator=_authenticator(settings, state, provider),
        provider=provider,
        traces=_traces(settings),
        requests=Allowance(limits.requests_per_minute, time, code="rate_limited", what="requests"),
        tokens=Allowance(limits.tokens_per_minute, time, code="too_many_tokens", what="tokens"),
        turns=Turns(limits.concurrent_answers, limits.waiting_answers),
        searches=Turns(limits.concurrent_answers, limits.waiting_answers),
        metrics=Metrics(),
        log=log or logger_of(settings.telemetry),
        pseudonyms=Pseudonyms(secrets.token_bytes(32)),
        originals=Originals(state_path(settings).parent),
    )


def _traces(settings: Settings) -> Traces:
    endpoint = settings.telemetry.otlp_endpoint
    if endpoint is None:
        return NoTraces()
    made: Traces = load("evidencedesk.server.tracing:OtlpTraces", extra="telemetry")(
        endpoint, content=settings.telemetry.content
    )
    return made


def _authenticator(
    settings: Settings, state: ServerState, provider: Provider | None
) -> Authenticator:
    methods = settings.server.authentication
    return Authenticator(
        keys=state.keys,
        tokens=None if provider is None else TokenVerifier(settings, provider),
        sessions=state.sessions if "oidc" in methods else None,
        local=local_identity(settings) if "local" in methods else None,
        suspended=state.suspensions.holds,
        cookie=cookie_name(settings),
    )


def cookie_name(settings: Settings) -> str:
    """Name of the session cookie; with HTTPS one that no other name or path can set (RFC 6265bis)."""
    secure = (settings.server.public_url or "").startswith("https:")
    return "__Host-evidencedesk" if secure else "evidencedesk"
