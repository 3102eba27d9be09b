"""Numbers written as words: English and German in full, the small ones of other languages, Han.

Words are folded. A number that English builds from several words is put together by
:func:`spoken_number`; a German number is one word and is taken apart by :func:`word_value`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _counted(words: str, first: int = 1, step: int = 1) -> dict[str, int]:
    return {word: first + step * index for index, word in enumerate(words.split())}


_ENGLISH_ONES = _counted(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_ENGLISH_TENS = _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_GERMAN_ONES = _counted(
    "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"
    " sechzehn siebzehn achtzehn neunzehn"
)
_GERMAN_TENS = _counted("zwanzig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig", 20, 10)

_SMALL: dict[str, int] = {
    **_ENGLISH_ONES,
    **_ENGLISH_TENS,
    **_GERMAN_ONES,
    **_GERMAN_TENS,
    "zero": 0,
    "dozen": 12,
    "dutzend": 12,
    "docena": 12,
    "douzaine": 12,
    "null": 0,
    "eins": 1,
    "eine": 1,
    "einen": 1,
    "einem": 1,
    "einer": 1,
    "eines": 1,
    **_counted(
        "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
        " dieciséis diecisiete dieciocho diecinueve veinte"
    ),
    "una": 1,
    "treinta": 30,
    "cuarenta": 40,
    "cincuenta": 50,
    "sesenta": 60,
    "noventa": 90,
    **_counted(
        "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
    ),
    "une": 1,
    "vingt": 20,
    "trente": 30,
    "quarante": 40,
    "cinquante": 50,
    "soixante": 60,
    **_counted("uno due tre quattro cinque sei sette otto nove dieci"),
    "venti": 20,
    "trenta": 30,
    **_counted("um dois três quatro cinco seis sete oito nove dez"),
    "uma": 1,
    "duas": 2,
    **_counted("een twee drie vier vijf zes zeven acht negen tien elf twaalf"),
    **_counted("এক দুই তিন চার পাঁচ ছয় সাত আট নয় দশ"),
    "একটি": 1,
    "দুটি": 2,
    "তিনটি": 3,
    "বিশ": 20,
    "ত্রিশ": 30,
    "পঞ্চাশ": 50,
    **_counted("एक दो तीन चार पांच छह सात आठ नौ दस"),
    "पाँच": 5,
    "छः": 6,
    "पंद्रह": 15,
    "बीस": 20,
    "तीस": 30,
    "पचास": 50,
    **_counted("один два три четыре пять шесть семь восемь девять десять"),
    "واحد": 1,
    "ثلاثة": 3,
    "ثلاث": 3,
    "أربعة": 4,
    "أربع": 4,
    "خمسة": 5,
    "خمس": 5,
    "ستة": 6,
    "سبعة": 7,
    "ثمانية": 8,
    "تسعة": 9,
    "عشرة": 10,
    "عشرون": 20,
    "عشرين": 20,
    "ثلاثون": 30,
    "ثلاثين": 30,
}

MAGNITUDES: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(
            ("hundred", "hundreds", "cien", "ciento", "cent", "শত", "सौ", "مائة", "مئة", "百"), 100
        ),
        **dict.fromkeys(
            _words(
                "thousand thousands k tsd tausend mil mille duizend হাজার हजार हज़ार ألف آلاف тысяч 千"
            ),
            1000,
        ),
        **dict.fromkeys(_words("lakh lakhs lac লাখ লক্ষ लाख"), 100_000),
        **dict.fromkeys(
            _words(
                "million millions mn mln mio millionen millón millones milhão milhões milione milioni miljoen"
                " মিলিয়ন मिलियन مليون ملايين миллион миллионов млн"
            ),
            10**6,
        ),
        **dict.fromkeys(_words("crore crores কোটি करोड़ करोड"), 10**7),
        **dict.fromkeys(
            _words(
                "billion billions bn mrd milliarde milliarden milliard milliards miliardo miliardi miljard"
                " বিলিয়ন बिलियन مليار مليارات миллиард миллиардов млрд"
            ),
            10**9,
        ),
        **dict.fromkeys(_words("trillion trillions tn billionen"), 10**12),
        "万": 10**4,
        "萬": 10**4,
        "亿": 10**8,
        "億": 10**8,
    }
)
"""Words that multiply the number before them."""

HALVES = _words(
    "half halb halbe halbes halben halber hälfte mitad medio media moitié demi demie metà mezzo metade"
    " meio meia helft অর্ধেক आधा आधे نصف 半 一半 половина"
)

HALF_MORE: Mapping[str, Fraction] = MappingProxyType(
    {
        "anderthalb": Fraction(3, 2),
        "eineinhalb": Fraction(3, 2),
        "zweieinhalb": Fraction(5, 2),
        "dreieinhalb": Fraction(7, 2),
    }
)
"""German words for a number and a half."""

_DENOMINATORS: Mapping[str, int] = {
    "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5,
    "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8, "tenth": 10, "tenths": 10,
    "drittel": 3, "viertel": 4, "fünftel": 5, "zehntel": 10, "tercio": 3, "tercios": 3,
    "cuarto": 4, "cuartos": 4, "tiers": 3, "quart": 4, "quarts": 4,
}  # fmt: skip

ORDINALS: Mapping[str, int] = MappingProxyType(
    {
        **_counted(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
            " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        ),
        "thirtieth": 30,
        **_counted("erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte"),
        **_counted(
            "ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten"
        ),
        **_counted("primero segundo tercero cuarto quinto sexto"),
        **_counted("premier deuxième troisième quatrième cinquième sixième"),
    }
)
"""Ordinal words and the numbers they name."""

WEAK = _words(
    "one ein eine einen einem einer eines un une una uno um uma een এক एक один واحد first second erste"
    " ersten zweite zweiten primero segundo premier acht once sei"
)
"""Number words that often are none: held against a claim only where a unit follows."""

_HAN = {character: value for value, character in enumerate("零一二三四五六七八九")}
_HAN.update({"〇": 0, "两": 2, "兩": 2})
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000}
_HAN_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_GERMAN_STEM = re.compile(r"(?:zig|hundert|tausend|zehn|dreissig)")


for _word in ("once", "due", "sei", "um", "uma"):
    del _SMALL[_word]

NUMBER_WORDS = frozenset(_SMALL)
"""Words that name a number by themselves, magnitudes and German compounds not counted."""


@lru_cache(maxsize=4096)
def word_value(word: str) -> int | None:
    """The number that one folded word names, German compounds taken apart; None when it names none."""
    value = _SMALL.get(word)
    if value is None and _GERMAN_STEM.search(word):
        return _german(word)
    return value


def denominator(word: str) -> int | None:
    """3 for ``thirds``, 4 for ``quarter``; None for a word that divides nothing."""
    return _DENOMINATORS.get(word)


def spoken_number(words: Sequence[str]) -> tuple[Fraction, int] | None:
    """The number that English words starting at the first name, and how many words it takes.

    ``two hundred and five``, ``thirty six``, ``a dozen``, ``one thousand``; magnitudes multiply what
    stands before them. None when the first word starts no number.
    """
    total = current = 0
    used = 0
    for index, word in enumerate(words):
        value = word_value(word)
        magnitude = MAGNITUDES.get(word) if len(word) > 1 else None
        if word == "dozen":
            current = max(current, 1) * 12
        elif value is not None and _continues(current, value, index):
            current += value
        elif magnitude == 100 and index:
            current *= 100
        elif magnitude and index:
            total, current = total + current * magnitude, 0
        elif word in {"and", "a"} and (index == 0 or _and_continues(words, index)):
            current = max(current, 1) if index == 0 else current
            continue
        else:
            break
        used = index + 1
    return (Fraction(total + current), used) if used else None


def han_value(numerals: str) -> int | None:
    """The value of a Han numeral (``三十五``, ``一百二十``, ``十``); None when it is none."""
    if numerals and all(character in _HAN for character in numerals):
        return int("".join(str(_HAN[character]) for character in numerals))
    total = section = digit = 0
    for character in numerals:
        if character in _HAN:
            digit = _HAN[character]
        elif character in _HAN_SCALES:
            section += max(digit, 1) * _HAN_SCALES[character]
            digit = 0
        elif character in _HAN_GROUPS:
            total += max(section + digit, 1) * _HAN_GROUPS[character]
            section = digit = 0
        else:
            return None
    return total + section + digit


def _continues(current: int, value: int, index: int) -> bool:
    if current == 0:
        return True
    if current % 100 == 0:
        return value < 100
    return index > 0 and current % 100 >= 20 and current % 10 == 0 and value < 10


def _and_continues(words: Sequence[str], index: int) -> bool:
    """Whether ``and`` goes on with a number: only after a hundred or thousand."""
    if words[index] != "and" or words[index - 1] not in MAGNITUDES or index + 1 >= len(words):
        return False
    return word_value(words[index + 1]) is not None


def _german(word: str) -> int | None:
    """Einhundertdreiundzwanzig taken apart: thousands, hundreds, then ones-and-tens."""
    for name, scale in (("tausend", 1000), ("hundert", 100)):
        if name in word:
            before, _, after = word.partition(name)
            many = _german(before) if before else 1
            rest = _german(after.removeprefix("und")) if after else 0
            return None if many is None or rest is None else many * scale + rest
    if word in _GERMAN_ONES:
        return _GERMAN_ONES[word]
    if word in _GERMAN_TENS:
        return _GERMAN_TENS[word]
    ones, _, tens = word.partition("und")
    if ones in _GERMAN_ONES and tens in _GERMAN_TENS:
        return _GERMAN_ONES[ones] + _GERMAN_TENS[tens]
    return None
