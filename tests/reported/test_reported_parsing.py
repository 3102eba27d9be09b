"""Problems of reading files that users of comparable products reported; see docs/reported_problems.md."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from evidencedesk import Desk, Principal, Settings
from evidencedesk.adapters.parsers.pdf import PdfParser
from evidencedesk.model import IngestReport

ADMINISTRATOR = Principal(administrator=True)
WITHOUT_MODEL = Settings.model_validate(
    {"embedding": {"model": "none"}, "ingestion": {"ocr": "off"}, "retrieval": {"threshold": 0.0}}
)


def ingested(tmp_path: Path, files: dict[str, bytes]) -> tuple[Desk, IngestReport]:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    desk = Desk.open(tmp_path / "a.desk", settings=WITHOUT_MODEL, create=True)
    return desk, desk.ingest(folder)


def text_of(desk: Desk, document_id: str) -> str:
    return desk.document(document_id, principal=ADMINISTRATOR).text


MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov"]


@pytest.mark.parametrize("kind", ["md", "csv", "html", "pdf"])
def test_ragflow_10644_no_cell_of_a_wide_table_is_lost_or_merged(tmp_path: Path, kind: str) -> None:
    rows = [["plan", *MONTHS]] + [
        [f"plan{row}", *(f"{row}{column:02d}.5" for column in range(11))] for row in range(6)
    ]
    made = {
        "md": "\n".join(
            "| " + " | ".join(row) + " |" + ("\n" + "|--" * 12 + "|" if not number else "")
            for number, row in enumerate(rows)
        ).encode(),
        "csv": "\n".join(",".join(row) for row in rows).encode(),
        "html": (
            "<table>" + "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) for row in rows)
        ).encode(),
        "pdf": drawn_table(rows),
    }
    desk, report = ingested(tmp_path, {f"table.{kind}": made[kind]})
    assert report.failed == ()
    (record,) = desk.documents(principal=ADMINISTRATOR)
    document = desk.document(record.id, principal=ADMINISTRATOR)
    blocks = [document.text[b.start : b.end] for b in document.blocks]
    for row in rows[1:]:
        (own,) = (block for block in blocks if row[0] in block)
        places = [own.index(cell) for cell in row]
        assert places == sorted(places)
        assert not any(other[5] in own for other in rows[1:] if other is not row)
    chunk = next(hit.chunk for hit in desk.search("plan3 dec", principal=ADMINISTRATOR))
    assert "plan3" in chunk.text


def drawn_table(rows: list[list[str]]) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.setFont("Helvetica", 8)
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            canvas.drawString(40 + 44 * column, 700 - 14 * number, cell)
    canvas.save()
    return file.getvalue()


def typed_from_the_right(visual: str) -> bytes:
    """A PDF that draws ``visual`` from left to right, as programs draw Arabic and Hebrew."""
    codes = dict.fromkeys(visual)
    number = {char: index + 0x41 for index, char in enumerate(codes)}
    mapping = "".join(f"<{number[c]:02x}> <{ord(c):04x}>\n" for c in codes)
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /a def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{mapping}endbfchar endcmap end end"
    )
    text = "".join(f"{number[c]:02x}" for c in visual)
    content = f"BT /F 12 Tf 72 700 Td <{text}> Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
        f"<</Length {len(cmap)}>>stream\n{cmap}\nendstream",
    ]
    made, places = b"%PDF-1.7\n", []
    for index, body in enumerate(objects, start=1):
        places.append(len(made))
        made += f"{index} 0 obj\n{body}\nendobj\n".encode("latin-1")
    rows = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    table = f"xref\n0 {size}\n0000000000 65535 f \n{rows}trailer\n<</Size {size}/Root 1 0 R>>\n"
    return made + f"{table}startxref\n{len(made)}\n%%EOF\n".encode()


@pytest.mark.parametrize(
    ("visual", "logical"),
    [("12.5 ריחמה", "המחיר 12.5"), ("31 דע", "עד 31"), ("2024 ماعلا", "العام 2024")],
)
def test_ragflow_4675_lines_from_the_right_read_in_logical_order(visual: str, logical: str) -> None:
    parsed = PdfParser().parse(typed_from_the_right(visual), "a.pdf")
    assert parsed.text == logical


CELLS = {
    "with": '<c r="A1" t="inlineStr"><is><t>total</t></is></c><c r="B1"><f>2+3</f><v>5</v></c>',
    "without": '<c r="A1" t="inlineStr"><is><t>total</t></is></c><c r="B1"><f>2+3</f></c>',
}


@pytest.mark.parametrize("stored", sorted(CELLS))
def test_ragflow_2406_cells_show_stored_values_instead_of_formulas(
    tmp_path: Path, stored: str
) -> None:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packed = "http://schemas.openxmlformats.org/package/2006/relationships"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("_rels/.rels", f'<Relationships xmlns="{packed}"><Relationship Id="r" Type="{related}/officeDocument" Target="xl/workbook.xml"/></Relationships>')  # fmt: skip
        book.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{related}"><sheets><sheet name="S" sheetId="1" r:id="s"/></sheets></workbook>')  # fmt: skip
        book.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{packed}"><Relationship Id="s" Type="{related}/worksheet" Target="s.xml"/></Relationships>')  # fmt: skip
        book.writestr("xl/s.xml", f'<worksheet xmlns="{main}"><sheetData><row r="1">{CELLS[stored]}</row></sheetData></worksheet>')  # fmt: skip
    desk, report = ingested(tmp_path, {"a.xlsx": file.getvalue()})
    text = text_of(desk, "a")
    if stored == "with":
        assert "2+3" not in text
        assert text.endswith("total | 5")
        assert report.warnings == ()
    else:
        assert any("formula" in warning for warning in report.warnings)


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.csv", "a.html", "a.jsonl"])
def test_open_webui_1161_a_nul_byte_breaks_neither_file_nor_index(
    tmp_path: Path, name: str
) -> None:
    desk, report = ingested(
        tmp_path, {name: b"The fee is\x00 40 euros.\n\nAnd more\x00\n", "b.md": b"Fine.\n"}
    )
    assert report.failed == ()
    assert "40 euros" in text_of(desk, "a")
    assert desk.search("fee", principal=ADMINISTRATOR)
    assert all(finding.ok for finding in desk.doctor() if finding.check == "index")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ods", None),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256))),
        ("a", b"\x7fELF" + bytes(200)),
        ("a.dat", bytes(range(256)) * 4),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(range(256))),
    ],
)
def test_open_webui_15127_binary_files_are_refused_by_what_they_are(
    tmp_path: Path, name: str, data: bytes | None
) -> None:
    if data is None:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as book:
            book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            book.writestr("content.xml", "<a/>")
        data = file.getvalue()
    desk, report = ingested(tmp_path, {name: data})
    (failure,) = report.failed
    assert failure.code == "unsupported"
    assert desk.documents(principal=ADMINISTRATOR) == ()


def drawn(*pages: str, **options: object) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, **options)
    for text in pages:
        if text:
            canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def test_gaia_451_a_pdf_that_cannot_be_read_says_why_and_is_not_indexed(tmp_path: Path) -> None:
    whole = drawn("The first page.", "", "The third page.")
    desk, report = ingested(
        tmp_path,
        {
            "encrypted.pdf": drawn("x", encrypt=StandardEncryption("secret")),
            "images.pdf": drawn("", ""),
            "truncated.pdf": whole[:300],
            "one_blank.pdf": whole,
        },
    )
    codes = {failure.source: failure.code for failure in report.failed}
    assert codes == {
        "encrypted.pdf": "encrypted",
        "images.pdf": "no_text",
        "truncated.pdf": "damaged",
    }
    assert [record.id for record in desk.documents(principal=ADMINISTRATOR)] == ["one_blank"]
    assert report.warnings == ("one_blank.pdf: 1 of 3 pages have no text (page 2)",)
    entries = {entry.source: entry.details["status"] for entry in desk.log(principal=ADMINISTRATOR)}
    assert entries["one_blank.pdf"] == "partly"


def test_anything_llm_819_a_chinese_name_is_found(tmp_path: Path) -> None:
    file = io.BytesIO()
    pdfmetrics.registerFont(UnicodeCIDFont("MSung-Light"))
    canvas = Canvas(file)
    canvas.setFont("MSung-Light", 12)
    canvas.drawString(72, 700, "會議由陳美玲主持，時間是星期三下午。")
    canvas.save()
    desk, _ = ingested(tmp_path, {"a.pdf": file.getvalue(), "b.md": "其他的文件。\n".encode()})
    (hit,) = desk.search("陳美玲", principal=ADMINISTRATOR)
    assert hit.chunk.document_id == "a"
