"""Readers of original files that share nothing with the parsers: where is this, in that file?

Each takes the bytes, the parsed document's location and the words that should stand there, and says
what does stand there; ``benchmarks.spans`` compares the two letter by letter.
"""

from __future__ import annotations

import csv
import email
import email.policy
import io
import json
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache

import chardet
import docx
import html5lib  # type: ignore[import-untyped]  # no stubs
import lxml.etree
import openpyxl  # type: ignore[import-untyped]  # no stubs
import pdfplumber
import pdfplumber.pdf
import pptx
from pptx.shapes.base import BaseShape

from evidencedesk.model import Location

Reader = Callable[[bytes, Location], str]
_REVERSED = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_STEP = re.compile(r"(?P<name>[^\s>:]+)(?::nth-of-type\((?P<number>\d+)\))?")


def letters(text: str) -> str:
    """Letters, digits and marks only, folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char.isalnum())


def at_lines(data: bytes, location: Location) -> str:
    """The file's lines, as an editor counts them."""
    lines = re.split(r"\r\n|\n|\r", _decoded(data))
    first, last = location.first_line or 1, location.last_line or 0
    return "\n".join(lines[first - 1 : last])


def at_records(data: bytes, location: Location) -> str:
    """Those lines read by the standard library's reader of CSV, with every likely delimiter."""
    raw = at_lines(data, location)
    read = [" ".join(" ".join(row) for row in csv.reader(io.StringIO(raw), delimiter=mark)) for mark in ",;\t|"]  # fmt: skip
    return "\0".join([raw, *read])


def at_json(data: bytes, location: Location) -> str:
    """The values and keys of the records on those lines."""
    found = []
    for line in at_lines(data, location).split("\n"):
        try:
            found.append(" ".join(_flat(json.loads(line), "")))
        except ValueError:
            found.append(line)
    return "\n".join(found)


def _flat(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        yield path
        for inner in value:
            yield from _flat(inner, "")
    else:
        yield f"{path} {json.dumps(value) if isinstance(value, bool) else value}"


@lru_cache(maxsize=2)
def _pdf(data: bytes) -> pdfplumber.pdf.PDF:
    return pdfplumber.open(io.BytesIO(data))


@lru_cache(maxsize=8)
def _characters(data: bytes, page: int) -> list[tuple[float, float, str]]:
    chars = _pdf(data).pages[page - 1].chars
    return [((c["x0"] + c["x1"]) / 2, (c["top"] + c["bottom"]) / 2, c["text"]) for c in chars]


def at_boxes(data: bytes, location: Location) -> str:
    """The characters whose middle lies in the boxes, by another PDF library."""
    found = []
    for box in location.boxes:
        inside = [
            char
            for x, y, char in _characters(data, box.page)
            if box.x0 - 0.5 <= x <= box.x1 + 0.5 and box.y0 - 0.5 <= y <= box.y1 + 0.5
        ]
        found.append("".join(inside))
    return " ".join(found)


def at_element(data: bytes, location: Location) -> str:
    """The text of the element that the CSS path leads to."""
    return _element_text(_tree(data), location.element or "")


@lru_cache(maxsize=2)
def _tree(data: bytes) -> lxml.etree._Element:
    """The tree that browsers make (HTML Living Standard, 13.2), by html5lib."""
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("lxml"), namespaceHTMLElements=False)
    tree: lxml.etree._ElementTree = parser.parse(_decoded(data))
    return tree.getroot()


def at_chapter(data: bytes, location: Location) -> str:
    """The same in one file of a book."""
    name, _, path = (location.element or "").partition(": ")
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        full = next(each for each in book.namelist() if each.endswith(name))
        content = book.read(full)
    return _element_text(_tree(content), path)


def _element_text(tree: lxml.etree._Element, path: str) -> str:
    place = [tree]
    for step in filter(None, path.split(" > ")):
        if step.startswith(("#", "[id=")):
            wanted = step[1:] if step.startswith("#") else step[5:-2]
            place = [each for each in tree.iter() if each.get("id") == wanted][:1]
            continue
        match = _STEP.fullmatch(step)
        name, number = (match["name"], int(match["number"] or 1)) if match else (step, 1)
        same = [each for one in place for each in one if each.tag == name]
        place = same[number - 1 : number] if same else ([tree] if tree.tag == name else [])
    return " ".join("".join(map(str, each.itertext())) for each in place)


