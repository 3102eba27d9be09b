"""What a pattern and a checksum can tell: mail addresses, bank accounts, cards, IP addresses."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

_EMAIL = re.compile(
    r"(?<![\w.+%'-])[\w.+%'-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_][\w-]{1,23}(?![\w@-])"
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ \u00a0\t-]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])"
)
_CARD = re.compile(
    r"(?<![\d.,/-])(?:[2-6]\d{12,18}"
    r"|[2-6]\d{3}(?P<by>[ \u00a0-]{1,2})\d{4}(?P=by)\d{4}(?P=by)\d{1,7}"
    r"|3\d{3}(?P<of>[ \u00a0-])\d{6}(?P=of)\d{4,5})(?![\d/-])"
)
_IPV4 = re.compile(r"(?<![\w.:-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])")
_VERSION_BEFORE = re.compile(r"(?:version|release|build|v|§|section|clause)\s*\Z", re.IGNORECASE)
_NOT_IN_NUMBERS = re.compile(r"\W")
# Lengths in the registry of the standard (ISO 13616); a country that is not in it has none.
_IBAN_LENGTHS = dict(
    re.findall(
        r"(\w+):(\d+)",
        "AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BI:27 BR:29 BY:28 CH:21 CR:22 "
        "CY:28 CZ:24 DE:22 DJ:27 DK:18 DO:28 EE:20 EG:29 ES:24 FI:18 FK:18 FO:18 FR:27 GB:22 "
        "GE:22 GI:23 GL:18 GR:27 GT:28 HN:28 HR:21 HU:28 IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30 "
        "KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 LU:20 LV:21 LY:25 MC:27 MD:24 ME:22 MK:19 MN:20 "
        "MR:27 MT:31 MU:30 NI:28 NL:18 NO:15 OM:23 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 "
        "RU:33 SA:24 SC:31 SD:18 SE:24 SI:19 SK:24 SM:27 SO:23 ST:25 SV:28 TL:23 TN:24 TR:26 "
        "UA:29 VA:22 VG:24 XK:20 YE:30 ",
    )
)

Found = tuple[int, int]


class EmailDetector:
    """Mail addresses, in any script."""

    kind = "email"

    def find(self, text: str) -> Iterator[Found]:
        """Spans of addresses."""
        yield from _at_signs(text)


def _at_signs(text: str) -> Iterator[Found]:
    """Matches around each at sign: searching the whole text would try every word."""
    done = 0
    at = text.find("@")
    while at >= 0:
        first = max(at - 65, done)
        match = next(
            (m for m in _EMAIL.finditer(text, first, at + 320) if m.start() < at < m.end()), None
        )
        if match is not None:
            yield match.span()
            done = match.end()
        at = text.find("@", max(at + 1, done))


class IbanDetector:
    """Bank accounts by the length for their country and the check digits (mod 97, ISO 7064)."""

    kind = "iban"

    def find(self, text: str) -> Iterator[Found]:
        """Spans of accounts; what follows an account on its line is left."""
        for match in _IBAN.finditer(text):
            end = _account_end(match[0])
            if end:
                yield match.start(), match.start() + end


def _account_end(written: str) -> int:
    length = int(_IBAN_LENGTHS.get(written[:2].upper(), 0))
    letters = ""
    for place, char in enumerate(written, start=1):
        if char.isalnum():
            letters += char.upper()
        if length and len(letters) == length:
            follows = written[place : place + 1]
            return place if not follows.isalnum() and _mod_97(letters) == 1 else 0
    return 0


def _mod_97(account: str) -> int:
    turned = account[4:] + account[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97


class CardDetector:
    """Payment cards: 13 to 19 digits whose last one is the check digit of the others (Luhn)."""

    kind = "card"

    def find(self, text: str) -> Iterator[Found]:
        """Spans of card numbers."""
        for match in _CARD.finditer(text):
            digits = _NOT_IN_NUMBERS.sub("", match[0])
            if len(set(digits)) > 1 and _luhn(digits):
                yield match.span()


def _luhn(digits: str) -> bool:
    total = 0
    for place, char in enumerate(reversed(digits)):
        value = int(char) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


class IpDetector:
    """IP addresses of both versions; four numbers after a word like "version" are none."""

    kind = "ip"

    def find(self, text: str) -> Iterator[Found]:
        """Spans of addresses."""
        for pattern, likely in ((_IPV4, _no_version), (_IPV6, _no_time)):
            for match in pattern.finditer(text):
                if likely(text, match) and _is_address(match[0]):
                    yield match.span()


def _no_version(text: str, match: re.Match[str]) -> bool:
    return not _VERSION_BEFORE.search(text, max(match.start() - 12, 0), match.start())


def _no_time(_text: str, match: re.Match[str]) -> bool:
    groups = [group for group in match[0].split(":") if group]
    return len(groups) > 2 and any(char.isdigit() for char in match[0])


def _is_address(written: str) -> bool:
    try:
        ipaddress.ip_address(written)
    except ValueError:
        return False
    return True
