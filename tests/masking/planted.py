"""Values to be masked, as they are written and in the digits of six scripts."""

from __future__ import annotations

DIGITS = {
    "latin": "0123456789",
    "bengali": "০১২৩৪৫৬৭৮৯",
    "devanagari": "०१२३४५६७८९",
    "arabic": "٠١٢٣٤٥٦٧٨٩",
    "persian": "۰۱۲۳۴۵۶۷۸۹",
    "full width": "０１２３４５６７８９",
}
NUMBERS = {
    "iban": "DE89 3704 0044 0532 0130 00",
    "card": "4111 1111 1111 1111",
    "phone": "+49 30 901820",
    "ip": "203.0.113.77",
}
WORDS = {
    "email": "jana.kowalska@mail.example.org",
    "secret": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "us-ssn": "536-90-4399",
    "de-tax-id": "86 095 742 719",
}


def in_digits(text: str, script: str) -> str:
    return text.translate(str.maketrans(DIGITS["latin"], DIGITS[script]))


def planted() -> dict[str, list[str]]:
    """Every value that is planted, by kind."""
    found = {
        kind: [in_digits(value, script) for script in DIGITS] for kind, value in NUMBERS.items()
    }
    return found | {kind: [value] for kind, value in WORDS.items()}
