from __future__ import annotations

import inspect
import ipaddress
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.adapters.sources.addresses import Addresses, is_public, parsed
from evidencedesk.errors import SourceError


def rule(*hosts: str, answer: Sequence[str] = ("93.184.216.34",)) -> Addresses:
    return Addresses(hosts, resolver=lambda _host, _port: answer)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/a",
        "gopher://example.org/",
        "javascript:alert(1)",
        "//example.org/a",
        "example.org/a",
        "http://",
        "http:///a",
        "http://user@example.org/",
        "http://user:secret@example.org/",
        "http://example.org@127.0.0.1/",
        "http://127.0.0.1\\@example.org/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org /",
        "http://example.org/\r\nHost: inside",
        "http://example.org/\x00",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1.0x0/",
        "http://example.org:99999/",
        "http://example.org:port/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://exa mple.org/",
        "http://-example.org/",
        "http://" + "a" * 300 + "/",
        "http://example.org/" + "a" * 5_000,
    ],
)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(SourceError) as caught:
        parsed(url)
    assert caught.value.code == "bad_url"


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("https://example.org:443/a#part", "https://example.org/a"),
        ("http://example.org:8080/a?b=c%20d", "http://example.org:8080/a?b=c%20d"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("http://example.org./", "http://example.org/"),
        ("http://[2606:2800:220:1::1]/", "http://[2606:2800:220:1::1]/"),
    ],
)
def test_addresses_are_normalised(url: str, normal: str) -> None:
    assert parsed(url).url == normal


INSIDE = [
    "127.0.0.1",
    "127.255.255.254",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "0.0.0.0",
    "255.255.255.255",
    "224.0.0.1",
    "198.18.0.1",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2001:db8::1",
]


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_refused_by_name_and_by_number(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
    for answer in ([address], ["93.184.216.34", address]):
        named = rule("example.org", answer=answer)
        checked = named.check("http://example.org/")
        with pytest.raises(SourceError) as caught:
            named.pin(checked)
        assert caught.value.code == "address_refused"
    literal = f"[{address}]" if ":" in address else address
    by_number = rule(parsed(f"http://{literal}/").host)
    checked = by_number.check(f"http://{literal}/")
    with pytest.raises(SourceError) as caught:
        by_number.pin(checked)
    assert caught.value.code == "address_refused"


@given(st.ip_addresses(v=4))
def test_what_ipv6_wraps_counts_as_what_it_wraps(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | number)
    translated = ipaddress.IPv6Address((0x64FF9B << 96) | number)
    for wrapped in (mapped, translated):
        if not is_public(address):
            assert not is_public(wrapped)


def test_a_name_is_looked_up_once_and_stays_what_it_was() -> None:
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    addresses = Addresses(["example.org"], resolver=lambda _host, _port: next(answers))
    address = addresses.check("http://example.org/a")
    assert addresses.pin(address) == addresses.pin(addresses.check("http://example.org/b"))
    assert addresses.pin(address) == ("93.184.216.34",)


@pytest.mark.parametrize(
    ("host", "url", "allowed"),
    [
        ("example.org", "http://example.org/", True),
        ("Example.ORG.", "https://example.org/", True),
        ("example.org", "http://www.example.org/", False),
        ("example.org", "http://notexample.org/", False),
        ("example.org", "http://example.org.evil.test/", False),
        ("example.org", "http://example.org:22/", False),
        ("example.org:8443", "https://example.org:8443/", True),
        ("example.org:8443", "https://example.org/", False),
        ("*.example.org", "http://docs.example.org/", True),
        ("*.example.org", "http://example.org/", False),
        ("*.example.org", "http://badexample.org/", False),
        ("*", "http://example.org/", False),
        ("", "http://example.org/", False),
    ],
)
def test_the_list_of_hosts(host: str, url: str, allowed: bool) -> None:
    if allowed:
        assert rule(host).check(url)
        return
    with pytest.raises(SourceError) as caught:
        rule(host).check(url)
    assert caught.value.code == "host_not_allowed"


def test_nothing_but_public_addresses_is_the_default() -> None:
    default = inspect.signature(Addresses).parameters["may_connect"].default
    assert default is is_public
    with pytest.raises(SourceError):
        Addresses([]).check("http://example.org/")
