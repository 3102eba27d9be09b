"""Windows of whole sentences: the surroundings in which tokens are encoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evidencedesk.model import Span

WINDOW_WORDS = 150


def sentence_windows(text: str, spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Neighbouring sentences together, as many as have up to 150 words; a longer one stands alone.

    A pronoun so carries what it stands for, and a model that cuts texts off sees all of most windows.

    Args:
        text: the text.
        spans: its sentences, in order.
    """
    window: list[Span] = []
    held = 0
    for span in spans:
        length = len(text[span.start : span.end].split())
        if window and held + length > WINDOW_WORDS:
            yield window
            window, held = [], 0
        window.append(span)
        held += length
    if window:
        yield window
