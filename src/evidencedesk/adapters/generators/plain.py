"""A sentence of a document as a person reads it: white space folded, Markdown's marks removed."""

from __future__ import annotations

import re

_LIST_MARK = re.compile(r"\A\s*(?:>\s*)*(?:(?:[-*+•‣◦]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\]\[]*)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]\[]*\])")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]+)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
# Marks that nobody closes are looked for so far and no further: a sentence may hold thousands.
_PAIRED = (
    re.compile(r"(\*\*|__|~~)(?=\S)(.{1,500}?)(?<=\S)\1"),
    re.compile(r"(?<![\w*])(\*)(?=[^\s*])([^*]+?)(?<=[^\s*])\1(?![\w*])"),
    re.compile(r"(?<![\w_])(_)(?=[^\s_])([^_]+?)(?<=[^\s_])\1(?![\w_])"),
    re.compile(r"(?<!`)(`++)(.{1,500}?)(?<!`)\1(?!`)"),
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CELL = re.compile(r"\s*(?<!\\)\|\s*")


def plain(sentence: str) -> str:
    """``sentence`` without list marks, emphasis, code marks, link targets, tags and table bars.

    Marks are removed only where Markdown would read them as marks, so ``3 * 4`` and ``a_b_c`` stay.
    The cells of a table row are joined by commas.
    """
    text = _LIST_MARK.sub("", sentence, count=1)
    if text.startswith("|"):
        text = ", ".join(cell for cell in _CELL.split(text) if cell.strip())
    text = _TAG.sub("", _AUTOLINK.sub(r"\1", _IMAGE_OR_LINK.sub(r"\1", text)))
    for mark in _PAIRED:
        text = mark.sub(r"\2", text)
    return " ".join(_ESCAPE.sub(r"\1", text).split())
