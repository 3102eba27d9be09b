"""Writing systems: which a text is in, and what that says about its language.

Scripts are named by their ISO 15924 codes. Only letters count: digits, punctuation and marks belong
to every script. Shares are of letters, in [0, 1].
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

_RANGES: tuple[tuple[int, int, str], ...] = (
    (0x0041, 0x024F, "Latn"),
    (0x0250, 0x02AF, "Latn"),
    (0x0370, 0x03FF, "Grek"),
    (0x0400, 0x052F, "Cyrl"),
    (0x0530, 0x058F, "Armn"),
    (0x0590, 0x05FF, "Hebr"),
    (0x0600, 0x06FF, "Arab"),
    (0x0700, 0x074F, "Syrc"),
    (0x0750, 0x077F, "Arab"),
    (0x0780, 0x07BF, "Thaa"),
    (0x0870, 0x08FF, "Arab"),
    (0x0900, 0x097F, "Deva"),
    (0x0980, 0x09FF, "Beng"),
    (0x0A00, 0x0A7F, "Guru"),
    (0x0A80, 0x0AFF, "Gujr"),
    (0x0B00, 0x0B7F, "Orya"),
    (0x0B80, 0x0BFF, "Taml"),
    (0x0C00, 0x0C7F, "Telu"),
    (0x0C80, 0x0CFF, "Knda"),
    (0x0D00, 0x0D7F, "Mlym"),
    (0x0D80, 0x0DFF, "Sinh"),
    (0x0E00, 0x0E7F, "Thai"),
    (0x0E80, 0x0EFF, "Laoo"),
    (0x0F00, 0x0FFF, "Tibt"),
    (0x1000, 0x109F, "Mymr"),
    (0x10A0, 0x10FF, "Geor"),
    (0x1100, 0x11FF, "Hang"),
    (0x1200, 0x139F, "Ethi"),
    (0x1780, 0x17FF, "Khmr"),
    (0x1C80, 0x1C8F, "Cyrl"),
    (0x1C90, 0x1CBF, "Geor"),
    (0x1E00, 0x1EFF, "Latn"),
    (0x1F00, 0x1FFF, "Grek"),
    (0x2C60, 0x2C7F, "Latn"),
    (0x2D00, 0x2D2F, "Geor"),
    (0x2D80, 0x2DDF, "Ethi"),
    (0x2DE0, 0x2DFF, "Cyrl"),
    (0x3005, 0x3007, "Hani"),
    (0x3041, 0x309F, "Kana"),
    (0x30A0, 0x30FF, "Kana"),
    (0x3130, 0x318F, "Hang"),
    (0x31F0, 0x31FF, "Kana"),
    (0x3400, 0x4DBF, "Hani"),
    (0x4E00, 0x9FFF, "Hani"),
    (0xA640, 0xA69F, "Cyrl"),
    (0xA720, 0xA7FF, "Latn"),
    (0xA8E0, 0xA8FF, "Deva"),
    (0xA960, 0xA97F, "Hang"),
    (0xAB30, 0xAB6F, "Latn"),
    (0xAC00, 0xD7FF, "Hang"),
    (0xF900, 0xFAFF, "Hani"),
    (0xFB00, 0xFB06, "Latn"),
    (0xFB1D, 0xFB4F, "Hebr"),
    (0xFB50, 0xFDFF, "Arab"),
    (0xFE70, 0xFEFC, "Arab"),
    (0xFF21, 0xFF5A, "Latn"),
    (0xFF66, 0xFF9F, "Kana"),
    (0xFFA0, 0xFFDC, "Hang"),
    (0x20000, 0x323AF, "Hani"),
)
_STARTS = [start for start, _, _ in _RANGES]

# Scripts in which practically one language is written today.
_ONE_LANGUAGE: Mapping[str, str] = MappingProxyType(
    {
        "Grek": "el", "Armn": "hy", "Hebr": "he", "Thaa": "dv", "Beng": "bn", "Guru": "pa",
        "Gujr": "gu", "Orya": "or", "Taml": "ta", "Telu": "te", "Knda": "kn", "Mlym": "ml",
        "Sinh": "si", "Thai": "th", "Laoo": "lo", "Tibt": "bo", "Mymr": "my", "Geor": "ka",
        "Hang": "ko", "Khmr": "km", "Kana": "ja", "Hani": "zh", "Ethi": "am",
    }
)  # fmt: skip

# Languages written in a script that is not Latin; every other language is taken for Latin.
_SCRIPTS_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {language: (script,) for script, language in _ONE_LANGUAGE.items()}
    | {"ja": ("Kana", "Hani"), "zh": ("Hani",), "ko": ("Hang", "Hani")}
    | dict.fromkeys(("ru", "uk", "be", "bg", "mk", "kk", "ky", "mn", "tg"), ("Cyrl",))
    | {"sr": ("Cyrl", "Latn")}
    | dict.fromkeys(("ar", "fa", "ur", "ps", "ug", "sd", "ckb"), ("Arab",))
    | dict.fromkeys(("hi", "mr", "ne", "sa"), ("Deva",))
    | {"as": ("Beng",), "yi": ("Hebr",), "ti": ("Ethi",)}
)

UNSEGMENTED = frozenset({"Hani", "Kana", "Hang", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"})
"""Scripts whose keywords are pairs of neighbouring characters.

