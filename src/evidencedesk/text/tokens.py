"""A token counter that needs no model, so that budgets and chunk ids do not depend on one."""

from __future__ import annotations

import re
from collections.abc import Callable

LETTERS, DIGITS = 8, 3
"""How many ASCII letters or digits are one token."""

_TOKEN = re.compile(
    rf"[A-Za-z]{{1,{LETTERS}}}"
    rf"|[0-9]{{1,{DIGITS}}}"
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
    return _count_ascii(text.encode()) if text.isascii() else len(_TOKEN.findall(text))


def _count_ascii(text: bytes) -> int:
    """The same count several times as fast: what is counted are the ends of pieces."""
    ended = text + b" "
    letters = ended.translate(_LETTERS).replace(b"a" * LETTERS, b"a ").count(b"a ")
    digits = ended.translate(_DIGITS).replace(b"0" * DIGITS, b"0 ").count(b"0 ")
    return letters + digits + len(text.translate(None, _COUNTED_ELSEWHERE))


def _only(sign: str, kept: Callable[[str], bool]) -> bytes:
    """A table that makes every ASCII character that is ``kept`` a ``sign``, and others blank."""
    return bytes(ord(sign if kept(chr(code)) and code < 128 else " ") for code in range(256))


_LETTERS = _only("a", str.isalpha)
_DIGITS = _only("0", str.isdigit)
_COUNTED_ELSEWHERE = bytes(
    code for code in range(128) if chr(code).isalnum() or chr(code).isspace()
)


__all__ = ["count_tokens"]
