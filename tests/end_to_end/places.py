"""Readers of original files that are not ours, asked for the text at a place."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import docx
import pdfplumber
from lxml import html

from evidencedesk import Location
from evidencedesk.model import Box

TOLERANCE = 1.5


def text_at(path: Path, place: Location) -> str:
    """The text that the file holds at the place, white space folded."""
    readers = {".md": _lines, ".html": _element, ".pdf": _boxes, ".docx": _paragraphs}
    return " ".join(readers[path.suffix](path, place).split())


def block_at(path: Path, place: Location) -> str:
    """The HTML element or paragraph that the place names, or the rows of that number."""
    if path.suffix == ".html":
        assert place.element is not None
        (found,) = _tree(path).xpath(_xpath(place.element))
        return str(found.text_content())
    paragraphs, tables = _body(path)
    if place.row is None:
        return paragraphs[(place.paragraph or 0) - 1]
    return "\n".join(table[place.row - 1] for table in tables if len(table) >= place.row)


def squeezed(text: str) -> str:
    """Without white space and hyphens, for readers that put them where they like."""
    return re.sub(r"[\s\u00ad\u2010-]+", "", text)


def _lines(path: Path, place: Location) -> str:
    assert place.first_line is not None
    assert place.last_line is not None
    lines = path.read_text("utf-8").split("\n")
    return "\n".join(lines[place.first_line - 1 : place.last_line])


def _element(path: Path, place: Location) -> str:
    """The text from the element on: a chunk may run on into the blocks that follow."""
    assert place.element is not None
    tree = _tree(path)
    (found,) = tree.xpath(_xpath(place.element))
    texts, inside = [], False
    for node in tree.find(".//main").iter():
        inside = inside or node is found
        if inside and node.text:
            texts.append(node.text)
        if inside and node.tail:
            texts.append(node.tail)
    return " ".join(texts)


@cache
def _tree(path: Path) -> html.HtmlElement:
    return html.fromstring(path.read_bytes())


def _xpath(css: str) -> str:
    steps = []
    for step in css.split(" > "):
        name, _, number = step.partition(":nth-of-type(")
        if name.startswith("#"):
            steps.append(f"//*[@id='{name[1:]}']")
        else:
            steps.append(f"/{name}" + (f"[{number.rstrip(')')}]" if number else ""))
    return "".join(steps)


def _boxes(path: Path, place: Location) -> str:
    """The characters whose middle lies in one of the boxes, box after box."""
    assert place.page is not None
    assert {box.page for box in place.boxes} == set(range(place.page, (place.last_page or 0) + 1))
    return "\n".join(_text_in(path, box) for box in place.boxes)


def _text_in(path: Path, box: Box) -> str:
    return "".join(
        char["text"]
        for char in _characters(path, box.page)
        if box.x0 - TOLERANCE <= (char["x0"] + char["x1"]) / 2 <= box.x1 + TOLERANCE
        and box.y0 - TOLERANCE <= (char["top"] + char["bottom"]) / 2 <= box.y1 + TOLERANCE
    )


@cache
def _characters(path: Path, page: int) -> list[dict]:
    with pdfplumber.open(path) as pdf:
        return pdf.pages[page - 1].chars


def _paragraphs(path: Path, place: Location) -> str:
    """The text from the paragraph on, or from the table row on, read by python-docx."""
    paragraphs, tables = _body(path)
    if place.row is not None:
        return "\n".join(row for table in tables for row in table[place.row - 1 :])
    assert place.paragraph is not None
    return "\n".join(paragraphs[place.paragraph - 1 :])


@cache
def _body(path: Path) -> tuple[list[str], list[list[str]]]:
    document = docx.Document(str(path))
    rows = [[" | ".join(c.text for c in row.cells) for row in t.rows] for t in document.tables]
    return [each.text for each in document.paragraphs], rows


def without_numbers(text: str) -> str:
    """Without what Word counts itself, and python-docx does not: numbers and bullets of a list."""
    return re.sub(r"(?m)^(?:\d+\.|[-•])\s", "", text)
