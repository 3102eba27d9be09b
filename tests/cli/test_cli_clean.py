"""A document can neither colour nor move a terminal, and JSON stays JSON."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.cli.clean import clean, one_line, to_json

anything = st.text() | st.text(alphabet="\x1b[]0;m\x07\\\x9b\x9dK\r\n\tab\u202e\u2066\x7f\ud800")
SAFE_CONTROLS = {"\n", "\t"}


def unsafe(text: str) -> set[str]:
    return {
        char
        for char in text
        if (unicodedata.category(char) in {"Cc", "Cs"} and char not in SAFE_CONTROLS)
        or char in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\ufeff"
    }


@given(anything)
def test_nothing_unsafe_is_left(text: str) -> None:
    assert unsafe(clean(text)) == set()


@given(anything)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(anything)
def test_one_line_is_one_line(text: str) -> None:
    assert one_line(text) == " ".join(clean(text).split())
    assert "\n" not in one_line(text)


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"])))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b[2J\x1b[Hb", "ab"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x1b]unterminated\nnext", "unterminated\nnext"),
        ("one\rtwo", "one\ntwo"),
        ("one\r\ntwo\x0cthree", "one\ntwo\nthree"),
        ("abc\x08\x08\x08xyz", "abcxyz"),
        ("exe\u202etxt", "exetxt"),
        ("tab\tstays", "tab\tstays"),
        ("বাংলা \u200d ردود", "বাংলা \u200d ردود"),
        ("half \ud83d", "half "),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(
    st.recursive(
        anything, lambda inner: st.lists(inner) | st.dictionaries(anything, inner), max_leaves=6
    )
)
def test_json_is_safe_to_print_and_loses_nothing(value: object) -> None:
    text = to_json(value)
    assert json.loads(text) == value
    assert unsafe(text) == set()


def test_json_is_readable() -> None:
    assert to_json({"a": "ফেরত é"}, indent=None) == '{"a": "ফেরত é"}'
