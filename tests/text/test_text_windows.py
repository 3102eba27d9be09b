"""Windows of sentences: all of them, in order, and no more words than a window holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.model import Span
from evidencedesk.text.windows import WINDOW_WORDS, sentence_windows


def text_of(lengths: list[int]) -> tuple[str, list[Span]]:
    """Sentences of so many words each, and where they stand."""
    spans, text = [], ""
    for length in lengths:
        start = len(text)
        text += " ".join(["word"] * length) + ". "
        spans.append(Span(start, len(text) - 1))
    return text, spans


def test_sentences_are_gathered_up_to_150_words():
    text, spans = text_of([100, 50, 1])
    assert list(sentence_windows(text, spans)) == [spans[:2], spans[2:]]


def test_without_sentences_there_is_no_window():
    assert list(sentence_windows("text", [])) == []


@given(st.lists(st.integers(1, 200), max_size=12))
def test_windows_hold_every_sentence_once_and_only_a_long_one_is_over(lengths: list[int]):
    text, spans = text_of(lengths)
    windows = list(sentence_windows(text, spans))
    assert [span for window in windows for span in window] == spans
    for window in windows:
        words = len(text[window[0].start : window[-1].end].split())
        assert words <= WINDOW_WORDS or len(window) == 1
