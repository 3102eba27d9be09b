"""The text of a Word paragraph as a reader sees it: insertions in, deletions and field codes out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATHS = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/math}",
    "{http://purl.oclc.org/ooxml/officeDocument/math}",
)
_CHARACTERS = {
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\N{NON-BREAKING HYPHEN}",
    "softHyphen": "\N{SOFT HYPHEN}",
}
_SILENT = frozenset({"del", "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rt"})
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}
_LINE_ENDS = re.compile(r"[ \t]*\n\s*")


@dataclass(slots=True)
class ParagraphText:
    """What one paragraph holds.

    Attributes:
        pieces: its characters in order.
        boxes: elements whose own paragraphs stand beside it (text boxes).
        notes: (``footnote`` or ``endnote``, id) in the order referred to.
        hidden: True when text that Word does not show was left out.
    """

    pieces: list[str] = field(default_factory=list)
    boxes: list[etree._Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    hidden: bool = False

    @property
    def text(self) -> str:
        """The characters, each run of line ends as one, blank ends cut off."""
        return _LINE_ENDS.sub("\n", "".join(self.pieces)).strip()


def read_paragraph(paragraph: etree._Element, word: str) -> ParagraphText:
    """The text of a ``w:p``.

    Args:
        paragraph: the element.
        word: namespace of the elements, in braces.
    """
    found = ParagraphText()
    _gather(paragraph, word, found)
    return found


def alternative(element: etree._Element) -> Iterator[etree._Element]:
    """The children of the choice that holds text, else of the fallback: never of both."""
    choices = list(element.iterchildren(f"{_COMPATIBILITY}Choice"))
    fallbacks = list(element.iterchildren(f"{_COMPATIBILITY}Fallback"))
    for option in [*choices, *fallbacks]:
        if any(text.strip() for text in option.itertext()):
            yield from option.iterchildren()
            return


def is_alternative(element: etree._Element) -> bool:
    """Whether this is an ``mc:AlternateContent``."""
    return element.tag == f"{_COMPATIBILITY}AlternateContent"


def _gather(parent: etree._Element, word: str, found: ParagraphText) -> None:
    for element in parent.iterchildren(etree.Element):
        tag = str(element.tag)
        if tag.startswith(word):
            _take(element, tag[len(word) :], word, found)
        elif tag.startswith(_MATHS) and tag.endswith("}t"):
            found.pieces.append(element.text or "")
        elif is_alternative(element):
            for child in alternative(element):
                _take_any(child, word, found)
        else:
            _gather(element, word, found)


def _take_any(element: etree._Element, word: str, found: ParagraphText) -> None:
    tag = str(element.tag)
    if tag.startswith(word):
        _take(element, tag[len(word) :], word, found)
    else:
        _gather(element, word, found)


def _take(element: etree._Element, name: str, word: str, found: ParagraphText) -> None:
    if name == "t":
        found.pieces.append(element.text or "")
    elif name in _SILENT:
        return
    elif name in _CHARACTERS:
        found.pieces.append(_CHARACTERS[name])
    elif name == "txbxContent":
        found.boxes.append(element)
    elif name in _NOTES:
        found.notes.append((_NOTES[name], element.get(f"{word}id", "")))
    elif name == "r" and _is_hidden(element, word):
        found.hidden = True
    elif name == "sym":
        found.pieces.append(_symbol(element.get(f"{word}char", "")))
    else:
        _gather(element, word, found)


def _is_hidden(run: etree._Element, word: str) -> bool:
    vanish = run.find(f"{word}rPr/{word}vanish")
    return vanish is not None and vanish.get(f"{word}val") not in {"0", "false", "off"}


def _symbol(code: str) -> str:
    """A symbol of a font; those in the private use area mean nothing outside it."""
    if not re.fullmatch(r"[0-9A-Fa-f]{1,5}", code):
        return ""
    number = int(code, 16)
    private = 0xE000 <= number <= 0xF8FF or 0xD800 <= number <= 0xDFFF
    return "" if private else chr(number)
