from __future__ import annotations

import io
import stat
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from reading_back import assert_blocks_cover, document_of
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from test_parsers_pdf import drawn

from evidencedesk.adapters.parsers import tesseract
from evidencedesk.adapters.parsers.pdf_ocr import OcrPdfParser, words_of
from evidencedesk.errors import ParseError
from evidencedesk.model import Locator, Span

HEAD = (
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
)
TABLE = "\n".join(
    [
        HEAD,
        "1\t1\t0\t0\t0\t0\t0\t0\t1654\t2339\t-1\t",
        "5\t1\t1\t1\t1\t1\t200\t200\t400\t50\t96.5\tRefunds",
        "5\t1\t1\t1\t1\t2\t620\t200\t200\t50\t90.5\twithin",
        "5\t1\t1\t1\t2\t1\t200\t270\t300\t50\t83.0\t30",
        "5\t1\t1\t1\t2\t2\t520\t270\t300\t50\t3.0\tgarbage",
    ]
)


def scanned(*pages: str) -> bytes:
    """Pages that are pictures of these lines; a blank line is a page with nothing on it."""
    file = io.BytesIO()
    canvas = Canvas(file)
    for line in pages:
        if line:
            page = pdfium.PdfDocument(drawn([[(72, 120, 24, line)]]))[0]
            picture = io.BytesIO()
            page.render(scale=2, grayscale=True).to_pil().save(picture, "PNG")
            canvas.drawImage(ImageReader(picture), 0, 0, 595, 842)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in tesseract's place that answers with a table; the real one is tried below."""
    made = tmp_path / "tesseract"
    (tmp_path / "table.tsv").write_text(TABLE)
    made.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --list-langs ]; then printf "List:\\neng\\nosd\\n"; exit; fi\n'
        f"cat > {tmp_path}/asked.pgm; cat {tmp_path}/table.tsv\n"
    )
    made.chmod(made.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tesseract.models.cache_clear()
    yield made  # type: ignore[misc]
    tesseract.models.cache_clear()


def test_words_come_with_line_confidence_and_box() -> None:
    words = list(words_of(TABLE))
    assert [word.text for word in words] == ["Refunds", "within", "30", "garbage"]
    assert words[0].line == words[1].line != words[2].line
    assert (words[0].left, words[0].confidence) == (200, 96.5)
    assert list(words_of("")) == list(words_of("no\ttable\nat\tall")) == []


def test_a_page_without_text_is_read_and_said_to_be(program: Path) -> None:
    assert tesseract.languages() == "eng"
    parsed = OcrPdfParser().parse(scanned("Anything at all"), "a.pdf")
    assert_blocks_cover(parsed)
    assert parsed.text == "Refunds within\n30"
    assert parsed.warnings == (
        "1 of 1 pages were read by OCR and may be misread; confidence page 1: 90 %",
    )
    assert not parsed.partial
    assert (program.parent / "asked.pgm").read_bytes().startswith(b"P5 1654 2339 255\n")
    (box,) = Locator(document_of(parsed)).locate(Span(0, 7)).boxes
    assert (box.x0, box.y0) == pytest.approx((72, 72), abs=0.5)
    assert (box.x1, box.y1) == pytest.approx((216, 90), abs=0.5)


def test_pages_with_text_and_blank_pages_are_not_handed_over(program: Path) -> None:
    parsed = OcrPdfParser().parse(drawn([[(72, 100, 12, "Real text")], []]), "a.pdf")
    assert parsed.text == "Real text"
    assert not (program.parent / "asked.pgm").exists()
    assert parsed.warnings == ("1 of 2 pages have no text (page 2)",)


def test_a_low_confidence_makes_a_document_partly_read(program: Path) -> None:
    (program.parent / "table.tsv").write_text(TABLE.replace("96.5", "40").replace("90.5", "50"))
    assert OcrPdfParser().parse(scanned("Anything"), "a.pdf").partial


@pytest.mark.parametrize("script", ["exit 3", "echo nothing", "head -c 999 /dev/urandom"])
def test_a_program_that_fails_leaves_the_page_without_text(program: Path, script: str) -> None:
    program.write_text(
        '#!/bin/sh\nif [ "$1" = --list-langs ]; then printf "L:\\neng\\n"; exit; fi\n'
        f"cat > /dev/null; {script}\n"
    )
    with pytest.raises(ParseError) as caught:
        OcrPdfParser().parse(scanned("Anything"), "a.pdf")
    assert caught.value.code == "no_text"


def test_the_real_program_reads_what_a_person_reads() -> None:
    """Where tesseract is not installed the page has no text, and says so."""
    tesseract.models.cache_clear()
    data = scanned("Refunds within thirty days", "")
    if "eng" not in tesseract.languages():
        with pytest.raises(ParseError) as caught:
            OcrPdfParser().parse(data, "a.pdf")
        assert caught.value.code == "no_text"
        return
    parsed = OcrPdfParser().parse(data, "a.pdf")
    assert parsed.text == "Refunds within thirty days"
    assert parsed.warnings[0] == "1 of 2 pages have no text (page 2)"
    assert "1 of 2 pages were read by OCR" in parsed.warnings[1]
