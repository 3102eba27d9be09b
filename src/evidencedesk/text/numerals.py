"""Digits: one plain spelling for every script's, and the values that grouped digits may have."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

NUMERAL = re.compile(
    r"\d{1,3}(?: \d{3}){1,6}(?!\d| \d{4})(?:[.,]\d+)?(?!\d)"
    r"|\d{1,3}(?:['’]\d{3})+(?:\.\d+)?(?!\d)"
    r"|\d+(?:[.,]\d+)*"
    r"|(?<![\w.,])[.,]\d+"
)
"""One number in plain spelling, its sign and unit not included."""

_LONGEST = 40
_LARGEST_EXPONENT = 60
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED_RUN = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_AFTER_DIGIT = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
        **dict.fromkeys("‘’ʼ´", "'"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2066\u2067\u2068\u2069\u202a\u202b\u202c\u202d\u202e\ufeff\ufe0f", ""),
        **dict.fromkeys("\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652", ""),
        "٫": ".", "٬": ",", "٪": "%", "⁄": "/", "،": ",",
    }
)  # fmt: skip
_SPACES = re.compile(r"\s+")
_EXPONENT = re.compile(
    r"\s?[×x*·]\s?10\^?(?P<power>[-+]?\d+)|[eE](?P<e>[-+]?\d+)(?!\w)|\^(?P<raised>[-+]?\d+)"
)


def plain_spelling(text: str) -> str:
    """``text`` with digits in ASCII, dashes and spaces plain, powers as ``10^-4``; case kept."""
    if text.isascii():
        return _SPACES.sub(" ", text)
    text = _RAISED_RUN.sub(lambda match: "^" + match[0].translate(_RAISED), text)
    text = _AFTER_DIGIT.sub(" ", text).translate(_PLAIN)
    text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return _SPACES.sub(" ", "".join(map(_ascii_digit, text)))


def digit_values(written: str, *, comma_decimal: bool = False) -> frozenset[Fraction]:
    """The values that a :data:`NUMERAL` may have; empty when it can only be an identifier.

    ``1,000`` is a thousand, and one where ``comma_decimal`` says that a comma may be a decimal
    mark; ``1.000`` is both. ``1.250.000`` is a million and a quarter; ``10.0.0.1`` has no value.
    """
    if len(written) > _LONGEST:
        return frozenset()
    written = written.replace(" ", "").replace("'", "").replace("’", "")
    commas, points = written.count(","), written.count(".")
    if not commas and not points:
        return frozenset({Fraction(int(written))})
    if commas and points:
        return _mixed(written)
    mark = "," if commas else "."
    if commas + points > 1:
        return _grouped(written, mark)
    return _single_mark(written, mark, comma_decimal=comma_decimal)


def power_after(text: str, position: int) -> tuple[Fraction, int]:
    """The factor written right behind a number (``× 10^-4``, ``e3``, ``^6``), and where it ends.

    A bare power is given as the exponent's factor of ten; ``(1, position)`` when there is none.
    """
    match = _EXPONENT.match(text, position)
    if match is None:
        return Fraction(1), position
    exponent = match["power"] or match["e"] or match["raised"]
    if len(exponent) > 4 or abs(int(exponent)) > _LARGEST_EXPONENT:
        return Fraction(1), position
    power = int(exponent) - (1 if match["raised"] else 0)
    return Fraction(10) ** power, match.end()


def _ascii_digit(character: str) -> str:
    if character > "\x7f" and character.isdecimal():
        return str(unicodedata.decimal(character))
    return character


def _mixed(written: str) -> frozenset[Fraction]:
    decimal = max(",.", key=written.rfind)
    grouping = "." if decimal == "," else ","
    if written.count(decimal) > 1:
        return frozenset()
    whole, _, part = written.partition(decimal)
    if grouping in part:
        return frozenset()
    groups = _grouped(whole, grouping)
    return frozenset(value + Fraction(f"0.{part}") for value in groups)


def _grouped(written: str, mark: str) -> frozenset[Fraction]:
    first, *middle, last = written.split(mark)
    sizes = {len(group) for group in middle}
    if not 1 <= len(first) <= 3 or len(last) != 3 or not sizes <= {2, 3}:
        return frozenset()
    return frozenset({Fraction(int(first + "".join(middle) + last))})


def _single_mark(written: str, mark: str, *, comma_decimal: bool) -> frozenset[Fraction]:
    whole, _, part = written.partition(mark)
    as_decimal = Fraction(f"{whole or '0'}.{part}")
    if len(part) != 3 or not 1 <= len(whole) <= 3 or whole[0] == "0":
        return frozenset({as_decimal})
    as_group = Fraction(int(whole + part))
    if mark == "," and not comma_decimal:
        return frozenset({as_group})
    return frozenset({as_group, as_decimal})
