from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.text.folding import fold, fold_text, is_word_character


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("“it’s”", '"it\'s"'),
        ("2019–2021", "2019-2021"),
        ("a−b", "a-b"),
        ("STRASSE", "straße"),
        ("Pru\u0308fung", "Prüfung"),
        ("agree\u00adment", "agreement"),
        ("a\u200bb\ufeff", "ab"),
        ("a\u202eb\u202c", "ab"),
        ("❤\ufe0f", "❤"),
        ("oﬃce", "office"),
        ("１２", "12"),
        ("H₂O", "H2O"),
        ("a \t\r\n\u00a0b", "a b"),
        ("a \u200b b", "a b"),
        ("½", "1/2"),
        ("ΣΑΣ", "σας"),
        ("\u1112\u1161\u11ab", "한"),
    ],
)
def test_the_same_text_folds_the_same(one: str, other: str) -> None:
    assert fold_text(one) == fold_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("café", "cafe"), ("аbc", "abc"), ("10⁴", "104"), ("1½", "11/2"), ("10-20", "1020"), ("1 000", "1000"), ("কি", "ক")],
)  # fmt: skip
def test_other_text_folds_otherwise(one: str, other: str) -> None:
    assert fold_text(one) != fold_text(other)


@given(st.text(max_size=200))
def test_the_map_leads_back(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(
        0 <= start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True)
    )
    assert folded.text == fold_text(text)


@given(st.text(st.characters(codec="ascii"), max_size=200))
def test_the_fast_path_folds_as_the_slow_one(text: str) -> None:
    slow = fold(text + "é")
    assert slow.text.removesuffix("é") == fold(text).text
    assert list(slow.starts[:-1]) == list(fold(text).starts)


@given(st.text(max_size=100))
def test_folding_does_not_see_normalisation(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert fold_text(composed) == fold_text(decomposed)


def test_slice_gives_whole_clusters() -> None:
    folded = fold("x Pru\u0308fung")
    start = folded.text.index("prüfung")
    assert folded.slice(start, start + len("prü")) == (2, 6)


def test_marks_belong_to_words() -> None:
    assert all(map(is_word_character, "aé1_ি\u0301"))
    assert not any(map(is_word_character, " -.'"))


def test_a_page_folds_in_a_millisecond_or_so() -> None:
    text = "Die Prüfung “x” fand statt, and so on. " * 26
    best = min(_timed(text) for _ in range(5))
    assert best < 0.005


def _timed(text: str) -> float:
    started = time.perf_counter()
    fold(text)
    return time.perf_counter() - started
