"""Why a quote was not found: to explain a miss, never to excuse one."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from difflib import SequenceMatcher

from evidencedesk.text.folding import fold_text
from evidencedesk.verification.quotes import Quotable, QuoteMatch, QuoteMiss, find_quote

_ENOUGH_ALIKE = 0.6
_MOST_WORDS = 400

_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһӏкмтвнάαοερνικυωτη" + "ɑıοօｏ",
    "aeopcyxijsdhlkmtbhaaoepviκuwtn" + "aiooo",
)


def explain_miss(quote: str, label: str, sources: Mapping[str, Quotable]) -> QuoteMiss:
    """What went wrong with a quote that was not found under ``label``.

    Args:
        quote: the quote as the reply gives it.
        label: the label that it cites.
        sources: texts of all sources shown, by label.

    Returns:
        A miss of kind ``elsewhere``, ``look_alike``, ``altered`` or ``absent``, with a detail that
        a person can act on. A source that is only *nearly* matched is still a miss.
    """
    for other, source in sources.items():
        if other != label and isinstance(find_quote(quote, source), QuoteMatch):
            return QuoteMiss("elsewhere", f"the quote stands in {other}, not in {label}")
    cited = sources[label]
    letters = _look_alikes(quote, cited.text)
    if letters:
        return QuoteMiss("look_alike", f"letters of another script: {letters}")
    difference = _difference(quote, cited.text)
    if difference:
        return QuoteMiss("altered", difference)
    return QuoteMiss("absent", f"the quote does not occur in {label}")


def _look_alikes(quote: str, source: str) -> str:
    """The letters by which alone the two differ, named; empty when they differ otherwise too."""
    wanted = fold_text(quote).strip().rstrip(".")
    present = fold_text(source)
    if not wanted or wanted.translate(_LOOK_ALIKES) not in present.translate(_LOOK_ALIKES):
        return ""
    strange = [letter for letter in dict.fromkeys(wanted) if ord(letter) in _LOOK_ALIKES]
    strange = strange or [
        letter for letter in dict.fromkeys(present) if ord(letter) in _LOOK_ALIKES
    ]
    return ", ".join(f"{letter!r} ({unicodedata.name(letter, '?')})" for letter in strange)


def _difference(quote: str, source: str) -> str:
    """What the quote says and what the source says there; empty when they are not alike."""
    wanted, present = fold_text(quote).split(), fold_text(source).split()
    if not wanted or len(wanted) > _MOST_WORDS:
        return ""
    matcher = SequenceMatcher(None, wanted, present, autojunk=False)
    anchor = matcher.find_longest_match()
    start = max(0, anchor.b - anchor.a)
    window = present[start : start + len(wanted)]
    local = SequenceMatcher(None, wanted, window, autojunk=False)
    if local.ratio() < _ENOUGH_ALIKE:
        return ""
    changes = [
        f"the quote says {' '.join(wanted[a:b])!r}, the source {' '.join(window[c:d])!r}"
        for kind, a, b, c, d in local.get_opcodes()
        if kind != "equal"
    ]
    return "; ".join(changes[:3])
