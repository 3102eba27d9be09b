"""National identifiers, each a plug-in of its own, named in ``[masking] identifiers``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
_TAX_ID = re.compile(r"(?<!\d)[1-9]\d(?: ?\d{3}){3}(?!\d)")


class UsSocialSecurityDetector:
    """Social security numbers of the United States, written with hyphens."""

    kind = "us-ssn"

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans of numbers in ranges that are given out."""
        for match in _SSN.finditer(text):
            yield match.span()


class GermanTaxIdDetector:
    """German tax identification numbers: eleven digits with the check digit of ISO 7064, mod 11, 10."""

    kind = "de-tax-id"

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Spans of numbers that are well formed."""
        for match in _TAX_ID.finditer(text):
            if _is_tax_id(match[0].replace(" ", "")):
                yield match.span()


def _is_tax_id(digits: str) -> bool:
    repeated = Counter(digits[:10]).most_common(1)[0][1]
    product = 10
    for char in digits[:10]:
        total = (int(char) + product) % 10 or 10
        product = 2 * total % 11
    return repeated in {2, 3} and (11 - product) % 10 == int(digits[10])
