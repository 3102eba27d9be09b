"""Keyword analysis: what a text is searched by.

Words are runs of letters, digits and the combining marks that belong to them (a Bengali or Hindi
vowel sign never splits a word), folded by NFKC and case folding. Where a Snowball stemmer exists for
the language, a word is its stem (Porter, Snowball, 2001); Bengali has a light stemmer of ours.
Scripts without spaces, and Hangul, are searched by pairs of neighbouring characters. A text of
unknown language is searched by its words as they stand, so a question carries every word both as it
stands and stemmed.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from types import MappingProxyType

import Stemmer

from evidencedesk.text import bengali
from evidencedesk.text.question_words import QUESTION_PHRASES, QUESTION_WORDS
from evidencedesk.text.scripts import UNSEGMENTED, ranges_of

NORMALISATION = f"2;snowball {Stemmer.version()}"
"""Changes whenever :func:`terms` may give other terms for the same text."""

TITLE_WEIGHT = 3
"""How often a title's terms are counted in :func:`document_terms`."""

_BENGALI = "bengali"
_ALGORITHMS: Mapping[str, str] = MappingProxyType(
    {
        "ar": "arabic", "bn": _BENGALI, "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
        "el": "greek", "en": "english", "es": "spanish", "et": "estonian", "eu": "basque",
        "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
        "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
        "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
        "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
        "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
    }
)  # fmt: skip

_CACHED_STEMS = 200_000
_SINGLE = frozenset({"Hani", "Hang"})
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_ASCII_HYPHENS = ("-\n", "-\r")
_LINE_END_HYPHENS = (*_ASCII_HYPHENS, "\u2010\n", "\u2010\r", "\u00ad\n", "\u00ad\r")
_BROKEN_WORD = re.compile(r"([^\W\d_]+)[-\u2010\u00ad]\r?\n[ \t]*([^\W\d_]+)")
_POSSESSIVE = re.compile(r"'s\b(?:'s\b)*")
_WORD_CHARACTERS = bytes(
    code if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256)
)
_LATIN_WORD = re.compile(r"([^\W_]+)(?:['’]s\b)?")
_BEYOND_LATIN = re.compile("[^\x00-\u024f\u2000-\u2bff]")


def terms(text: str, lang: str) -> list[str]:
    """Keyword terms of ``text`` in order, repeated as often as they occur.

    Args:
        text: any text.
        lang: BCP 47 language; one without a stemmer, or ``und``, leaves words as they stand.
    """
    return stems_of(words(text), lang)


def stems_of(folded: Iterable[str], lang: str) -> list[str]:
    """The terms of words that :func:`words` gave, in their order."""
    return [*map(_stems(_algorithm(lang)).__getitem__, folded)]


def words(text: str) -> list[str]:
    """Folded words of ``text`` in order: before stemming, and with pairs for unspaced scripts."""
    if text.isascii():
        return _ascii_words(text.lower())
    folded = _fold(text)
    if not _BEYOND_LATIN.search(folded):
        return _LATIN_WORD.findall(folded)
    found: list[str] = []
    for word, run in _segmenter().findall(folded):
        if run:
            found.extend(_pairs(run))
        else:
            found.append(word)
    return found


def _ascii_words(text: str) -> list[str]:
    """Words of lower-case ASCII, a possessive ``'s`` left out of the word before it."""
    if "'s" in text:
        text = _POSSESSIVE.sub(_without_possessive, text)
    return text.encode().translate(_WORD_CHARACTERS).decode().split()


