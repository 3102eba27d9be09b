"""What makes verification cheap changes nothing of what it says."""

from __future__ import annotations

import re
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.text import numbers
from evidencedesk.text.numerals import plain_spelling
from evidencedesk.verification.alternation import by_first_letter
from evidencedesk.verification.content import content_words, count_content_words, in_order
from evidencedesk.verification.polarity import _NEGATING_WORDS, _NEGATIONS, _negations_in

SPOKEN = "a an the one half hour dozen third of in to 3 30 % days not no never n't nothing increase"
TEXTS = st.lists(st.sampled_from([*SPOKEN.split(), "Return", "einundzwanzig", ". ", ", "]))


def spoken(words: list[str]) -> str:
    return " ".join(words)


@given(TEXTS.map(spoken))
def test_grouped_alternatives_find_what_they_found_in_a_row(text: str) -> None:
    plain = re.compile(rf"\b(?:{_NEGATING_WORDS})\b")
    grouped = re.compile(rf"\b(?:{by_first_letter(_NEGATING_WORDS)})\b")
    assert [match.span() for match in grouped.finditer(text)] == [
        match.span() for match in plain.finditer(text)
    ]


@given(TEXTS.map(spoken))
def test_the_negations_of_plain_text_are_those_of_any_text(text: str) -> None:
    assert _negations_in(text).findall(text) == _NEGATIONS.findall(text)


@given(TEXTS.map(spoken))
def test_a_text_taken_for_one_without_quantities_has_none(text: str) -> None:
    if numbers._tells_nothing(text):
        reader = numbers._Reader(plain_spelling(text), comma_decimal=False)
        assert reader.read() == []


@given(TEXTS.map(spoken))
def test_content_words_are_counted_as_they_are_listed(text: str) -> None:
    assert count_content_words(text) == len(content_words(text, "en"))


LETTERS = st.lists(st.sampled_from(["bike", "helmet", "return", "shop"]), max_size=12).map(spoken)


@given(LETTERS, LETTERS)
def test_the_longest_common_subsequence_is_the_textbooks(one: str, other: str) -> None:
    wanted, told = content_words(one, "en"), content_words(other, "en")

    @cache
    def longest(i: int, j: int) -> int:
        if i == len(wanted) or j == len(told):
            return 0
        if wanted[i] == told[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    assert in_order(one, other, "en") == (longest(0, 0) / len(wanted) if wanted else 1.0)
