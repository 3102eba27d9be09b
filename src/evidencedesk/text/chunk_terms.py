"""The terms of a document's chunks, counted as numbers, with the words behind them on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from evidencedesk.text.analysis import (
    TITLE_WEIGHT,
    document_terms,
    lone_characters,
    stem_of,
    words_of,
)
from evidencedesk.text.hashing import REMEMBERED, Counted, counted, hash_of


class TermSource(NamedTuple):
    """What a chunk's terms come from; see :func:`evidencedesk.text.analysis.document_terms`."""

    title: str
    heading: tuple[str, ...]
    context: str
    text: str


class HashedTerms(Mapping[str, int]):
    """What ``document_terms`` gives for a chunk, counted already as numbers.

    A store needs the numbers only; the terms are worked out when somebody asks.

    Attributes:
        counted: numbers of the terms, ascending, uint64 of shape (terms,), and their frequencies,
            uint32 of the same shape.
    """

    __slots__ = ("_lang", "_source", "_terms", "counted")

    def __init__(self, source: TermSource, lang: str, numbers: Counted) -> None:
        self.counted = numbers
        self._source = source
        self._lang = lang
        self._terms: dict[str, int] | None = None

    def __getitem__(self, term: str) -> int:
        return self._worked_out()[term]

    def __iter__(self) -> Iterator[str]:
        return iter(self._worked_out())

    def __len__(self) -> int:
        return len(self._worked_out())

    def _worked_out(self) -> dict[str, int]:
        if self._terms is None:
            self._terms = document_terms(*self._source, self._lang)
        return self._terms


def chunk_terms(chunks: Sequence[TermSource], lang: str) -> list[HashedTerms]:
    """The terms of the chunks of one document, which share titles and headings."""
    number = _numbers(lang.split("-", 1)[0].lower()).__getitem__
    repeated: dict[str, list[int]] = {}

    def numbers_of(part: str) -> list[int]:
        return [*map(number, words_of(part)), *map(hash_of, lone_characters(part))]

    def remembered(part: str) -> list[int]:
        if part not in repeated:
            repeated[part] = numbers_of(part)
        return repeated[part]

    flat: list[int] = []
    sizes: list[int] = []
    for chunk in chunks:
        before = len(flat)
        flat += numbers_of(chunk.text)
        flat += remembered(chunk.title) * TITLE_WEIGHT
        flat += remembered("\n".join(chunk.heading))
        flat += remembered(chunk.context)
        sizes.append(len(flat) - before)
    numbers = np.fromiter(flat, "<u8", len(flat))
    each = counted(numbers, sizes, np.ones(len(flat), "<u4"))
    return [HashedTerms(chunk, lang, one) for chunk, one in zip(chunks, each, strict=True)]


class _Numbers(dict[str, int]):
    """Words of one language, as they stand, to the numbers of their stems."""

    def __init__(self, lang: str) -> None:
        super().__init__()
        self._lang = lang

    def __missing__(self, word: str) -> int:
        number = hash_of(stem_of(word, self._lang))
        if len(self) >= REMEMBERED:
            self.clear()
        self[word] = number
        return number


@cache
def _numbers(lang: str) -> _Numbers:
    return _Numbers(lang)
