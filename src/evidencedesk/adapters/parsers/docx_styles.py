"""What styles and numbering say of a paragraph: heading level, list, and the marker it shows."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from lxml import etree

_HEADING_NAME = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
_BODY_TEXT = 9
TITLE = 0
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    based_on: str | None
    outline: int | None
    list_id: str | None
    list_level: int | None


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int


class Styles:
    """The paragraph styles of a document, their inheritance resolved when asked."""

    def __init__(self, root: etree._Element | None, word: str) -> None:
        """Read ``styles.xml``.

        Args:
            root: its root element, None when there is none.
            word: namespace of the elements, in braces.
        """
        self._styles: dict[str, _Style] = {}
        if root is None:
            return
        for style in root.iter(f"{word}style"):
            name = style.find(f"{word}name")
            base = style.find(f"{word}basedOn")
            properties = style.find(f"{word}pPr")
            self._styles[style.get(f"{word}styleId", "")] = _Style(
                name="" if name is None else name.get(f"{word}val", ""),
                based_on=None if base is None else base.get(f"{word}val"),
                outline=outline_level(properties, word),
                list_id=list_id(properties, word),
                list_level=list_level(properties, word),
            )

    def heading_level(self, style_id: str) -> int | None:
        """1 to 6, 0 for the document's title, None for what is no heading."""
        for style in self._chain(style_id):
            if style.outline is not None:
                return None if style.outline >= _BODY_TEXT else min(style.outline + 1, 6)
            match = _HEADING_NAME.fullmatch(style.name.strip())
            if match:
                return min(int(match.group(1)), 6)
            if style.name.strip().lower() == "title":
                return TITLE
        return None

    def numbering(self, style_id: str) -> tuple[str | None, int | None]:
        """List id and level that the style gives; None where it gives none."""
        chain = self._chain(style_id)
        identity = next((style.list_id for style in chain if style.list_id is not None), None)
        level = next((style.list_level for style in chain if style.list_level is not None), None)
        return identity, level

    def _chain(self, style_id: str) -> list[_Style]:
        chain: list[_Style] = []
        seen: set[str] = set()
        current: str | None = style_id
        while current is not None and current in self._styles and current not in seen:
            seen.add(current)
            chain.append(self._styles[current])
            current = chain[-1].based_on
        return chain


@dataclass(slots=True)
class Numbering:
    """Lists of a document and how far each has counted.

    Attributes:
        levels: list definition to its levels.
        definitions: list id to list definition.
        restarts: (list id, level) to the number at which that list starts anew.
    """

    levels: dict[str, dict[int, _Level]] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    restarts: dict[tuple[str, int], int] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _begun: set[tuple[str, int]] = field(default_factory=set)

    @classmethod
    def read(cls, root: etree._Element | None, word: str) -> Numbering:
        """Read ``numbering.xml``; an empty numbering when there is none."""
        found = cls()
        if root is None:
            return found
        for definition in root.iter(f"{word}abstractNum"):
            levels = (_level(level, word) for level in definition.iter(f"{word}lvl"))
            found.levels[definition.get(f"{word}abstractNumId", "")] = dict(levels)
        for number in root.iter(f"{word}num"):
            identity = number.get(f"{word}numId", "")
            found.definitions[identity] = _value(number, "abstractNumId", word) or ""
            for override in number.iter(f"{word}lvlOverride"):
                start = _number(_value(override, "startOverride", word))
                level = _number(override.get(f"{word}ilvl")) or 0
                if start is not None:
                    found.restarts[identity, level] = start
        return found

    def marker(self, identity: str, level: int) -> str | None:
        """Count one item and return what Word prints before it; None when it is no list.

        Bullets, whose characters are often those of private fonts, are all ``•``.
        """
        definition = self.definitions.get(identity)
        levels = self.levels.get(definition or "", {})
        if definition is None or level not in levels:
            return None
        counts = self._counts[definition]
        start = levels[level].start
        if (identity, level) in self.restarts and (identity, level) not in self._begun:
            self._begun.add((identity, level))
            counts.pop(level, None)
            start = self.restarts[identity, level]
        counts[level] = counts[level] + 1 if level in counts else start
        for deeper in [key for key in counts if key > level]:
            del counts[deeper]
        if levels[level].form == "bullet":
            return "•"
        return self._printed(levels, counts, level)

    def _printed(self, levels: dict[int, _Level], counts: dict[int, int], level: int) -> str:
        def shown(match: re.Match[str]) -> str:
            at = int(match.group(1)) - 1
            of = levels.get(at, levels[level])
            return _spelled(counts.get(at, of.start), of.form)

        return re.sub(r"%([1-9])", shown, levels[level].text).strip()


def outline_level(properties: etree._Element | None, word: str) -> int | None:
    """Outline level from paragraph properties: 0 to 8, 9 for body text, None when unsaid."""
    return None if properties is None else _number(_value(properties, "outlineLvl", word))


def list_id(properties: etree._Element | None, word: str) -> str | None:
    """List id from paragraph properties; ``"0"`` means explicitly none, None means unsaid."""
    numbering = None if properties is None else properties.find(f"{word}numPr")
    return None if numbering is None else _value(numbering, "numId", word)


def list_level(properties: etree._Element | None, word: str) -> int | None:
    """List level from paragraph properties, counting from 0; None when unsaid."""
    numbering = None if properties is None else properties.find(f"{word}numPr")
    return None if numbering is None else _number(_value(numbering, "ilvl", word))


def _level(element: etree._Element, word: str) -> tuple[int, _Level]:
    start = _number(_value(element, "start", word))
    level = _Level(
        form=_value(element, "numFmt", word) or "decimal",
        text=_value(element, "lvlText", word) or "",
        start=1 if start is None else start,
    )
    return _number(element.get(f"{word}ilvl")) or 0, level


def _value(element: etree._Element, name: str, word: str) -> str | None:
    child = element.find(f"{word}{name}")
    return None if child is None else child.get(f"{word}val")


def _number(value: str | None) -> int | None:
    return int(value) if value is not None and value.isascii() and value.isdigit() else None


def _spelled(number: int, form: str) -> str:
    if form in {"lowerLetter", "upperLetter"} and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
        return letter if form == "lowerLetter" else letter.upper()
    if form in {"lowerRoman", "upperRoman"} and 0 < number < 4000:
        roman = _roman(number)
        return roman if form == "lowerRoman" else roman.upper()
    return "" if form == "none" else str(number)


def _roman(number: int) -> str:
    letters = ""
    for value, sign in _ROMAN:
        letters += sign * (number // value)
        number %= value
    return letters