def at_paragraph(data: bytes, location: Location) -> str:
    """Body paragraph by number, or every row of every table by row number, by python-docx."""
    paragraphs, tables = _word_texts(data)
    if location.row:
        return "\n".join(rows[location.row - 1] for rows in tables if location.row <= len(rows))
    number = location.paragraph or 0
    return paragraphs[number - 1] if 0 < number <= len(paragraphs) else ""


@lru_cache(maxsize=2)
def _word_texts(data: bytes) -> tuple[list[str], list[list[str]]]:
    """Paragraphs of the body, and the rows of each table."""
    document = docx.Document(io.BytesIO(data))
    tables = [
        [" ".join(cell.text for cell in row.cells) for row in t.rows] for t in document.tables
    ]
    return [paragraph.text for paragraph in document.paragraphs], tables


@lru_cache(maxsize=2)
def _workbook(data: bytes) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(data), data_only=True)


def at_row(data: bytes, location: Location) -> str:
    """The cells of a sheet's row, by openpyxl."""
    sheet = _workbook(data)[location.sheet or ""]
    return " ".join(str(cell.value) for cell in sheet[location.row or 1] if cell.value is not None)


@lru_cache(maxsize=2)
def _slides(data: bytes) -> list[str]:
    found = []
    for slide in pptx.Presentation(io.BytesIO(data)).slides:
        texts = [text for shape in slide.shapes for text in _shape_texts(shape)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            texts.append(slide.notes_slide.notes_text_frame.text)
        found.append("\n".join(texts))
    return found


def _shape_texts(shape: BaseShape) -> Iterator[str]:
    for inner in getattr(shape, "shapes", ()):
        yield from _shape_texts(inner)
    if shape.has_text_frame:
        yield str(getattr(shape, "text_frame").text)  # noqa: B009 - not declared on the base
    if getattr(shape, "has_table", False):
        for row in getattr(shape, "table").rows:  # noqa: B009
            yield " ".join(cell.text for cell in row.cells)


def at_slide(data: bytes, location: Location) -> str:
    """All text of a slide, by python-pptx."""
    return _slides(data)[(location.slide or 1) - 1]


def in_message(data: bytes, _: Location) -> str:
    """Headers and bodies of a message, by the standard library."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    names = ("From", "To", "Cc", "Date", "Subject")
    texts = [f"{name}: {message[name]}" for name in names if message[name]]
    for part in message.walk():
        if part.get_content_maintype() == "text":
            body = part.get_payload(decode=True)
            text = _decoded(body) if isinstance(body, bytes) else ""
            html = part.get_content_subtype() == "html"
            texts.append("".join(map(str, _tree(text.encode()).itertext())) if html and text.strip() else text)  # fmt: skip
    return "\n".join(texts)


def _decoded(data: bytes) -> str:
    for mark, coding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):  # fmt: skip
        if data.startswith(mark):
            return data.decode(coding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        guess = chardet.detect(data[:200_000])["encoding"] or "latin-1"
        return data.decode(guess, "replace")


READERS: dict[str, Reader] = {
    "text/markdown": at_lines,
    "text/plain": at_lines,
    "text/csv": at_records,
    "application/jsonl": at_json,
    "text/html": at_element,
    "application/pdf": at_boxes,
    "application/epub+zip": at_chapter,
    "message/rfc822": in_message,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": at_paragraph,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": at_row,
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": at_slide,
}


def stands_there(words: str, there: str) -> bool:
    """Whether each line of ``words`` stands in ``there``; of right-to-left text in any order."""
    found = letters(there)
    return all(_stands(line, found) for line in words.split("\n"))


def _stands(words: str, found: str) -> bool:
    wanted = letters(words)
    if wanted in found:
        return True
    return bool(_REVERSED.search(words)) and not Counter(wanted) - Counter(found)
