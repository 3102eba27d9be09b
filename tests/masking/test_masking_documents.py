from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pdfplumber
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import planted
from reportlab.pdfgen.canvas import Canvas

from evidencedesk import Desk, Principal
from evidencedesk.adapters.detectors.patterns import EmailDetector
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.adapters.parsers.pdf import PdfParser
from evidencedesk.ingestion.masking import Masker, mask_document
from evidencedesk.model import Document, Locator, Span
from evidencedesk.settings import Settings

ADMINISTRATOR = Principal(administrator=True)
STAFF = Principal(roles=frozenset({"staff"}))
EMAIL = [EmailDetector()]


def settings(**masking: object) -> Settings:
    return Settings.model_validate({"embedding": {"model": "none"}, "masking": masking})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


def desk_of(tmp_path: Path, **masking: object) -> Desk:
    return Desk.open(tmp_path / "a.desk", settings=settings(**masking), create=True)


ADDRESSES = st.sampled_from(["a@x.org", "bb@yy.example", "ccc.d@z.example"])
PARTS = st.lists(st.one_of(st.text("ab \n#-", max_size=8), ADDRESSES), max_size=12).map(" ".join)


@given(PARTS)
def test_masked_documents_keep_lines_blocks_and_what_is_between(text: str) -> None:
    parsed = MarkdownParser().parse(text.encode(), "a.md")
    masked = mask_document(parsed, EMAIL)
    assert masked.text == Masker(EMAIL).mask(parsed.text)
    assert not Masker(EMAIL).spans(masked.text)
    assert masked.text.count("\n") == parsed.text.count("\n")
    pairs = list(zip(parsed.blocks, masked.blocks, strict=True))
    shared = Masker(EMAIL)
    shared.mask(parsed.text)
    for before, after in pairs:
        assert masked.text[after.start : after.end] == shared.mask(
            parsed.text[before.start : before.end]
        )


def test_the_same_value_has_the_same_name_and_headings_have_it_too() -> None:
    source = "# Write to a@x.org\n\nFirst b@x.org, then A@X.org.\n\n| a@x.org | b |\n|--|--|\n| 1 | c@x.org |\n"
    masked = mask_document(MarkdownParser().parse(source.encode(), "a.md"), EMAIL)
    assert masked.blocks[0].heading == ("Write to [EMAIL_1]",)
    assert "First [EMAIL_2], then [EMAIL_1]." in masked.text
    assert all("@" not in block.context for block in masked.blocks)
    assert masked.warnings == ("masked: 3 email",)


def test_places_in_a_pdf_lead_to_the_original() -> None:
    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.drawString(72, 700, "Ask jana.kowalska@mail.example.org about the fee.")
    canvas.drawString(72, 640, "The last line of all.")
    canvas.save()
    masked = mask_document(PdfParser().parse(file.getvalue(), "a.pdf"), EMAIL)
    document = Document(
        "d", masked.text, blocks=masked.blocks, pages=masked.pages, page_boxes=masked.page_boxes,
        first_line=None,
    )  # fmt: skip
    with pdfplumber.open(io.BytesIO(file.getvalue())) as pdf:
        for wanted, there in (
            ("[EMAIL_1]", "jana.kowalska@mail.example.org"),
            ("about the fee.", "about the fee."),
            ("The last line of all.", "The last line of all."),
        ):
            start = masked.text.index(wanted)
            (box,) = Locator(document).locate(Span(start, start + len(wanted))).boxes
            page = pdf.pages[0].crop((box.x0 - 1, box.y0 - 2, box.x1 + 1, box.y1 + 2))
            assert page.extract_text() == there


