from __future__ import annotations

import pytest
from packages import presentation, shape
from reading_back import assert_blocks_cover, located_blocks

from evidencedesk.adapters.parsers.slides import PptxParser
from evidencedesk.errors import ParseError
from evidencedesk.model import ParsedDocument


def parse(data: bytes) -> ParsedDocument:
    parsed = PptxParser().parse(data, "a.pptx")
    assert_blocks_cover(parsed)
    return parsed


def test_text_stands_on_its_slide_under_its_title():
    parsed = parse(
        presentation(
            shape("Budget", kind="title") + shape("We spend less.") + shape("7", kind="sldNum"),
            shape("No title here."),
        )
    )
    places = dict(located_blocks(parsed))
    assert places["We spend less."].label == "Budget, slide 1"
    assert places["No title here."].label == "slide 2"
    assert "7" not in places


def test_a_slide_that_is_only_a_title_can_still_be_found():
    places = dict(located_blocks(parse(presentation(shape("Closed on Mondays", kind="title")))))
    assert places["Closed on Mondays"].label == "slide 1"


def test_groups_tables_and_notes_are_read():
    def row(*cells: str) -> str:
        made = "".join(
            f"<a:tc><a:txBody><a:p><a:r><a:t>{cell}</a:t></a:r></a:p></a:txBody></a:tc>"
            for cell in cells
        )
        return f"<a:tr>{made}</a:tr>"

    table = f"<a:tbl>{row('Plan', 'Price')}{row('Basic', '10')}</a:tbl>"
    data = presentation(
        f"<p:grpSp><p:grpSp>{shape('deep inside')}</p:grpSp></p:grpSp>"
        f"<p:graphicFrame>{table}</p:graphicFrame>",
        notes="Say it slowly.",
    )
    parsed = parse(data)
    blocks = {parsed.text[block.start : block.end]: block for block in parsed.blocks}
    assert "deep inside" in blocks
    assert (blocks["Basic | 10"].context, blocks["Basic | 10"].row) == ("Plan | Price", 2)
    assert blocks["Say it slowly."].context == "Speaker notes"


def test_slides_that_are_blank_hidden_or_broken_are_reported():
    parsed = parse(presentation(shape("words"), "", shape("secret"), show="0"))
    assert "secret" not in parsed.text
    assert parsed.warnings == (
        "1 of 3 slides have no text (slide 2)",
        "1 of 3 slides are hidden and were left out (slide 3)",
    )
    broken = parse(presentation(shape("words"), "<p:sp>"))
    assert broken.partial
    assert "1 of 2 slides could not be read (slide 2)" in broken.warnings


def test_a_presentation_without_a_readable_slide_is_damaged():
    with pytest.raises(ParseError, match="none of its 1 slides"):
        parse(presentation("<p:sp>"))
