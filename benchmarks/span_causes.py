"""Why a span was not found again: what can be seen of it in the words and in what stands there.

A cause says what was observed, not whose fault it is; what fits none is called unexplained.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections import Counter
from functools import lru_cache

import lxml.etree

from benchmarks.span_readers import letters

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_TEXT = re.compile(r"\{[^}]*/(?:main|math)\}t")
_UNMAPPED = re.compile(r"\(cid:\d+\)|[\x00-\x08\ufffd\ue000-\uf8ff]")
_COMPLEX = re.compile(r"[\u0590-\u08ff\u0900-\u0dff\ufb1d-\ufdff\ufe70-\ufefc]")

UNEXPLAINED = "unexplained"


def cause_of(media_type: str, data: bytes, words: str, there: str) -> str:
    """In a few words why ``words`` do not stand in ``there``."""
    if media_type == _WORD:
        return _cause_in_word(data, words, there)
    if media_type == "application/pdf":
        return _cause_in_pdf(words, there)
    return UNEXPLAINED


def _cause_in_pdf(words: str, there: str) -> str:
    if not there.strip():
        return "pdfplumber finds no character in the boxes"
    if _UNMAPPED.search(words) or _UNMAPPED.search(there):
        return "a font without a whole character map: one of the two libraries has no character"
    wanted, found = Counter(letters(words)), Counter(letters(there))
    if _COMPLEX.search(words):
        return "right-to-left or Indic script that the libraries compose differently"
    if not wanted - found:
        return "the same characters in another order"
    if not set(wanted) - set(found):
        return "the same characters, another number of them"
    missing = "".join((wanted - found).elements())
    if not any(unicodedata.category(char).startswith("L") for char in missing):
        return "only figures or marks differ"
    return UNEXPLAINED


def _cause_in_word(data: bytes, words: str, there: str) -> str:
    wanted = letters(words)
    if wanted in _all_text(data):
        if not there.strip():
            return (
                "in the file, in a paragraph or row that python-docx does not show or shows empty"
            )
        return "in the file, in a part of the paragraph or row that python-docx leaves out"
    parts = [letters(part) for part in re.split(r" \| | / |\s+", words)]
    if all(part in _all_text(data) for part in parts):
        return "its words are in the file, put together otherwise: cells, nested tables, notes"
    if any(part in _all_text(data) for part in parts if part):
        return "some words are in the file: the others are computed, as the numbers of lists are"
    return UNEXPLAINED


@lru_cache(maxsize=2)
def _all_text(data: bytes) -> str:
    """Letters of all text runs of all parts, in the order of the file."""
    found = []
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for name in package.namelist():
            if name.startswith("word/") and name.endswith(".xml"):
                tree = lxml.etree.fromstring(package.read(name))
                found += [each.text or "" for each in tree.iter() if _TEXT.fullmatch(str(each.tag))]
    return letters("".join(found))
