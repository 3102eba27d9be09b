"""Settings of the server: address, sign-in, limits, telemetry."""

from __future__ import annotations

from typing import Literal

from evidencedesk.settings.declaring import Name, Table, row


class LimitsTable(Table):
    """What one caller may ask of the server. Beyond it: 413, 422 or 429 with Retry-After."""

    body_kb: int = row(256, "Largest body of a request without files.", unit="KiB", gt=0)
    upload_mb: int = row(200, "Largest body of an upload.", unit="MiB", gt=0)
    upload_files: int = row(100, "Most files in one upload.", unit="files", gt=0)
    body_timeout_s: float = row(
        300.0, "A body that takes longer to arrive is given up.", unit="seconds", gt=0
    )
    requests_per_minute: int = row(
        600, "Requests of one caller, in each worker process; 0 is no limit.", unit="requests", ge=0
    )
    tokens_per_minute: int = row(
        0,
        "Tokens that answers to one caller may cost, in each worker process; 0 is no limit.",
        unit="tokens",
        ge=0,
    )
    concurrent_answers: int = row(
        4, "Questions answered side by side in one worker process.", unit="answers", gt=0
    )
    waiting_answers: int = row(
        256, "Questions that wait for their turn in one worker process.", unit="answers", ge=0
    )
    waiting_jobs: int = row(
        50, "Uploads of one caller that are not yet in the index.", unit="jobs", gt=0
    )


class OidcTable(Table):
    """Sign-in by an OpenID Connect provider. Tokens of programs are checked by the same rules."""

    issuer: str | None = row(
        None, "Address of the provider, as its tokens name it.", sample="https://login.example.org"
    )
    audience: str | None = row(
        None, "Whom tokens of programs must be made out to.", sample="evidencedesk"
    )
    client_id: str | None = row(
        None, "Our name at the provider, for sign-in in a browser.", sample="evidencedesk"
    )
    client_secret_env: str | None = row(
        None, "Environment variable that holds our secret there.", sample="OIDC_CLIENT_SECRET"
    )
    client_secret_file: str | None = row(
        None, "File that holds it, instead.", path=True, sample="/run/secrets/oidc-client"
    )
    scopes: tuple[str, ...] = row(("openid", "profile", "email"), "What sign-in asks for.")
    algorithms: tuple[str, ...] = row(
        ("RS256", "ES256"), "Signatures that are accepted; never a symmetric one, never none."
    )
    leeway_s: float = row(
        60.0, "How far the provider's clock may be off.", unit="seconds", ge=0, le=600
    )
    keys_cache_s: float = row(
        300.0, "The provider's keys are asked for again after this.", unit="seconds", gt=0
    )
    timeout_s: float = row(5.0, "The provider replies in this time.", unit="seconds", gt=0)
    subject_claim: Name = row("sub", "The claim that says who somebody is.")
    roles_claim: Name = row(
        "roles", "The claim with the roles; dots lead inside (`realm_access.roles`)."
    )
    tenant_claim: str | None = row(
        None, "The claim with the tenant; [access] tenant without one.", sample="tenant"
    )
    administrator_roles: tuple[str, ...] = row(
        (), "Roles that make somebody an administrator of his tenant."
    )
    writer_roles: tuple[str, ...] = row((), "Roles that may upload, change and delete documents.")
    auditor_roles: tuple[str, ...] = row(
        (), "Roles that may read gaps, activity and the answers of others."
    )


class ServerTable(Table):
    """Where the server listens, and whom it lets in: see docs/server.md."""

    host: Name = row(
        "127.0.0.1", 'Address to listen on. Any but a loopback one needs "keys" or "oidc".'
    )
    port: int = row(8000, "Port to listen on; 0 takes a free one.", unit="number", ge=0, le=65535)
    workers: int = row(1, "Processes that answer.", unit="processes", gt=0)
    authentication: tuple[Literal["local", "keys", "oidc"], ...] = row(
        ("local",),
        '"local": whoever reaches the loopback address is the reader of [access.local], with every '
        'permission. "keys": API keys (`evidencedesk apikeys`). "oidc": [server.oidc].',
    )
    public_url: str | None = row(
        None,
        "Address that people type, where a proxy stands in front.",
        sample="https://desk.example.org",
    )
    trusted_proxies: tuple[str, ...] = row(
        (), "Addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto count."
    )
    state: str | None = row(
        None,
        "Database of keys, sessions and uploads; `server.sqlite3` in the index folder when not set.",
        path=True,
        sample="/var/lib/evidencedesk/server.sqlite3",
    )
    session_hours: float = row(12.0, "A browser is signed in for so long.", unit="hours", gt=0)
    shutdown_s: float = row(
        30.0, "What is being answered is finished in this time.", unit="seconds", ge=0
    )
    limits: LimitsTable = LimitsTable()
    oidc: OidcTable = OidcTable()


class TelemetryTable(Table):
    """What the server tells of itself. Never a question, an answer, a quote, a title or a file name."""

    log_format: Literal["auto", "json", "text"] = row(
        "auto", "How log lines look; JSON when not a terminal."
    )
    log_level: Literal["debug", "info", "warning", "error"] = row("info", "Least that is logged.")
    metrics: bool = row(default=True, help="Whether /metrics is served.")
    otlp_endpoint: str | None = row(
        None, "Where traces go (OTLP over HTTP).", sample="http://127.0.0.1:4318/v1/traces"
    )
    content: bool = row(
        default=False, help="Whether questions may stand in traces. Never in logs or metrics."
    )
