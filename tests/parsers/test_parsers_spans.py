"""200 random spans of each newer format, found again at their places by independent readers."""

from __future__ import annotations

import csv
import email.message
import io
import json
import random
import zipfile
from collections import Counter
from dataclasses import replace

import openpyxl
import pptx
import pytest
from benchmarks.span_readers import READERS, stands_there
from benchmarks.spans import check
from pptx.util import Inches
from reading_back import document_of

from evidencedesk.adapters.parsers.archive import ArchiveParser
from evidencedesk.adapters.parsers.delimited import CsvParser
from evidencedesk.adapters.parsers.epub import EpubParser
from evidencedesk.adapters.parsers.json_lines import JsonLinesParser
from evidencedesk.adapters.parsers.mail import MailParser
from evidencedesk.adapters.parsers.slides import PptxParser
from evidencedesk.adapters.parsers.spreadsheet import XlsxParser
from evidencedesk.model import Location
from evidencedesk.protocols import Parser

WORDS = [
    "fee",
    "bike",
    "école",
    "ভাড়া",
    "refund",
    "12,50",
    "3.5%",
    "café",
    "straße",
    "договор",
    "返品",
    "ten-day",
    "(new)",
    "A&B",
    "<tag>",
]
CHOOSE = random.Random(7)


def words(count: int) -> str:
    return " ".join(CHOOSE.choice(WORDS) for _ in range(count))


def rows(count: int = 40) -> list[list[str]]:
    named = [["name", "notes", "terms"]]
    return named + [[f"row {n}", words(6), words(3)] for n in range(count)]


def csv_file() -> bytes:
    made = io.StringIO()
    csv.writer(made).writerows(rows())
    return made.getvalue().encode()


def json_file() -> bytes:
    records = [{"id": n, "text": words(8), "more": {"list": [words(2), n / 4]}} for n in range(40)]
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode()


def xlsx_file() -> bytes:
    book = openpyxl.Workbook()
    for name in ("Fees", "Terms & more"):
        sheet = book.create_sheet(name)
        for row in rows():
            sheet.append(row)
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def pptx_file() -> bytes:
    slides = pptx.Presentation()
    for number in range(8):
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number} {words(2)}"
        slide.placeholders[1].text = f"{words(8)}\n{words(8)}"
        table = slide.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(1)).table
        for cell in table.iter_cells():
            cell.text = words(3)
        slide.notes_slide.notes_text_frame.text = words(6)
    made = io.BytesIO()
    slides.save(made)
    return made.getvalue()


def epub_file() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/a.opf"/></rootfiles></container>',
        )
        names = [f"part{number}.xhtml" for number in range(4)]
        items = "".join(f'<item id="i{n}" href="{n}" media-type="application/xhtml+xml"/>' for n in names)  # fmt: skip
        spine = "".join(f'<itemref idref="i{n}"/>' for n in names)
        book.writestr(
            "OPS/a.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><metadata/>'
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        )
        for name in names:
            text = "".join(f"<p>{escaped(words(9))}</p>" for _ in range(8))
            book.writestr(
                f"OPS/{name}",
                '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head>'
                f'<body><section id="s"><h1>{name}</h1>{text}</section></body></html>',
            )
    return made.getvalue()


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def mail_file() -> bytes:
    message = email.message.EmailMessage()
    message["From"], message["To"] = "a@example.org", "b@example.org"
    message["Subject"], message["Date"] = words(4), "Fri, 03 May 2024 10:00:00 +0000"
    message.set_content("\n\n".join(words(12) for _ in range(20)))
    return message.as_bytes()


CASES: list[tuple[Parser, bytes]] = [
    (CsvParser(), csv_file()),
    (JsonLinesParser(), json_file()),
    (XlsxParser(), xlsx_file()),
    (PptxParser(), pptx_file()),
    (EpubParser(), epub_file()),
    (MailParser(), mail_file()),
]


@pytest.mark.parametrize(("parser", "data"), CASES, ids=[parser.name for parser, _ in CASES])
def test_200_spans_stand_where_they_are_said_to(parser: Parser, data: bytes) -> None:
    parsed = parser.parse(data, "a")
    document = replace(document_of(parsed), media_type=parsed.media_type)
    drawn, held, problem = check(document, data, 200, Counter())
    assert drawn == 200
    assert held == drawn, problem


def test_spans_of_members_stand_in_the_members() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("inner/table.csv", csv_file())
    (member,) = ArchiveParser().members(made.getvalue(), "a.zip").members
    with zipfile.ZipFile(io.BytesIO(made.getvalue())) as archive:
        original = archive.read(member.name)
    parsed = CsvParser().parse(member.data, member.name)
    document = replace(document_of(parsed), media_type=parsed.media_type)
    drawn, held, problem = check(document, original, 200, Counter())
    assert (drawn, held) == (200, 200), problem


def test_what_stands_elsewhere_is_seen() -> None:
    data = b"name,notes\nfirst,alpha\nsecond,beta\n"
    reader = READERS["text/csv"]
    assert stands_there("first | alpha", reader(data, Location(first_line=2, last_line=2)))
    assert not stands_there("first | alpha", reader(data, Location(first_line=3, last_line=3)))
