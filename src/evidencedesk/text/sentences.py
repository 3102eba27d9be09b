"""Sentence boundaries in running text of many scripts, by rules alone.

A sentence ends at ``. ! ? …``, at the danda and at the full stops and question marks of the other
scripts in use, together with the closing quotes, brackets and footnote marks that follow. It always
ends at a blank line, and before a line that opens a list item, a table row or a heading. It does not
end after an abbreviation, an initial, a list number or inside a number or an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evidencedesk.model import Span
from evidencedesk.text.abbreviations import (
    BEFORE_NUMBER,
    MAYBE_LAST,
    NEVER_LAST,
    SENTENCE_STARTERS,
)

_SOFT = ".!?…‽"
_SOFT_MARKS = frozenset(_SOFT)
_DOTS = frozenset(".…")
_HARD = "।॥。！？｡؟۔։።፧။།"
_CLOSERS = r"(?:[\"'”’»›)\]}*_`」』】）》〉〕]|\[\^?\w{1,4}\])*"
_MARK = re.compile(rf"(?P<run>[{_SOFT}{_HARD}]+)(?P<closers>{_CLOSERS})")

_LINE_END = re.compile("[\r\n\u2028\u2029]")
_NEWLINE = r"(?>\r\n|\r|\n|\u2028)"
_CUT = re.compile(
    rf"(?P<blank>{_NEWLINE}[^\S\r\n]*{_NEWLINE}|\u2029)"
    rf"|{_NEWLINE}(?=[ \t]*(?:(?P<item>[-*+•‣◦][ \t]|(?P<number>\d{{1,3}})[.)][ \t])"
    rf"|\#{{1,6}}[ \t]|\|))"
)
_HEADING_LINE = re.compile(rf"[ \t]*\#{{1,6}}[ \t][^\r\n]*({_NEWLINE})")
_ITEM_LINE = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_WORD = re.compile(r"\w+")
_INK = re.compile(r"\S")
_OPENERS = "\"'“‘«‹([{*_`„¿¡"
_LONGEST_WORD = 32


def sentences(text: str) -> list[Span]:
    """The sentences of ``text``, in order.

    Spans hold no surrounding whitespace, do not overlap, and together cover every character that is
    not whitespace. A line break inside a paragraph ends nothing.

    Args:
        text: running text or Markdown, with any line endings.

    Returns:
        Spans of code points in ``text``; empty when there is nothing but whitespace.
    """
    spans: list[Span] = []
    for start, end in _segments(text):
        opened = start
        for cut in _ends(text, start, end):
            _append(spans, text, opened, cut)
            opened = cut
        _append(spans, text, opened, end)
    return spans


def ends_sentence(text: str) -> bool:
    """Whether ``text`` stops where a sentence may stop: at an end mark and what closes behind it."""
    stripped = text.rstrip()
    tail = stripped.rstrip("\"'”’»›)]}*_`」』】）》〉〕")
    return bool(tail) and tail[-1] in _SOFT + _HARD


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    first = _INK.search(text, start, end)
    if first is not None:
        kept = len(text[first.start() : end].rstrip())
        spans.append(Span(first.start(), first.start() + kept))


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that no sentence leaves: paragraphs, list items, table rows, heading lines."""
    if not _LINE_END.search(text):
        yield 0, len(text)
        return
    start = 0
    in_list = _ITEM_LINE.match(text) is not None
    for cut in _CUT.finditer(text):
        if cut["number"] and not (in_list or _opens_list(text, cut)):
            continue
        if cut["blank"] or cut["item"]:
            in_list = _ITEM_LINE.match(text, cut.end()) is not None
        yield from _without_heading(text, start, cut.start())
        start = cut.end()
    yield from _without_heading(text, start, len(text))


def _opens_list(text: str, cut: re.Match[str]) -> bool:
    """A wrapped line may begin with a number; a list begins with 1 or after a finished line."""
    before = text[max(0, cut.start() - 2) : cut.start()].rstrip()
    return cut["number"] == "1" or not before or before[-1] in ".!?:;।"


def _without_heading(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    heading = _HEADING_LINE.match(text, start, end)
    if heading is not None:
        yield start, heading.start(1)
        start = heading.end(1)
    yield start, end


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    for mark in _MARK.finditer(text, start, end):
        stop = mark.end()
        if stop == end or text[stop].isspace():
            if _ends_at(text, start, end, mark):
                yield stop
        elif not _SOFT_MARKS.issuperset(mark["run"]) and not _inside_number(text, mark):
            yield stop


def _inside_number(text: str, mark: re.Match[str]) -> bool:
    return text[mark.end()].isdigit() and text[mark.start() - 1 : mark.start()].isdigit()


def _ends_at(text: str, start: int, end: int, mark: re.Match[str]) -> bool:
    run = mark["run"]
    found = _INK.search(text, mark.end(), end)
    if found is None or not _SOFT_MARKS.issuperset(run):
        return True
    following = found.start()
    while following < end and text[following] in _OPENERS:
        following += 1
    lower = text[following : following + 1].islower()
    if lower and mark["closers"]:
        return False
    if run != ".":
        return not (lower and _DOTS.issuperset(run))
    word = _word_before(text, start, mark.start())
    return _full_stop_ends(word, text, following, is_first=mark.start() - len(word) == start)


def _word_before(text: str, start: int, stop: int) -> str:
    piece = text[max(start, stop - _LONGEST_WORD) : stop].split()
    return piece[-1].lstrip(_OPENERS) if piece and not text[stop - 1].isspace() else ""


def _full_stop_ends(word: str, text: str, following: int, *, is_first: bool) -> bool:
    """Whether the full stop after ``word`` ends a sentence, given what follows it."""
    folded = word.casefold()
    after = text[following : following + 1]
    if folded in BEFORE_NUMBER and after.isdigit():
        return False
    if word.isdigit():
        return not (after.islower() or (is_first and len(word) <= 3))
    if folded in MAYBE_LAST and not _INITIALS.fullmatch(word):
        return not (after.islower() or after.isdigit())
    if folded in NEVER_LAST:
        return False
    if _INITIALS.fullmatch(word):
        return _starts_sentence(text, following)
    return True


def _starts_sentence(text: str, following: int) -> bool:
    word = _WORD.match(text, following)
    return word is not None and word[0][0].isupper() and word[0].casefold() in SENTENCE_STARTERS


__all__ = ["ends_sentence", "sentences"]
