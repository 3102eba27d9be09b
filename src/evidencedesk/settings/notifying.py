"""Settings of notices: what is told to a person, by which way, and what of it may leave."""

from __future__ import annotations

from typing import Literal

from evidencedesk.settings.declaring import Table, row


class NotificationsTable(Table):
    """Who is told of what was not answered, or not well: by webhook, e-mail or both."""

    events: tuple[Literal["abstained", "feedback", "lapsed"], ...] = row(
        ("abstained", "feedback", "lapsed"),
        '"abstained": a question was not answered, for want of documents; "feedback": a reader called '
        'an answer wrong or incomplete; "lapsed": stored answers no longer hold after an ingestion.',
    )
    include: tuple[Literal["question", "answer", "quotes", "note"], ...] = row(
        (), "Content that may leave with a notice. Empty: ids, reasons and verdicts only."
    )
    contact: str = row("", "Person or address that an abstention names; empty names nobody.")
    webhook_url: str | None = row(
        None, "Where notices are posted as JSON.", sample="https://hooks.example.org/evidencedesk"
    )
    webhook_secret_env: str | None = row(
        None,
        "Environment variable that holds the secret that signs them (Standard Webhooks).",
        sample="EVIDENCEDESK_WEBHOOK",
    )
    webhook_secret_file: str | None = row(
        None, "File that holds it, instead.", path=True, sample="/run/secrets/webhook"
    )
    allow_private: bool = row(
        default=False,
        help="Whether the webhook may be at an address that is not public, and without TLS.",
    )
    email_to: tuple[str, ...] = row((), "Addresses that notices are mailed to.")
    email_from: str | None = row(None, "Address they come from.", sample="desk@example.org")
    smtp_host: str | None = row(None, "The mail server.", sample="mail.example.org")
    smtp_port: int = row(
        0, "Its port; 0 is the usual one (587, 465 or 25).", unit="port", ge=0, le=65535
    )
    smtp_security: Literal["starttls", "tls", "none"] = row(
        "starttls", "How the connection is encrypted; a server that cannot is not used."
    )
    smtp_user: str | None = row(None, "Name at the mail server.", sample="desk")
    smtp_password_env: str | None = row(
        None, "Environment variable that holds the password.", sample="EVIDENCEDESK_SMTP"
    )
    smtp_password_file: str | None = row(
        None, "File that holds it, instead.", path=True, sample="/run/secrets/smtp"
    )
    ca_file: str | None = row(
        None,
        "Certificates that are trusted instead of the system's.",
        path=True,
        sample="/etc/ssl/company.pem",
    )
    timeout_s: float = row(
        5.0, "One delivery takes no longer; a command waits for two.", unit="seconds", gt=0
    )
    max_attempts: int = row(
        8,
        "After so many a notice is only listed, by `doctor` and `notices list`.",
        unit="attempts",
        gt=0,
    )
