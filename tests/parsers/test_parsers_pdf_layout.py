from __future__ import annotations

import io
from itertools import chain

import pdfplumber
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_back import assert_blocks_cover, document_of, located_blocks
from test_parsers_pdf import drawn, parse, read_at, texts

from evidencedesk.adapters.parsers.pdf import PdfParser
from evidencedesk.chunking import chunk_document
from evidencedesk.model import BlockKind, ParsedDocument

WORDS = [
    "the",
    "fee",
    "is",
    "refunded",
    "when",
    "a",
    "course",
    "was",
    "cancelled",
    "by",
    "the",
    "school",
    "before",
    "it",
    "began",
]
Drawn = tuple[float, float, float, str]


def prose(count: int, seed: int, width: int = 30) -> list[str]:
    """Lines of about ``width`` characters, every one another."""
    lines, place = [], seed
    for number in range(count):
        line = f"{chr(97 + seed)}{number}"
        while len(line) < width - 6:
            place = (place * 5 + 3) % 17
            line += " " + WORDS[place % len(WORDS)]
        lines.append(line)
    return lines


def two_columns(rows: int, title: str = "") -> tuple[list[Drawn], list[str]]:
    """Lines of two columns as drawn, row by row, and as they are to be read."""
    left, right = prose(rows, 0), prose(rows, 1)
    lines: list[Drawn] = [(72, 60, 10, title)] if title else []
    for number, (one, other) in enumerate(zip(left, right, strict=True)):
        top = 90.0 + 13 * number
        lines += [(72, top, 10, one), (320, top, 10, other)]
    return lines, [*([title] if title else []), *left, *right]


@pytest.mark.parametrize(
    "title", ["", "A title that reaches across both of the columns of the page"]
)
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_columns_drawn_row_by_row_are_read_one_after_the_other(title: str, rotation: int) -> None:
    lines, expected = two_columns(20, title)
    parsed = parse(drawn([lines], rotation=rotation))
    assert parsed.text.split() == " ".join(expected).split()


def test_what_crosses_the_gutter_ends_what_stands_above_it() -> None:
    upper, first = two_columns(12)
    lower, second = two_columns(12)
    moved = [(x, top + 220, size, text.upper()) for x, top, size, text in lower]
    middle = (
        72.0,
        280.0,
        10.0,
        "this sentence runs across the gutter from one column to the other one",
    )
    parsed = parse(drawn([[*upper, middle, *moved]]))
    expected = [*first, middle[3], *(text.upper() for text in second)]
    assert parsed.text.split() == " ".join(expected).split()


TABLE = [
    ["Plan", "Monthly fee", "Refund"],
    ["Basic", "12.00", "none"],
    ["Family of four", "31.50", "half"],
    ["School", "480.00", "all"],
]


def table_lines(cells: list[list[str]], top: float = 200) -> list[Drawn]:
    return [
        (x, top + 16 * row, 10, cell)
        for row, line in enumerate(cells)
        for x, cell in zip((72, 220, 340, 430), line, strict=False)
        if cell
    ]


def rows_of(parsed: ParsedDocument) -> list[str]:
    kinds = {BlockKind.TABLE_ROW, BlockKind.TABLE_HEADER}
    return [parsed.text[b.start : b.end] for b in parsed.blocks if b.kind in kinds]


def test_rows_of_a_table_are_blocks_with_the_header_as_their_context() -> None:
    before = [(72.0, 100.0 + 13 * n, 10.0, line) for n, line in enumerate(prose(4, 2, 60))]
    parsed = parse(drawn([[*before, *table_lines(TABLE)]]))
    assert rows_of(parsed) == ["\t".join(row) for row in TABLE]
    rows = [block for block in parsed.blocks if block.kind is BlockKind.TABLE_ROW]
    assert {block.context for block in rows} == {"Plan | Monthly fee | Refund"}
    assert [block.row for block in rows] == [2, 3, 4]
    assert len({block.group for block in rows}) == 1


def test_a_cell_of_two_lines_stays_in_its_row() -> None:
    cells = [*TABLE, ["", "", "after a month"]]
    parsed = parse(drawn([table_lines([*cells[:3], cells[4], cells[3]])]))
    assert rows_of(parsed)[2] == "Family of four\t31.50\thalf\nafter a month"


@pytest.mark.parametrize(
    "lines",
    [
        [(72.0, 100.0, 10.0, "1."), (110.0, 100.0, 10.0, "first step of the way"),
         (72.0, 114.0, 10.0, "2."), (110.0, 114.0, 10.0, "second step of the way"),
         (72.0, 128.0, 10.0, "3."), (110.0, 128.0, 10.0, "third step of the way")],
        [(72.0, 100.0, 10.0, "one line with"), (200.0, 100.0, 10.0, "a gap"),
         (72.0, 114.0, 10.0, "a line that goes right through where the gap above it stood")],
    ],
)  # fmt: skip
def test_lists_and_single_gaps_are_no_tables(lines: list[Drawn]) -> None:
    assert rows_of(parse(drawn([lines]))) == []


CELLS = st.text("abcdefgh0123456789", min_size=1, max_size=9)


@settings(max_examples=25)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=3, max_size=8))
def test_every_row_is_found_again_in_its_boxes(cells: list[list[str]]) -> None:
    data = drawn([table_lines(cells)])
    parsed = parse(data)
    assert_blocks_cover(parsed)
    with pdfplumber.open(io.BytesIO(data)) as pdf:
        for text, location in located_blocks(parsed):
            assert read_at(pdf, location) == "".join(text.split())


def running_pages(count: int) -> list[list[Drawn]]:
    """A sentence that goes on from page to page, between a header and a page number."""
    pages: list[list[Drawn]] = []
    for page in range(count):
        body = [(72.0, 120.0 + 13 * n, 10.0, line) for n, line in enumerate(prose(40, page, 80))]
        header = (72.0, 40.0, 9.0, "Handbook of the cycling school, edition of May")
        pages.append([header, *body, (300.0, 800.0, 9.0, f"Page {page + 1} of {count}")])
    return pages


def test_headers_and_page_numbers_are_kept_and_go_into_no_chunk_but_once() -> None:
    data = drawn(running_pages(5))
    parsed = parse(data)
    assert_blocks_cover(parsed)
    running = [parsed.text[b.start : b.end] for b in parsed.blocks if b.kind is BlockKind.RUNNING]
    assert sorted(running) == sorted(
        [*["Handbook of the cycling school, edition of May"] * 4]
        + [f"Page {number} of 5" for number in range(2, 6)]
    )
    chunked = " ".join(chunk.text for chunk in chunk_document(document_of(parsed)))
    assert chunked.count("Handbook of the cycling school") == 1
    assert chunked.count("Page ") == 1
    with pdfplumber.open(io.BytesIO(data)) as pdf:
        for text, location in located_blocks(parsed):
            assert read_at(pdf, location) == "".join(text.split())


def test_page_spans_follow_each_other_whatever_is_repeated() -> None:
    parsed = parse(drawn(running_pages(6)))
    ends = list(chain.from_iterable((page.start, page.end) for page in parsed.pages))
    assert ends == sorted(ends)
    for page in parsed.pages:
        assert f"Page {page.number} of 6" in parsed.text[page.start : page.end]


def test_the_same_line_in_the_middle_of_pages_is_text() -> None:
    pages = [[(72.0, 400.0, 10.0, "The same sentence on every page.")] for _ in range(5)]
    assert texts(parse(drawn(pages))) == ["The same sentence on every page."] * 5


def test_the_parser_says_that_its_output_changed() -> None:
    assert int(PdfParser.version) >= 3
