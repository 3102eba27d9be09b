"""The fast ways through ASCII give what the general ways give."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from evidencedesk.text.analysis import words
from evidencedesk.text.tokens import count_tokens

TOKEN = re.compile(r"[A-Za-z]{1,8}|[0-9]{1,3}|\S")
WORD = re.compile(r"([a-z0-9]+)(?:'s\b)?")
PIECES = st.sampled_from(
    [
        "a'''s",
        "x's's",
        "'s",
        "it's",
        "its's_",
        "-",
        "longerthansixteenletters",
        "a1b22c3333",
        "\x1f",
        " ",
    ]
)
TEXTS = (
    st.text(alphabet="ab9S's_- \n.\x1c\x00", max_size=30)
    | st.text(alphabet=st.characters(max_codepoint=127), max_size=60)
    | st.lists(PIECES, max_size=6).map("".join)
)


@given(TEXTS)
@example("x's's y")
@example("'S'S")
def test_words_are_runs_of_letters_and_digits_without_a_possessive(text: str) -> None:
    assert words(text) == WORD.findall(text.lower())


@given(TEXTS)
@example("eightabc" * 3)
@example("123456 7")
def test_tokens_are_counted_as_they_are_defined(text: str) -> None:
    assert count_tokens(text) == len(TOKEN.findall(text))
