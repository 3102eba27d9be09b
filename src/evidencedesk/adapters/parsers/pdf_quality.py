"""Signs that a PDF's fonts say wrongly which characters they draw, so that its words cannot be trusted.

Text made from such fonts looks right on the page and is wrong in the file; only OCR could tell. What
can be seen in the text is reported, so that nobody takes the words for what they are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_INDIC = "\u0900-\u0dff"
_TOKEN = re.compile(rf"\S*[{_INDIC}]\S*")
_MIXED = re.compile(rf"[{_INDIC}][A-Za-z\u0180-\u02af]|[A-Za-z\u0180-\u02af][{_INDIC}]")
_LETTERS = re.compile(rf"[{_INDIC}]")
_FEWEST = 8
_MIXED_SHARE = 0.1
_SHORTEST = 3.2


def suspicions(text: str) -> Iterator[str]:
    """Warnings in words for a person; none for text that looks well."""
    if not _LETTERS.search(text):
        return
    tokens = _TOKEN.findall(text[:200_000])
    if len(tokens) < _FEWEST:
        return
    mixed = sum(bool(_MIXED.search(token)) for token in tokens)
    if mixed > _MIXED_SHARE * len(tokens):
        yield (
            f"{mixed} of {len(tokens)} words mix scripts inside: the fonts' character map is wrong,"
            " and the text would need OCR"
        )
    letters = sum(len(_LETTERS.findall(token)) for token in tokens)
    if letters < _SHORTEST * len(tokens):
        yield "spaces seem to stand inside words of Indic script; keyword search may miss them"
