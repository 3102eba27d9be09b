from __future__ import annotations

import pytest
from packages import book
from reading_back import assert_blocks_cover, located_blocks

from evidencedesk.adapters.parsers.epub import EpubParser
from evidencedesk.errors import ParseError
from evidencedesk.model import ParsedDocument


def parse(data: bytes) -> ParsedDocument:
    parsed = EpubParser().parse(data, "a.epub")
    assert_blocks_cover(parsed)
    return parsed


def test_chapters_come_in_reading_order_with_file_and_path():
    parsed = parse(
        book(
            ("z.xhtml", "<html><body><h1>One</h1><p>first words</p></body></html>"),
            ("a.xhtml", '<html><body><p id="p">second words</p></body></html>'),
            toc='<navPoint><navLabel><text>Two</text></navLabel><content src="a.xhtml#p"/></navPoint>',
        )
    )
    places = dict(located_blocks(parsed))
    assert parsed.text.index("first words") < parsed.text.index("second words")
    assert places["first words"].element == "z.xhtml: html > body > p:nth-of-type(1)"
    assert (places["second words"].heading, places["second words"].element) == (
        ("Two",),
        "a.xhtml: #p",
    )
    assert (parsed.title, parsed.lang) == ("The Book", "en")


def test_a_missing_chapter_is_reported_and_the_others_are_read():
    parsed = parse(book(("a.xhtml", "<p>words</p>"), ("a.xhtml", "<p>words</p>")))
    assert parsed.text == "words"
    data = book(("a.xhtml", "<p>words</p>"), ("b.xhtml", "<p>more</p>"))
    lost = parse(data.replace(b"OEBPS/b.xhtml", b"OEBPS/X.xhtml"))
    assert lost.partial
    assert lost.warnings == ("1 chapters could not be read (OEBPS/b.xhtml)",)


@pytest.mark.parametrize(("encrypted", "code"), [(False, "no_text"), (True, "encrypted")])
def test_a_book_without_text_says_why(encrypted: bool, code: str):
    with pytest.raises(ParseError) as caught:
        parse(book(("a.xhtml", "<img/>"), encrypted=encrypted))
    assert caught.value.code == code
