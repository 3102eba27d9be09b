"""Names in a claim that are nowhere in what it cites."""

from __future__ import annotations

import re
from typing import NamedTuple

from evidencedesk.text.abbreviations import NEVER_LAST
from evidencedesk.text.dates import MONTHS
from evidencedesk.text.folding import fold_text
from evidencedesk.text.units import units_named


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN = re.compile(r"[^\W\d_][\w'’&-]*(?:\.[A-Z])*")
_ZONES = _words(
    """
    utc gmt cet cest est edt cst cdt mst mdt pst pdt bst ist jst eet eest wet aest msk
    """
)
_ORDINARY = _words(
    """
    i ok yes no the a an this that these those it its he she they we you your our their there here
    in on at for from to of by with as if when while after before during under over all any each
    every some most both either neither only not never please note according however also
    mr mrs ms dr am pm faq url pdf
    """
)
_WEEKDAYS = _words("monday tuesday wednesday thursday friday saturday sunday")
_ENDINGS = frozenset(("", "s", "es", "n", "an", "ian", "ns", "ans", "ians", "y", "ish", "ese", "i"))
_NO_CAPITAL_NAMES = frozenset({"de", "lb", "nds"})
_RUN = re.compile(r"[^\W\d_][\w'’-]*(?: (?=[A-ZÀ-Þ])[^\W\d_][\w'’-]*)+")
_LONGEST_NAME = 3
_DIRECTION = re.compile(
    r"(?:north|south|east|west|central|new|old|upper|lower|great|greater|saint|san|santa|anti|pre|post)\w*\b",
    re.IGNORECASE,
)
_ENDS_SENTENCE = '!?:;\n"“„(»«—–-•*'
_GERMAN = re.compile(
    r"\b(?:der|die|das|und|ist|sind|nicht|ein|eine|wird|werden|von|mit|für|auf|im)\b"
)


class MissingName(NamedTuple):
    """A name that is not there, and where it stands in the claim."""

    name: str
    start: int


def missing_names(claim: str, support: str, lang: str) -> tuple[MissingName, ...]:
    """The names of ``claim`` that do not occur in ``support``, in order.

    A name is a capitalised word inside a sentence, or one in capitals anywhere. In languages that
    capitalise every noun only the latter count. A derived form (``German`` for ``Germany``), initials
    (``EU`` for ``European Union``) and an added genitive are no new names.
    """
    every_noun = lang.split("-", 1)[0] in _NO_CAPITAL_NAMES or len(_GERMAN.findall(claim)) >= 2
    names = [
        match
        for match in _TOKEN.finditer(claim)
        if match[0][0].isupper() and _is_name(claim, match, every_noun=every_noun)
    ]
    if not names:
        return ()
    present = _present(support)
    missing = [match for match in names if not _is_present(match[0], present, support)]
    return tuple(
        MissingName(match[0], match.start())
        for match in missing
        if not _is_forename(claim, match, present, support)
    )


def competing_names(claim: str, sentences: str) -> bool:
    """Whether ``sentences`` name anything inside a sentence that ``claim`` does not name."""
    said = _present(claim)
    return any(
        not _is_present(match[0], said, claim)
        for match in _TOKEN.finditer(sentences)
        if match[0][0].isupper() and _is_name(sentences, match, every_noun=False)
    )


def _is_forename(claim: str, match: re.Match[str], present: frozenset[str], support: str) -> bool:
    """Whether it only completes a name that is there: ``Sean Penn`` where the source has ``Penn``.

    Not where the source has the last name behind another word in capitals (``Anna Keller``), nor for
    words that make another place of a place (``North Korea``).
    """
    run = _RUN.match(claim, match.start())
    if run is None or _DIRECTION.match(claim, match.start()) or re.search(r"-[a-z]", match[0]):
        return False
    if len(run[0].split()) > _LONGEST_NAME:
        return False
    last = run[0].split()[-1]
    if not _is_present(last, present, support):
        return False
    before = re.findall(rf"([^\W\d_][\w.'’-]*) {re.escape(last)}\b", support)
    own = _present(run[0])
    return not any(
        word[0].isupper()
        and not _is_ordinary(fold_text(word.rstrip(".")))
        and fold_text(word) not in own
        for word in before
    )


def _is_name(claim: str, match: re.Match[str], *, every_noun: bool) -> bool:
    word, following = match[0].removesuffix("'s").removesuffix("’s"), claim[match.end() :][:2]
    if len(word) < 2 or _is_ordinary(fold_text(word)) or units_named(word) or following[:1] == "$":
        return False
    if any(mark.isdigit() for mark in word):
        return False
    if word.isupper():
        return True
    before = claim[: match.start()].rstrip(" ")
    if not before or before[-1] in _ENDS_SENTENCE or _ends_sentence(before):
        return not every_noun and following[:1] == " " and following[1:].isupper()
    return not every_noun


def _is_ordinary(folded: str) -> bool:
    return folded in _ORDINARY or folded in MONTHS


def _ends_sentence(before: str) -> bool:
    last = before.rsplit(None, 1)[-1]
    return last[-1] in ".।" and last.rstrip(".").casefold() not in NEVER_LAST


def _present(support: str) -> frozenset[str]:
    folded = fold_text(support)
    words = re.findall(r"[^\W_]+(?:['-][^\W_]+)*", folded)
    return frozenset(words) | frozenset(re.findall(r"[^\W\d_]+", folded))


def _is_present(name: str, present: frozenset[str], support: str) -> bool:
    folded = re.sub(r"(?:'s|')$", "", fold_text(name))
    if folded.replace(".", "") in present:
        return True
    parts = [part for part in re.split(r"['&.-]", folded) if part]
    if folded in present or (parts and all(part in present for part in parts)):
        return True
    if folded in _ZONES:
        return False
    if name.isupper():
        return _is_initials(folded.removesuffix("s"), support)
    if folded.rstrip("s") in _WEEKDAYS and not present.isdisjoint({folded[:2], folded[:3]}):
        return True
    return any(_is_derived(folded, other) for other in present if other[:4] == folded[:4])


def _is_derived(one: str, other: str) -> bool:
    """Whether the two differ in an ending of adjectives and plurals only: German, Germany."""
    pairs = zip(one, other, strict=False)
    shared = next(
        (at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other))
    )
    return shared >= 4 and one[shared:] in _ENDINGS and other[shared:] in _ENDINGS


def _is_initials(letters: str, support: str) -> bool:
    """Whether consecutive words of ``support`` begin with these letters."""
    initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", fold_text(support)))
    return len(letters) >= 2 and letters in initials
