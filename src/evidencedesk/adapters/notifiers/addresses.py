"""Which addresses a connection may be made to: public ones, unless the operator allows others."""

from __future__ import annotations

import ipaddress
import socket
from ipaddress import IPv4Address, IPv6Address

from evidencedesk.errors import NotificationError

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def addresses_of(host: str, port: int, *, allow_private: bool) -> tuple[str, ...]:
    """The addresses of ``host``, each of which may be connected to.

    They are to be connected to as they are here: a name that is looked up again may mean another
    address by then.

    Raises:
        NotificationError: ``address_unknown``; ``address_private`` when any of them is loopback,
            private, link-local, multicast or reserved, also behind an IPv6 address that carries it.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotificationError(
            f"The host {host!r} has no address.",
            code="address_unknown",
            hint="Correct [notifications] webhook_url, or mend name resolution.",
        ) from None
    addresses = tuple(dict.fromkeys(str(each[4][0]) for each in found))
    if not allow_private and not all(map(is_public, addresses)):
        raise NotificationError(
            f"The host {host!r} is at an address that is not public.",
            code="address_private",
            hint="Set [notifications] allow_private if that is meant.",
        )
    return addresses


def is_public(address: str) -> bool:
    """Whether an address is one of the public Internet (RFC 6890), and those that it carries too."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    return all(each.is_global and not each.is_multicast for each in (parsed, *_carried(parsed)))


def _carried(address: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    """IPv4 addresses inside an IPv6 address: mapped, 6to4, Teredo, NAT64."""
    if isinstance(address, IPv4Address):
        return ()
    teredo = address.teredo or ()
    translated = IPv4Address(int(address) & 0xFFFFFFFF) if address in _TRANSLATED else None
    return tuple(
        each for each in (address.ipv4_mapped, address.sixtofour, *teredo, translated) if each
    )
