"""Make the PDF and DOCX files of the academy's sample corpus from the texts beside this script.

    python scripts/make_academy_files.py [FOLDER]

Each ``academy_texts/NAME.EXT.txt`` becomes ``NAME.EXT``. In a text, ``#`` and ``##`` lines are
headings, ``1.`` lines are steps, ``|`` lines are rows of a table (the first is its header), and any
other line is a paragraph. The same texts and library versions give the same bytes.
"""

from __future__ import annotations

import datetime
import io
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import docx
from docx.oxml import OxmlElement
from reportlab.lib.colors import grey, whitesmoke
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import cm
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)

TEXTS = Path(__file__).parent / "academy_texts"
FOLDER = Path(__file__).parents[1] / "samples" / "academy" / "documents"
PUBLISHER = "Northlight AI Academy"
MADE_ON = datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC)
TWO_COLUMNS = frozenset({"student-handbook.pdf"})

_STEP = re.compile(r"\d+\. ")
_BODY = ParagraphStyle("Body", fontName="Helvetica", fontSize=10, leading=13.5, spaceAfter=6)
_TITLE = ParagraphStyle(
    "Title", _BODY, fontName="Helvetica-Bold", fontSize=19, leading=24, spaceAfter=8
)
_HEADING = ParagraphStyle(
    "Heading",
    _BODY,
    fontName="Helvetica-Bold",
    fontSize=13,
    leading=16,
    spaceBefore=8,
    keepWithNext=1,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of a text: ``title heading step row text``, and its lines without their marks."""

    kind: str
    lines: tuple[str, ...]


def parts_of(text: str) -> Iterator[Part]:
    """The parts of a text in order; neighbouring steps and rows belong to one part."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for kind, group in groupby(lines, key=_kind):
        bare = [re.sub(r"^(#+|\d+\.|\|) *", "", line) for line in group]
        if kind in {"step", "row"}:
            yield Part(kind, tuple(bare))
        else:
            yield from (Part(kind, (line,)) for line in bare)


def _kind(line: str) -> str:
    if line.startswith("#"):
        return "heading" if line.startswith("##") else "title"
    if line.startswith("|"):
        return "row"
    return "step" if _STEP.match(line) else "text"


def cells_of(row: str) -> list[str]:
    """The cells of one table row."""
    return [cell.strip() for cell in row.rstrip("|").split("|")]


def docx_bytes(text: str) -> bytes:
    """A Word document with real headings, a real numbered list and real tables."""
    document = docx.Document()
    properties = document.core_properties
    properties.author, properties.comments, properties.language = PUBLISHER, "", "en"
    properties.created = properties.modified = MADE_ON
    for part in parts_of(text):
        if part.kind == "title":
            properties.title = part.lines[0]
        _add_to_docx(document, part)
    written = io.BytesIO()
    document.save(written)
    return _with_fixed_times(written.getvalue())


def _add_to_docx(document: docx.document.Document, part: Part) -> None:
    if part.kind == "row":
        _add_table(document, [cells_of(row) for row in part.lines])
    elif part.kind == "step":
        for line in part.lines:
            document.add_paragraph(line, style="List Number")
    elif part.kind == "text":
        document.add_paragraph(part.lines[0])
    else:
        document.add_heading(part.lines[0], level=1 if part.kind == "title" else 2)


def _add_table(document: docx.document.Document, rows: list[list[str]]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    header = OxmlElement("w:tblHeader")
    table.rows[0]._tr.get_or_add_trPr().append(header)  # noqa: SLF001 - no public way to mark it


def _with_fixed_times(data: bytes) -> bytes:
    """The same archive with one date for all members, so that the bytes tell nothing of the clock."""
    rewritten = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(rewritten, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(member, source.read(name))
    return rewritten.getvalue()


def pdf_bytes(text: str, *, two_columns: bool) -> bytes:
    """A PDF in one or two columns with drawn tables, uncompressed so that its bytes are stable."""
    written = io.BytesIO()
    parts = list(parts_of(text))
    document = BaseDocTemplate(
        written,
        pagesize=A4,
        title=parts[0].lines[0],
        author=PUBLISHER,
        lang="en",
        invariant=1,
        pageCompression=0,
    )
    document.addPageTemplates(PageTemplate(frames=_frames(two_columns=two_columns)))
    document.build([flowable for part in parts for flowable in _flowables(part)])
    return written.getvalue()


def _frames(*, two_columns: bool) -> list[Frame]:
    width, height = A4
    margin, gap = 2 * cm, 0.8 * cm
    columns = 2 if two_columns else 1
    column = (width - 2 * margin - (columns - 1) * gap) / columns
    return [
        Frame(margin + index * (column + gap), margin, column, height - 2 * margin)
        for index in range(columns)
    ]


def _flowables(part: Part) -> Iterator[Flowable]:
    if part.kind == "row":
        yield _pdf_table([cells_of(row) for row in part.lines])
        yield Spacer(1, 8)
    elif part.kind == "step":
        for number, line in enumerate(part.lines, start=1):
            yield Paragraph(f"{number}. {line}", _BODY)
    else:
        style = {"title": _TITLE, "heading": _HEADING, "text": _BODY}[part.kind]
        yield Paragraph(part.lines[0], style)


def _pdf_table(rows: list[list[str]]) -> Table:
    style = [
        ("GRID", (0, 0), (-1, -1), 0.5, grey),
        ("BACKGROUND", (0, 0), (-1, 0), whitesmoke),
        ("FONT", (0, 0), (-1, -1), "Helvetica", 10),
    ]
    return Table(rows, colWidths=[5 * cm] * len(rows[0]), hAlign="LEFT", repeatRows=1, style=style)


def make_files(folder: Path) -> list[Path]:
    """Write all files into ``folder``, which is made if it is not there; their paths, sorted."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for source in sorted(TEXTS.glob("*.txt")):
        text = source.read_text(encoding="utf-8")
        path = folder / source.stem
        if path.suffix == ".docx":
            path.write_bytes(docx_bytes(text))
        else:
            path.write_bytes(pdf_bytes(text, two_columns=path.name in TWO_COLUMNS))
        made.append(path)
    return made


if __name__ == "__main__":
    make_files(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
