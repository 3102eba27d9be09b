"""Settings of fetching: which web pages may be ingested, and what one may cost."""

from __future__ import annotations

from evidencedesk.settings.declaring import Table, row


class WebTable(Table):
    """Web pages that `ingest --url` and `--sitemap` may fetch; see docs/sources.md."""

    hosts: tuple[str, ...] = row(
        (),
        "Hosts that may be fetched from: `example.org`, `*.example.org` for all below it, "
        "`example.org:8443` for another port. Empty: none, unless --allow-host names it.",
    )
    timeout_s: float = row(
        30.0, "A page that takes longer, redirects included, is given up.", unit="seconds", gt=0
    )
    max_redirects: int = row(5, "Pages redirected more often are given up.", unit="redirects", ge=0)
