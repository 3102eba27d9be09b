"""Where a quote may begin and end: never inside a word or a number, never just behind a sign.

Positions are between two characters of folded text (see :mod:`evidencedesk.text.folding`).
"""

from __future__ import annotations

import re

from evidencedesk.text.folding import Folded, is_mark, is_word_character
from evidencedesk.text.scripts import UNSEGMENTED, ranges_of

UNSPACED = re.compile(f"[{ranges_of(UNSEGMENTED - {'Hang'})}]")
"""A letter of a script that is written without spaces."""

_HAN_DIGITS = frozenset("〇零一二三四五六七八九十百千万億亿兩两半几")
_HAN_NEGATIONS = frozenset("不没沒未无無非别別勿")
_INSIDE_NUMBERS = frozenset(".,'/:٫٬")
_CURRENCY = frozenset("$€£¥₹৳₩₽₺₫₪₴₦฿¢")
_NEGATIVE_PREFIX = re.compile(r"(?<!\w)(?:un|non|in|im|ir|dis|anti|de|nicht)- ?\Z")
_TIED_SPACES = frozenset("\u00a0\u202f\u2007\u2009")


def may_start(folded: Folded, position: int) -> bool:
    """Whether a quote may start here: at a word, with its sign and its negative prefix."""
    text = folded.text
    if position == 0:
        return True
    if _inside_cluster(folded, position) or _inside_token(folded, position):
        return False
    if text[position - 1] == "-" and _opens_amount(text, position):
        return False
    if text[position - 1] in _HAN_NEGATIONS and UNSPACED.match(text[position]):
        return False
    return not _NEGATIVE_PREFIX.search(text, max(0, position - 8), position)


def may_end(folded: Folded, position: int) -> bool:
    """Whether a quote may end here: at the end of a word or number, its ``n't`` included."""
    text = folded.text
    if position == len(text):
        return True
    if _inside_cluster(folded, position) or _inside_token(folded, position):
        return False
    return not (text[position - 1] == "n" and text.startswith("'t", position))


def _inside_cluster(folded: Folded, position: int) -> bool:
    return folded.starts[position] == folded.starts[position - 1]


def _inside_token(folded: Folded, position: int) -> bool:
    text = folded.text
    left, right = text[position - 1], text[position]
    if is_mark(right) or right == "^":
        return True
    if is_word_character(left) and is_word_character(right):
        if UNSPACED.match(left) or UNSPACED.match(right):
            return _is_numeral(left) and _is_numeral(right)
        return True
    return _inside_number(folded, position)


def _inside_number(folded: Folded, position: int) -> bool:
    text = folded.text
    before, after = text[max(0, position - 2) : position], text[position : position + 2]
    if before[-1].isdigit() and len(after) == 2 and after[1].isdigit():
        return after[0] in _INSIDE_NUMBERS or _is_tied_space(folded, position)
    if len(before) == 2 and before[0].isdigit() and after[0].isdigit():
        return before[1] in _INSIDE_NUMBERS or _is_tied_space(folded, position - 1)
    return False


def _is_tied_space(folded: Folded, position: int) -> bool:
    """Whether this folded space was written as a no-break space, which groups digits."""
    return folded.text[position] == " " and folded.source[folded.starts[position]] in _TIED_SPACES


def _is_numeral(character: str) -> bool:
    return character.isdigit() or character in _HAN_DIGITS


def _opens_amount(text: str, position: int) -> bool:
    first = text[position]
    return (
        first.isdigit()
        or first in _CURRENCY
        or (first == "." and text[position + 1 :][:1].isdigit())
    )
