"""Which addresses a notice may be posted to: public ones, unless the operator allows others."""

from __future__ import annotations

import ipaddress

from evidencedesk.adapters.sources.addresses import is_public, system_resolver
from evidencedesk.errors import NotificationError


def addresses_of(host: str, port: int, *, allow_private: bool) -> tuple[str, ...]:
    """The addresses of ``host``, each of which may be connected to.

    They are to be connected to as they are here: a name that is looked up again may mean another
    address by then.

    Raises:
        NotificationError: ``address_unknown``; ``address_private`` when any of them is loopback,
            private, link-local, multicast or reserved, also behind an IPv6 address that carries it.
    """
    try:
        addresses = tuple(system_resolver(host, port))
    except (OSError, UnicodeError):
        raise NotificationError(
            f"The host {host!r} has no address.",
            code="address_unknown",
            hint="Correct [notifications] webhook_url, or mend name resolution.",
        ) from None
    found = (ipaddress.ip_address(each.partition("%")[0]) for each in addresses)
    if not allow_private and not all(map(is_public, found)):
        raise NotificationError(
            f"The host {host!r} is at an address that is not public.",
            code="address_private",
            hint="Set [notifications] allow_private if that is meant.",
        )
    return addresses
