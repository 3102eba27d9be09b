"""Which addresses may be fetched: http and https, named hosts, public machines, looked up once.

A name is looked up once in a run and every connection goes to an address of that answer, so an answer
that changes changes nothing. One address in it that is not public refuses the name.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from evidencedesk.errors import SourceError

Resolver = Callable[[str, int], Sequence[str]]
"""Host name and port to its addresses, as text; raises OSError when there are none."""

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|\d+)")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\\u00a0\u2028\u2029\u3000]")
_LONGEST = 4_096
# Never public though their numbers may count as such: hosts that answer for metadata at large
# providers, and networks that stand for IPv4 addresses in IPv6 ones (RFC 6052, RFC 8215).
_NEVER = tuple(map(ipaddress.ip_network, ("168.63.129.16/32", "192.0.0.0/24")))
_TRANSLATED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))


@dataclass(frozen=True, slots=True)
class Address:
    """An address that may be fetched.

    Attributes:
        url: the whole of it, normalised, without a fragment.
        scheme: ``http`` or ``https``.
        host: the host's name in ASCII, or an IP address without brackets.
        port: its port.
        target: path and query as sent.
    """

    url: str
    scheme: str
    host: str
    port: int
    target: str


def system_resolver(host: str, port: int) -> Sequence[str]:
    """The machine's own resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(address: IPAddress) -> bool:
    """Whether the address is one of a machine on the public internet.

    What an IPv6 address embeds (mapped, 6to4, Teredo, translated) must be public, too.
    """
    if address.is_multicast or not address.is_global:
        return False
    if any(address in network for network in _NEVER):
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    embedded = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _TRANSLATED):
        embedded.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return all(is_public(inner) for inner in embedded if inner is not None)


class Addresses:
    """The rule for one run: which hosts, and what their names mean."""

    def __init__(
        self,
        hosts: Iterable[str],
        *,
        resolver: Resolver = system_resolver,
        may_connect: Callable[[IPAddress], bool] = is_public,
    ) -> None:
        """Allow ``hosts``.

        Args:
            hosts: names; ``*.example.org`` means every name below it, ``example.org:8443`` another
                port than that of the scheme.
            resolver: looks names up.
            may_connect: which addresses a name may mean. Tests pass another; nothing else does.
        """
        self._hosts = tuple(host.strip().lower().rstrip(".") for host in hosts)
        self._resolver = resolver
        self._may_connect = may_connect
        self._pinned: dict[tuple[str, int], tuple[str, ...]] = {}

    def check(self, url: str, *, base: str = "") -> Address:
        """The address that ``url`` is, relative to ``base``.

        Raises:
            SourceError: ``bad_url`` when it is none or hides where it leads; ``host_not_allowed``.
        """
        address = parsed(urljoin(base, url) if base else url)
        if not self._allows(address):
            raise SourceError(
                f"{address.url}: the host {_shown(address)!r} is not on the list of hosts.",
                code="host_not_allowed",
                hint="Add it to [web] hosts or give --allow-host, if you trust what it serves.",
            )
        return address

    def pin(self, address: Address) -> tuple[str, ...]:
        """The IP addresses to connect to; the same for the whole run.

        Raises:
            SourceError: ``unreachable`` when there are none; ``address_refused`` when one of them is
                not that of a public machine.
        """
        key = address.host, address.port
        if key not in self._pinned:
            self._pinned[key] = self._looked_up(address)
        return self._pinned[key]

    def _looked_up(self, address: Address) -> tuple[str, ...]:
        try:
            literal = _literal(address.host)
            given = [str(literal)] if literal else self._resolver(address.host, address.port)
            found = [ipaddress.ip_address(each.partition("%")[0]) for each in given]
        except (OSError, ValueError) as error:
            raise SourceError(
                f"{address.url}: the host {address.host!r} cannot be looked up ({error}).",
                code="unreachable",
                hint="Check the spelling and the connection.",
            ) from None
        inside = next((each for each in found if not self._may_connect(each)), None)
        if inside is not None or not found:
            raise SourceError(
                f"{address.url}: the host {address.host!r} stands for {inside}, which is no public"
                " address.",
                code="address_refused",
                hint="Addresses inside your network are never fetched; ingest the files instead.",
            )
        return tuple(str(each) for each in found)

    def _allows(self, address: Address) -> bool:
        usual = address.port == _PORTS[address.scheme]
        names = {f"{address.host}:{address.port}", *([address.host] if usual else [])}
        for host in self._hosts:
            if host in names:
                return True
            suffix = host.removeprefix("*")
            if suffix.startswith(".") and any(name.endswith(suffix) for name in names):
                return True
        return False


def parsed(url: str) -> Address:
    """The address that ``url`` is.

    Raises:
        SourceError: ``bad_url``: another scheme than http and https, a user name in it, blanks or
            backslashes, a host that is no name (numbers that a resolver would take for an IP
            address), a port that is none.
    """
    if len(url) > _LONGEST or _FORBIDDEN.search(url):
        raise _bad(url, "it is too long, or holds blanks, control characters or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _bad(url, str(error)) from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise _bad(url, f"the scheme is {scheme!r}, not http or https")
    if "@" in parts.netloc:
        raise _bad(url, "it holds a user name")
    host = _host(url, parts.hostname or "")
    port = _PORTS[scheme] if port is None else port
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=-._~")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=-._~?")
    shown = f"[{host}]" if ":" in host else host
    netloc = shown if port == _PORTS[scheme] else f"{shown}:{port}"
    target = f"{path}?{query}" if query else path
    return Address(urlunsplit((scheme, netloc, path, query, "")), scheme, host, port, target)


def _host(url: str, host: str) -> str:
    if ":" in host:
        if _literal(host) is None or "%" in host:
            raise _bad(url, "its host is no IPv6 address")
        return str(_literal(host))
    try:
        name = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise _bad(url, "its host is no name") from None
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _bad(url, "its host is no name")
    if _NUMERIC.fullmatch(labels[-1]) and (_literal(name) is None or str(_literal(name)) != name):
        raise _bad(url, "its host is a number that hides an IP address")
    return name


def _literal(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _shown(address: Address) -> str:
    usual = address.port == _PORTS[address.scheme]
    return address.host if usual else f"{address.host}:{address.port}"


def _bad(url: str, reason: str) -> SourceError:
    return SourceError(
        f"{url[:200]!r} is not fetched: {reason}.",
        code="bad_url",
        hint="Write it as https://example.org/page.",
    )
