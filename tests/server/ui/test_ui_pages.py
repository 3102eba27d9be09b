"""PDF pages: the picture is the page, and a box lies where the ink of the quoted words is."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from evidencedesk.adapters.pages.child import draw, png
from evidencedesk.adapters.pages.pdf import PageRenderer
from evidencedesk.adapters.parsers.pdf import PdfParser
from evidencedesk.errors import ParseError
from evidencedesk.model import Document, Span
from evidencedesk.server.ui.page_view import pages_view

HANDBOOK = Path(__file__).parents[3] / "samples/academy/documents/student-handbook.pdf"
WORDS = "There are no live sessions"


@pytest.fixture(scope="module")
def handbook() -> Document:
    parsed = PdfParser().parse(HANDBOOK.read_bytes(), "handbook.pdf")
    return Document(
        id="handbook",
        text=parsed.text,
        blocks=parsed.blocks,
        media_type=parsed.media_type,
        first_line=None,
        pages=parsed.pages,
        page_boxes=parsed.page_boxes,
    )


@pytest.fixture(scope="module")
def renderer() -> PageRenderer:
    return PageRenderer(seconds=10)


def one_page(width: float = 300, height: float = 200, rotate: int = 0) -> bytes:
    kept = io.BytesIO()
    canvas = Canvas(kept, pagesize=(width, height))
    canvas.setPageRotation(rotate)
    canvas.setFillColorRGB(1, 0, 0)
    canvas.rect(0, 0, 30, 20, stroke=0, fill=1)
    canvas.showPage()
    canvas.save()
    return kept.getvalue()


def test_the_box_of_a_quote_holds_its_ink_and_nothing_beside_it(
    handbook: Document, renderer: PageRenderer
) -> None:
    at = handbook.text.index(WORDS)
    view = pages_view(handbook, [Span(at, at + len(WORDS))], page=None, most=1)
    (page,) = view.pages
    (box,) = page.boxes
    picture = renderer.render(HANDBOOK.read_bytes(), "handbook", page.number, 1240)
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("L"))
    scale = pixels.shape[1] / page.width
    assert pixels.shape[0] == pytest.approx(page.height * scale, abs=1)
    x0, y0, x1, y1 = (round(edge * scale) for edge in (box.x0, box.y0, box.x1, box.y1))
    inside = pixels[y0:y1, x0:x1]
    assert (inside < 100).mean() > 0.05
    left = pixels[y0:y1, x0 - 12 : x0 - 2]
    assert (left < 100).sum() == 0
    assert "".join(piece.text for piece in page.pieces if piece.hit) == WORDS


def test_pages_follow_one_another(handbook: Document) -> None:
    first = pages_view(handbook, [], page=None, most=1)
    assert (first.earlier, first.later) == (None, 2)
    last = pages_view(handbook, [], page=first.total, most=1)
    assert (last.earlier, last.later) == (first.total - 1, None)
    assert pages_view(handbook, [], page=99, most=1).pages[0].number == 1


def test_a_picture_is_a_png_of_the_page_as_it_is_seen(renderer: PageRenderer) -> None:
    upright = Image.open(io.BytesIO(renderer.render(one_page(), "a", 1, 600)))
    assert upright.size == (600, 400)
    assert upright.getpixel((10, 390)) == (255, 0, 0)
    assert upright.getpixel((300, 100)) == (255, 255, 255)
    turned = Image.open(io.BytesIO(renderer.render(one_page(rotate=90), "b", 1, 400)))
    assert turned.size == (400, 267)  # what reportlab turns is the page, not its size
    assert turned.getpixel((10, 10)) == (255, 0, 0)


@pytest.mark.parametrize("colour", [True, False])
def test_png_keeps_every_pixel(colour: bool) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (17, 23, 3), dtype=np.uint8)
    if not colour:
        pixels = np.repeat(pixels[:, :, :1], 3, axis=2)
    read = Image.open(io.BytesIO(png(pixels)))
    assert read.mode == ("RGB" if colour else "L")
    assert (np.asarray(read.convert("RGB")) == pixels).all()


def test_what_was_drawn_is_kept_within_its_limit() -> None:
    renderer = PageRenderer(kept_bytes=1)
    renderer.render(one_page(), "a", 1, 100)
    assert renderer.kept("a", 1, 100) is not None
    renderer.render(one_page(), "b", 1, 100)
    assert renderer.kept("a", 1, 100) is None
    assert renderer.kept("b", 1, 100) is not None


@pytest.mark.parametrize(
    ("data", "page"),
    [(b"%PDF-1.7 not really", 1), (b"", 1), (one_page(), 2), (one_page(1, 2_000), 1)],
)
def test_a_page_that_cannot_be_drawn_is_an_error_of_ours(
    renderer: PageRenderer, data: bytes, page: int
) -> None:
    with pytest.raises(ParseError) as raised:
        renderer.render(data, "x", page, 100)
    assert raised.value.code == "damaged"


def test_drawing_ends_when_its_time_or_memory_does() -> None:
    with pytest.raises(ParseError) as late:
        PageRenderer(seconds=0).render(one_page(), "x", 1, 100)
    assert late.value.code == "timeout"
    with pytest.raises(ParseError) as large:
        PageRenderer(memory_bytes=200 << 20).render(one_page(), "x", 1, 20_000)
    assert large.value.code == "damaged"


def test_a_drawn_page_has_three_colours() -> None:
    assert draw(one_page(), 1, 30).shape == (20, 30, 3)
