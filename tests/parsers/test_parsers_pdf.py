from __future__ import annotations

import io
from collections.abc import Sequence

import pdfplumber
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_back import assert_blocks_cover, document_of, located_blocks
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

from evidencedesk.adapters.parsers.pdf import PdfParser
from evidencedesk.errors import ParseError
from evidencedesk.model import BlockKind, Location, Locator, ParsedDocument, Span

PARSER = PdfParser()
# Where the origin goes so that text turned against the page's rotation stands upright.
UPRIGHT = {0: (0, 0), 90: (A4[1], 0), 180: A4, 270: (0, A4[0])}
SENTENCE = "Refunds reach the customer within five business days of the return."


def drawn(
    pages: Sequence[Sequence[tuple[float, float, float, str]]],
    *,
    rotation: int = 0,
    **options: object,
) -> bytes:
    """Pages of lines, each (x, distance from the top, size of type, text)."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, **options)
    for lines in pages:
        canvas.setPageRotation(rotation)
        canvas.saveState()
        canvas.translate(*UPRIGHT[rotation])
        canvas.rotate(rotation)
        for x, top, size, text in lines:
            canvas.setFont("Helvetica", size)
            canvas.drawString(x, A4[1] - top, text)
        canvas.restoreState()
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def parse(data: bytes) -> ParsedDocument:
    return PARSER.parse(data, "a.pdf")


def texts(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[block.start : block.end] for block in parsed.blocks]


def read_at(pdf: pdfplumber.PDF, location: Location) -> str:
    """The characters whose middle lies in one of the boxes, box after box, spaces left out."""
    found = []
    for box in location.boxes:
        page = pdf.pages[box.page - 1]
        inside = [
            char["text"]
            for char in page.chars
            if box.x0 <= (char["x0"] + char["x1"]) / 2 <= box.x1
            and box.y0 <= (char["top"] + char["bottom"]) / 2 <= box.y1
        ]
        found.append("".join(inside))
    return "".join("".join(found).split())


WORDS = st.text(st.sampled_from("abcdefgXYZ0123.,()"), min_size=2, max_size=12).filter(
    lambda word: any(char.isalnum() for char in word)
)
LINES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
PAGES = st.lists(st.lists(LINES, min_size=1, max_size=8), min_size=1, max_size=3)


@settings(max_examples=30)
@given(PAGES, st.sampled_from([0, 90, 180, 270]), st.sampled_from([9, 12, 15]))
def test_every_block_is_found_again_in_its_boxes(
    pages: list[list[str]], rotation: int, size: int
) -> None:
    data = drawn(
        [
            [(72, 72 + 2 * size * row, size, line) for row, line in enumerate(lines)]
            for lines in pages
        ],
        rotation=rotation,
    )
    parsed = parse(data)
    assert_blocks_cover(parsed)
    with pdfplumber.open(io.BytesIO(data)) as pdf:
        for page, span in zip(pdf.pages, parsed.pages, strict=True):
            assert (span.width, span.height) == pytest.approx((page.width, page.height), abs=0.01)
        _assert_boxes_on_page(parsed)
        for text, location in located_blocks(parsed):
            assert read_at(pdf, location) == "".join(text.split())


def _assert_boxes_on_page(parsed: ParsedDocument) -> None:
    for _, location in located_blocks(parsed):
        assert location.boxes
        for box in location.boxes:
            page = parsed.pages[box.page - 1]
            assert 0 <= box.x0 < box.x1 <= page.width
            assert 0 <= box.y0 < box.y1 <= page.height


@pytest.mark.parametrize(
    "rotation",
    [0, 90, 180, 270],
)
def test_boxes_turn_with_the_page(rotation: int) -> None:
    parsed = parse(drawn([[(20, 30, 12, "top left as seen")]], rotation=rotation))
    ((_, location),) = located_blocks(parsed)
    (box,) = location.boxes
    assert (box.x0, box.y1) == pytest.approx((20, 32.5), abs=1)


def test_a_span_of_words_gets_the_box_of_those_words() -> None:
    data = drawn([[(72, 100, 12, "alpha beta gamma"), (72, 114, 12, "delta epsilon")]])
    parsed = parse(data)
    start = parsed.text.index("gamma")
    location = Locator(document_of(parsed)).locate(
        Span(start, parsed.text.index("delta") + len("delta"))
    )
    with pdfplumber.open(io.BytesIO(data)) as pdf:
        assert read_at(pdf, location) == "gammadelta"
    assert len(location.boxes) == 2
    assert location.label == "page 1"


def test_columns_come_one_after_the_other_and_sentences_run_on() -> None:
    file = io.BytesIO()
    template = BaseDocTemplate(file, pagesize=A4)
    frames = [Frame(72, 600, 200, 150, id="left"), Frame(300, 600, 200, 150, id="right")]
    template.addPageTemplates(PageTemplate(frames=frames))
    style = getSampleStyleSheet()["BodyText"]
    words = " ".join(f"word{number}" for number in range(150))
    template.build([Paragraph(words + ".", style)])
    parsed = parse(file.getvalue())
    numbers = [int(word.removeprefix("word").rstrip(".")) for word in parsed.text.split()]
    assert numbers == sorted(numbers)
    assert len(parsed.blocks) == 1


def test_paragraphs_lists_and_headings() -> None:
    lines = [(72, 80, 20, "Refund policy")]
    lines += [(72, 120 + 14 * row, 11, f"{SENTENCE} line {row}") for row in range(4)]
    lines += [(72, 200, 11, "Second paragraph begins after a gap."), (72, 214, 11, "It ends here.")]
    lines += [(72, 250, 11, "1. first step"), (72, 264, 11, "2. second step")]
    parsed = parse(drawn([lines]))
    kinds = [block.kind for block in parsed.blocks]
    assert kinds == [
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.PARAGRAPH,
        BlockKind.LIST_ITEM,
        BlockKind.LIST_ITEM,
    ]
    assert all(block.heading == ("Refund policy",) for block in parsed.blocks)
    assert parsed.blocks[3].group == parsed.blocks[4].group > 0


def test_large_type_everywhere_is_no_heading() -> None:
    parsed = parse(drawn([[(72, 100, 24, "Slide one"), (72, 200, 12, "a")]]))
    assert BlockKind.HEADING not in [block.kind for block in parsed.blocks]


def test_the_outline_says_what_is_a_heading() -> None:
    file = io.BytesIO()
    canvas = Canvas(file)
    for level, title in enumerate(["Fees", "Late fees"]):
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title, level)
        canvas.drawString(72, 700, title)
        canvas.drawString(72, 650, SENTENCE)
        canvas.showPage()
    canvas.save()
    parsed = parse(file.getvalue())
    assert [block.heading for block in parsed.blocks][-1] == ("Fees", "Late fees")
    assert [block.level for block in parsed.blocks] == [1, 0, 2, 0]


def test_pages_without_text_are_named() -> None:
    parsed = parse(drawn([[(72, 100, 12, SENTENCE)], [], [(72, 100, 12, SENTENCE)]]))
    assert parsed.partial
    assert parsed.warnings == ("1 of 3 pages have no text (page 2)",)
    assert [page.number for page in parsed.pages] == [1, 2, 3]
    assert parsed.pages[1].start == parsed.pages[1].end
    assert [location.page for _, location in located_blocks(parsed)] == [1, 3]


def test_a_word_broken_at_a_line_end_keeps_its_hyphen_and_its_line_end() -> None:
    parsed = parse(drawn([[(72, 100, 12, "an inter-"), (72, 114, 12, "national rule")]]))
    assert parsed.text == "an inter-\nnational rule"
    ((_, location),) = located_blocks(parsed)
    assert len(location.boxes) == 2


def encrypted() -> bytes:
    return drawn([[(72, 100, 12, "secret")]], encrypt=StandardEncryption("open sesame"))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (encrypted(), "encrypted"),
        (b"", "damaged"),
        (b"%PDF-1.7\nnot much of one", "damaged"),
        (drawn([[(72, 100, 12, "x")]])[:400], "damaged"),
        (drawn([[], []]), "no_text"),
    ],
)
def test_files_that_cannot_be_read_say_why(data: bytes, code: str) -> None:
    with pytest.raises(ParseError, match=r"^a\.pdf: ") as caught:
        parse(data)
    assert caught.value.code == code


def test_a_title_that_is_none_is_none() -> None:
    def titled(title: str) -> bytes:
        file = io.BytesIO()
        canvas = Canvas(file)
        canvas.setTitle(title)
        canvas.drawString(72, 700, SENTENCE)
        canvas.save()
        return file.getvalue()

    assert parse(titled("Student handbook")).title == "Student handbook"
    for junk in ("untitled", "Microsoft Word - x.doc", "handbook_final.docx"):
        assert parse(titled(junk)).title is None


def test_only_restricted_files_are_read() -> None:
    restricted = StandardEncryption("", ownerPassword="owner", canCopy=0)
    assert texts(parse(drawn([[(72, 100, 12, "open to read")]], encrypt=restricted))) == [
        "open to read"
    ]
