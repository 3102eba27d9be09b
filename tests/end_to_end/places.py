"""Readers of original files that are not ours, asked for the text at a place."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import docx
import pdfplumber
from lxml import html

from evidencedesk import Location

TOLERANCE = 1.5


def text_at(path: Path, place: Location) -> str:
    """The text that the file holds at the place, white space folded."""
    readers = {".md": _lines, ".html": _element, ".pdf": _boxes, ".docx": _paragraphs}
    return " ".join(readers[path.suffix](path, place).split())


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
    texts = []
    for box in place.boxes:
        texts.append(
            "".join(
                char["text"]
                for char in _characters(path, box.page)
                if box.x0 - TOLERANCE <= (char["x0"] + char["x1"]) / 2 <= box.x1 + TOLERANCE
                and box.y0 - TOLERANCE <= (char["top"] + char["bottom"]) / 2 <= box.y1 + TOLERANCE
            )
        )
    return "\n".join(texts)


@cache
def _characters(path: Path, page: int) -> list[dict]:
    with pdfplumber.open(path) as pdf:
        return pdf.pages[page - 1].chars


def _paragraphs(path: Path, place: Location) -> str:
    """The text from the paragraph on, or the table row, read by python-docx."""
    body = list(docx.Document(str(path)).iter_inner_content())
    if place.row is not None:
        tables = [each for each in body if not hasattr(each, "text")]
        rows = [row for table in tables for row in table.rows[place.row - 1 :]]
        return "\n".join(" | ".join(cell.text for cell in row.cells) for row in rows)
    assert place.paragraph is not None
    paragraphs = [each for each in body if hasattr(each, "text")]
    return "\n".join(each.text for each in paragraphs[place.paragraph - 1 :])