def files_under(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def spellings(value: str) -> set[bytes]:
    bare = "".join(filter(str.isalnum, value))
    return {
        each.encode(coding)
        for each in (value, value.lower(), bare, json.dumps(value).strip('"'))
        for coding in ("utf-8", "utf-16-le")
    }


def write_ten(folder: Path) -> list[str]:
    """Ten documents of several formats with every value in each; returns the values."""
    values = [value for each in planted().values() for value in each]
    lines = "\n\n".join(f"The number {n} of the list is {value}" for n, value in enumerate(values))
    for number in range(3):
        (folder / f"a{number}.md").write_text(
            f"# List {number}, {values[-4]}\n\n{lines}\n", "utf-8"
        )
        (folder / f"b{number}.txt").write_text(f"Notes {number}\n\n{lines}\n", "utf-8")
        (folder / f"c{number}.html").write_text(
            f"<title>{values[-4]}</title><h1>Page {number}</h1><p>{lines}</p>", "utf-8"
        )
    rows = "\n".join(f'{n},"{value}"' for n, value in enumerate(values))
    (folder / "d.csv").write_text(f"number,value\n{rows}\n", "utf-8")
    return values


def test_no_planted_value_is_in_any_file_that_is_written(tmp_path: Path, folder: Path) -> None:
    values = write_ten(folder)
    manifest = "defaults: {roles: [staff], mask: mask}\n"
    (folder / "evidencedesk-folder.yaml").write_text(manifest)
    (folder / "broken.md").write_text(f"---\nlang: {values[-4]}\n---\nx\n", "utf-8")
    with desk_of(tmp_path, identifiers=("us-ssn", "de-tax-id")) as desk:
        report = desk.ingest(folder)
        assert len(report.added) == 10
        records = desk.documents(principal=STAFF)
        assert all(record.masked for record in records)
        exported = [
            report.to_json(),
            *(vars_of(entry) for entry in desk.log(principal=ADMINISTRATOR)),
        ]
        for question in ("What is the number 3 of the list?", f"Who is {WORDLESS}?"):
            answer = desk.explain(question, principal=STAFF)
            exported += [repr(answer), answer.answer.to_json()]
        for record in records:
            document = desk.document(record.id, principal=STAFF)
            exported += [document.text, document.title, repr(document.blocks), repr(record)]
            assert document.text.count("[CARD_") >= 1
    (tmp_path / "exported.json").write_text(json.dumps(exported, default=str), "utf-8")
    written = [path for path in files_under(tmp_path) if folder not in path.parents]
    assert any(path.name == "index.sqlite3" for path in written)
    for path in written:
        data = path.read_bytes().lower()
        for value in values:
            for spelling in spellings(value):
                assert spelling.lower() not in data, (path.name, value)


WORDLESS = "the person to write to"


def vars_of(entry: object) -> str:
    return repr(entry)


def test_a_folder_can_refuse_and_a_document_can_ask(tmp_path: Path, folder: Path) -> None:
    strict, asks, plain = folder / "strict", folder / "asks", folder / "plain"
    for each in (strict, asks, plain):
        each.mkdir()
        (each / "a.md").write_text("Write to a@x.org.\n")
    (strict / "evidencedesk-folder.yaml").write_text("defaults: {mask: refuse}\n")
    (asks / "a.md").write_text("---\nmask: email\n---\nWrite to a@x.org, 203.0.113.77.\n")
    with desk_of(tmp_path) as desk:
        report = desk.ingest(folder)
        assert [each.code for each in report.refused] == ["refused"]
        assert "a@x.org" not in report.refused[0].message
        texts = {r.source: desk.document(r.id, principal=ADMINISTRATOR).text for r in desk.documents(principal=ADMINISTRATOR)}  # fmt: skip
    assert texts["asks/a.md"].strip() == "Write to [EMAIL_1], 203.0.113.77."
    assert texts["plain/a.md"].strip() == "Write to a@x.org."


def test_a_document_cannot_free_itself_from_masking(tmp_path: Path, folder: Path) -> None:
    (folder / "a.md").write_text("---\nmask: none\n---\nWrite to a@x.org.\n")
    with desk_of(tmp_path, default="mask") as desk:
        desk.ingest(folder)
        (record,) = desk.documents(principal=ADMINISTRATOR)
        assert "a@x.org" not in desk.document(record.id, principal=ADMINISTRATOR).text


def test_an_unknown_policy_fails_closed(tmp_path: Path, folder: Path) -> None:
    (folder / "a.md").write_text("Write to a@x.org.\n")
    (folder / "evidencedesk-folder.yaml").write_text("defaults: {mask: emails}\n")
    with desk_of(tmp_path) as desk:
        report = desk.ingest(folder)
    assert [each.code for each in report.failed] == ["bad_mask"]


LINE = "Questions about the refund of a bike go to a@x.org in Graz.\n"


@pytest.mark.parametrize(
    "then", [LINE, "Questions go to Graz.\n", f"---\nid: renamed\n---\n{LINE}"]
)
def test_masking_that_is_switched_on_forgets_what_was_read_before(
    tmp_path: Path, folder: Path, then: str
) -> None:
    """Also where the value is edited out, or the id changes, at the same time; in receipts, too."""
    (folder / "a.md").write_text(LINE)
    with desk_of(tmp_path) as desk:
        desk.ingest(folder, roles={"staff"})
        asked = desk.ask("Where do questions about the refund of a bike go?", principal=STAFF)
        assert "a@x.org" in asked.text
        (folder / "evidencedesk-folder.yaml").write_text("defaults: {mask: mask}\n")
        (folder / "a.md").write_text(then)
        desk.ingest(folder, roles={"staff"})
        (record,) = desk.documents(principal=ADMINISTRATOR)
        assert desk.history(record.id, principal=ADMINISTRATOR) == ()
        (folder / "a.md").write_text(then.replace("Graz", "Linz"))
        assert len(desk.ingest(folder, roles={"staff"}).changed) == 1
        assert len(desk.history(record.id, principal=ADMINISTRATOR)) == 1
    texts = sqlite3.connect(tmp_path / "a.desk" / "index.sqlite3").iterdump()
    assert not any("a@x.org" in line for line in texts)


def test_quotes_of_masked_documents_verify(tmp_path: Path, folder: Path) -> None:
    (folder / "a.md").write_text("# Fees\n\nThe fee of 40 euros is refunded by a@x.org in May.\n")
    with desk_of(tmp_path, default="mask") as desk:
        desk.ingest(folder, roles={"staff"})
        answer = desk.ask("How is the fee of 40 euros refunded in May?", principal=STAFF)
    assert not answer.abstained
    assert "[EMAIL_1]" in answer.text
