from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.text.tokens import count_tokens


def test_known_counts():
    assert count_tokens("") == 0
    assert count_tokens(" \n\t") == 0
    assert count_tokens("Return it within 30 days.") == 6
    assert count_tokens("unconditionally 12345") == 4
    assert count_tokens("ফেরত দিন।") == 4
    assert count_tokens("新自行车。") == 5
    assert count_tokens("Übung") == 2


@given(st.text(max_size=60), st.text(max_size=60))
def test_counts_add_up_across_whitespace(left, right):
    assert count_tokens(left + " " + right) == count_tokens(left) + count_tokens(right)


@given(st.text(max_size=60))
def test_every_text_with_ink_has_a_token_and_none_has_more_than_its_characters(text):
    assert bool(text.strip()) == bool(count_tokens(text))
    assert count_tokens(text) <= len(text)