def _without_possessive(found: re.Match[str]) -> str:
    """Behind a word ``'s`` belongs to it; elsewhere, and right behind such a one, it is a word."""
    belongs = found.string[found.start() - 1 : found.start()].isalnum()
    return " " + " s" * ((len(found[0]) // len("'s") + (not belongs)) // 2) + " "


def document_terms(
    title: str, heading: str | Sequence[str], context: str, text: str, lang: str
) -> dict[str, int]:
    """Term frequencies of a chunk: title three times, heading path, context and text once each.

    A word that a hyphen breaks at a line's end is counted whole beside its two halves, since only
    its reader knows whether the hyphen belongs to it.

    Single Han and Hangul characters are counted beside their pairs, so that a question of one
    character finds them.
    """
    place = heading if isinstance(heading, str) else "\n".join(heading)
    counts = dict(Counter(_counted(text, lang)))
    for part, weight in ((title, TITLE_WEIGHT), (place, 1), (context, 1)):
        for term in _counted(part, lang) if part else ():
            counts[term] = counts.get(term, 0) + weight
    return counts


def _counted(part: str, lang: str) -> list[str]:
    return stems_of(words_of(part), lang) + lone_characters(part)


def words_of(part: str) -> list[str]:
    """The words of one part of a document, those that a hyphen breaks whole beside their halves."""
    return words(part + _rejoined(part))


def lone_characters(part: str) -> list[str]:
    """The single Han and Hangul characters of one part, which are terms as they stand."""
    return [] if part.isascii() else _lone_characters().findall(_fold(part))


def stem_of(word: str, lang: str) -> str:
    """The term of one word that :func:`words` gave."""
    return _stems(_algorithm(lang))[word]


def _rejoined(part: str) -> str:
    marks = _ASCII_HYPHENS if part.isascii() else _LINE_END_HYPHENS
    if not any(mark in part for mark in marks):
        return ""
    return "".join(f" {start}{end}" for start, end in _BROKEN_WORD.findall(part))


def query_groups(question: str, languages: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """One group per distinct word of a question: the word and its stem in each language, sorted.

    Words that only make it a question are dropped, unless nothing else is there. Groups come in the
    order of the words and share no term.
    """
    listed = tuple(dict.fromkeys(tag.split("-", 1)[0].lower() for tag in languages))
    dropped = frozenset[str]().union(*(QUESTION_WORDS.get(tag, ()) for tag in listed))
    asked = words(question)
    kept = [
        word
        for before, word in pairwise(("", *asked))
        if word not in dropped and (before, word) not in QUESTION_PHRASES
    ]
    stemmers = [_stems(_algorithm(tag)) for tag in listed]
    groups: list[tuple[str, ...]] = []
    taken: set[str] = set()
    for word in dict.fromkeys(kept or asked):
        group = {word, *(stems[word] for stems in stemmers)}
        if group.isdisjoint(taken):
            groups.append(tuple(sorted(group)))
        taken |= group
    return tuple(groups)


class _Stems(dict[str, str]):
    """Stems worked out so far. A Snowball stemmer may not be used by two threads at once."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> str:
        with self._lock:
            stem = self._stem(word)
            if len(self) >= _CACHED_STEMS:
                self.clear()
            self[word] = stem
        return stem


class _Plain(dict[str, str]):
    """Every word is its own stem."""

    def __missing__(self, word: str) -> str:
        return word


@cache
def _stems(algorithm: str) -> Mapping[str, str]:
    if not algorithm:
        return _Plain()
    if algorithm == _BENGALI:
        return _Stems(bengali.stem)
    return _Stems(Stemmer.Stemmer(algorithm, 0).stemWord)


def _algorithm(lang: str) -> str:
    return _ALGORITHMS.get(lang.split("-", 1)[0].lower(), "")


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    if _INVISIBLE.search(folded):
        folded = _INVISIBLE.sub("", folded)
    return unicodedata.normalize("NFKC", folded)


def _pairs(run: str) -> list[str]:
    clusters = _clusters().findall(run)
    if len(clusters) == 1:
        return clusters
    return [first + second for first, second in pairwise(clusters)]


@cache
def _marks() -> str:
    """Combining marks as the inside of a character class; built once, for texts that are not ASCII."""
    codes = (*range(0x0300, 0x20000), *range(0xE0100, 0xE01F0))
    return "".join(char for char in map(chr, codes) if unicodedata.category(char)[0] == "M")


@cache
def _segmenter() -> re.Pattern[str]:
    unspaced = ranges_of(UNSEGMENTED)
    letter = rf"[^\W_{unspaced}]"
    return re.compile(
        rf"({letter}(?:{letter}|[{_marks()}])*)(?:['’]s\b)?|([{unspaced}][{unspaced}{_marks()}]*)"
    )


@cache
def _lone_characters() -> re.Pattern[str]:
    return re.compile(f"[{ranges_of(_SINGLE)}]")


@cache
def _clusters() -> re.Pattern[str]:
    return re.compile(rf"[^{_marks()}][{_marks()}]*")
