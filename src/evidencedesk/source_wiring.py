"""From settings to sources that are no folders: which, within which bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from evidencedesk.adapters.sources.addresses import Addresses
from evidencedesk.adapters.sources.fetching import Bounds, Fetcher
from evidencedesk.errors import UsageError
from evidencedesk.pipeline.visits import NoVisits, Visits, VisitsFile
from evidencedesk.protocols import Source
from evidencedesk.registry import adapter, load
from evidencedesk.settings import Settings


def web_sources(
    settings: Settings,
    *,
    urls: Sequence[str] = (),
    sitemaps: Sequence[str] = (),
    hosts: Iterable[str] = (),
) -> tuple[Source, ...]:
    """Sources of web pages, under one rule and with names looked up once for all of them.

    Args:
        settings: the list of hosts and the bounds.
        urls: pages.
        sitemaps: maps of sites.
        hosts: allowed besides those of the settings.

    Raises:
        UsageError: ``offline`` when the settings forbid every connection.
        SourceError: ``bad_url``, ``host_not_allowed``: one that was named may not be fetched.
    """
    if not urls and not sitemaps:
        return ()
    if settings.offline:
        raise UsageError(
            "Web pages cannot be fetched: the settings say offline.",
            code="offline",
            hint="Set offline = false, or save the pages and ingest the files.",
        )
    addresses = Addresses([*settings.web.hosts, *hosts])
    bounds = Bounds(
        max_bytes=settings.ingestion.max_file_mb << 20,
        seconds=settings.web.timeout_s,
        redirects=settings.web.max_redirects,
    )
    fetcher = Fetcher(addresses, bounds)
    for url in (*urls, *sitemaps):
        addresses.check(url)
    pages: list[Source] = [adapter("sources", "pages")(urls, fetcher)] if urls else []
    return (*pages, *(adapter("sources", "sitemap")(url, fetcher) for url in sitemaps))


def mail_sources(
    settings: Settings, *, mailboxes: Sequence[str], password: str | None
) -> tuple[Source, ...]:
    """Sources of mail, each a folder ``imaps://user@host/folder``.

    Args:
        settings: the bounds.
        mailboxes: addresses of folders.
        password: of the user; None when it is not there.

    Raises:
        UsageError: ``offline``; ``no_password``.
        SourceError: ``bad_url``.
    """
    if mailboxes and settings.offline:
        raise UsageError(
            "A mailbox cannot be read: the settings say offline.",
            code="offline",
            hint="Set offline = false, or ingest exported messages as files.",
        )
    if mailboxes and password is None:
        raise UsageError(
            "The mailbox needs a password, and the environment variable for it is not set.",
            code="no_password",
            hint="Set it, and name it with --password-env unless it is MAIL_PASSWORD.",
        )
    bounds = {
        "seconds": settings.web.timeout_s,
        "max_bytes": settings.ingestion.max_file_mb << 20,
    }
    account = load("evidencedesk.adapters.sources.imap:MailAccount")
    folder = adapter("sources", "mailbox") if mailboxes else None
    return tuple(folder(account(url, password, **bounds)) for url in mailboxes if folder)


def visits_beside(index: str | Path) -> Visits:
    """Where to keep what servers said: in the index's folder, nowhere when it has none."""
    folder = Path(index)
    return VisitsFile(folder) if "://" not in str(index) and folder.is_dir() else NoVisits()
