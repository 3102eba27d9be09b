"""Settings of masking: what is done with personal data and secrets when documents are read."""

from __future__ import annotations

from evidencedesk.settings.declaring import Name, Table, row


class MaskingTable(Table):
    """Personal data and secrets, replaced before a document is stored; see docs/masking.md."""

    default: Name = row(
        "none",
        "For folders whose manifest says nothing (`mask:`): `none`, `mask`, `refuse` (documents "
        "that hold any), or the kinds to be masked, with commas.",
    )
    kinds: tuple[str, ...] = row(
        ("email", "phone", "iban", "card", "ip", "secret"),
        "What `mask` and `refuse` look for. `phone` and `secret` need the extra `masking`.",
    )
    identifiers: tuple[str, ...] = row(
        (), "National identifiers looked for besides: `us-ssn`, `de-tax-id`, or a plug-in's."
    )
    phone_regions: tuple[str, ...] = row(
        (), "Countries (`DE`, `IN`) whose telephone numbers are known without a country code, too."
    )
