"""From settings to the ways out to a person: addresses, secrets, certificates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evidencedesk.errors import ModelError, SettingsError
from evidencedesk.model import Finding
from evidencedesk.protocols import Clock, Notifier
from evidencedesk.registry import load
from evidencedesk.settings import Settings
from evidencedesk.settings.notifying import NotificationsTable

_ADAPTERS = "evidencedesk.adapters.notifiers"


def notifiers_of(
    settings: Settings, clock: Clock, environment: Mapping[str, str]
) -> tuple[Notifier, ...]:
    """The ways out that the settings name; none of them while connections are forbidden.

    Raises:
        SettingsError: ``bad_webhook``, ``bad_email``, ``no_key`` or ``settings_unreadable``.
    """
    chosen = settings.notifications
    if settings.offline:
        return ()
    notifiers: list[Notifier] = []
    if chosen.webhook_url:
        notifiers.append(_webhook(chosen, clock, environment))
    if chosen.email_to:
        notifiers.append(_email(chosen, environment))
    return tuple(notifiers)


def notifications_finding(
    settings: Settings, clock: Clock, environment: Mapping[str, str]
) -> Finding | None:
    """What ``doctor`` says of the ways out; nothing is sent. None where none is named."""
    chosen = settings.notifications
    if not (chosen.webhook_url or chosen.email_to):
        return None
    try:
        names = [notifier.name for notifier in notifiers_of(settings, clock, environment)]
    except (SettingsError, ModelError) as error:
        return Finding("notifications", ok=False, message=error.message, hint=error.hint)
    if not names:
        message = "nobody is told of anything while `offline` is set"
        return Finding("notifications", ok=True, message=message)
    what = ", ".join(chosen.include) or "ids only"
    message = f"{', '.join(chosen.events)} by {' and '.join(names)}; content that leaves: {what}"
    return Finding("notifications", ok=True, message=message)


def _webhook(chosen: NotificationsTable, clock: Clock, environment: Mapping[str, str]) -> Notifier:
    secret = _secret(
        "webhook_secret", chosen.webhook_secret_env, chosen.webhook_secret_file, environment
    )
    configuration: Any = load(f"{_ADAPTERS}.webhook:WebhookConfiguration")(
        url=chosen.webhook_url,
        secret=secret,
        allow_private=chosen.allow_private,
        timeout_s=chosen.timeout_s,
        ca_file=chosen.ca_file,
    )
    notifier: Notifier = load(f"{_ADAPTERS}.webhook:WebhookNotifier")(configuration, clock)
    return notifier


def _email(chosen: NotificationsTable, environment: Mapping[str, str]) -> Notifier:
    if not chosen.smtp_host or not chosen.email_from:
        raise SettingsError(
            "E-mail needs [notifications] smtp_host and email_from.",
            code="bad_email",
            hint="Set both, or empty email_to.",
        )
    password = ""
    if chosen.smtp_user:
        password = _secret(
            "smtp_password", chosen.smtp_password_env, chosen.smtp_password_file, environment
        )
    configuration: Any = load(f"{_ADAPTERS}.email:EmailConfiguration")(
        host=chosen.smtp_host,
        sender=chosen.email_from,
        recipients=chosen.email_to,
        port=chosen.smtp_port,
        security=chosen.smtp_security,
        user=chosen.smtp_user,
        password=password,
        timeout_s=chosen.timeout_s,
        ca_file=chosen.ca_file,
    )
    notifier: Notifier = load(f"{_ADAPTERS}.email:EmailNotifier")(configuration)
    return notifier


def _secret(
    name: str, variable: str | None, file: str | None, environment: Mapping[str, str]
) -> str:
    if file:
        try:
            return Path(file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(
                f"{file!r}, which [notifications] {name}_file names, cannot be read: "
                f"{type(error).__name__}.",
                code="settings_unreadable",
                hint="Correct the path, or who may read it.",
            ) from None
    secret = environment.get(variable, "").strip() if variable else ""
    if not secret:
        raise SettingsError(
            f"[notifications] needs a secret: {name}_env or {name}_file names none that is set.",
            code="no_key",
            hint=f"Set the environment variable {variable!r}." if variable else "Set one of them.",
        )
    return secret
