"""Light stemming of Bengali, for which Snowball has no stemmer.

Case endings and articles are cut off nouns (দিনের and দিনে become দিন, বাইকটি becomes বাইক), at most
one of each, never leaving less than two characters. Question and document lose the same endings, so
a cut too many costs nothing unless two words then collide.
"""

from __future__ import annotations

import re
import unicodedata

_ARTICLE = "গুলোতে গুলো গুলি টি টা খানি খানা"
_CASE = "দেরকে দের েরা ের রা র কে তে য় েই ে"


def _either(endings: str) -> str:
    return "|".join(unicodedata.normalize("NFKC", ending) for ending in endings.split())


_WORD = re.compile(rf"(.{{2,}}?)(?:{_either(_ARTICLE)})?(?:{_either(_CASE)})?")


def stem(word: str) -> str:
    """The word without article and case ending; ``word`` is normalised to NFKC already."""
    match = _WORD.fullmatch(word)
    return match[1] if match else word