All but Hangul are written without spaces; Hangul words carry their particles.
"""


@lru_cache(maxsize=8192)
def script_of(character: str) -> str:
    """Script of one letter; ``Zyyy`` for what is no letter, ``Zzzz`` for a script not listed here."""
    if not character.isalpha():
        return "Zyyy"
    code = ord(character)
    index = bisect_right(_STARTS, code) - 1
    if index >= 0 and code <= _RANGES[index][1]:
        return _RANGES[index][2]
    return "Zzzz"


def ranges_of(scripts: Iterable[str]) -> str:
    """Code points of the scripts as the inside of a regular expression's character class."""
    wanted = frozenset(scripts)
    return "".join(f"{chr(start)}-{chr(end)}" for start, end, name in _RANGES if name in wanted)


def script_shares(text: str) -> dict[str, float]:
    """Share of the letters of ``text`` in each script, largest first; empty without letters."""
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        script = script_of(character)
        if script != "Zyyy":
            counts[script] += count
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {script: count / total for script, count in ranked}


def scripts_of_language(language: str) -> tuple[str, ...]:
    """Scripts in which a language (BCP 47 tag) is written; a language not listed here is Latin."""
    return _SCRIPTS_OF.get(language.split("-", 1)[0].lower(), ("Latn",))


def unknown_script_share(text: str, languages: Iterable[str]) -> float:
    """Share of the letters of ``text`` outside the scripts of ``languages``; 0.0 without letters."""
    known = {script for language in languages for script in scripts_of_language(language)}
    return sum(share for script, share in script_shares(text).items() if script not in known)


def language_of_script(text: str) -> str | None:
    """The language that the script of most letters tells, or None where several share the script.

    Han mixed with kana is Japanese.
    """
    shares = script_shares(text)
    if not shares:
        return None
    if shares.get("Kana", 0.0) >= 0.1 and shares.get("Kana", 0.0) + shares.get("Hani", 0.0) > 0.5:
        return "ja"
    script = next(iter(shares))
    return _ONE_LANGUAGE.get(script) if shares[script] > 0.5 else None


def question_languages(question: str, configured: Iterable[str]) -> tuple[str, ...]:
    """Languages whose stems are searched for a question.

    That of its script where the script tells one; else those of ``configured`` that are written in
    the question's main script; else all of ``configured``. What an index holds plays no part.
    """
    told = language_of_script(question)
    if told is not None:
        return (told,)
    everything = tuple(dict.fromkeys(configured))
    main = next(iter(script_shares(question)), None)
    fitting = tuple(tag for tag in everything if main in scripts_of_language(tag))
    return fitting or everything
