from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_back import (
    assert_blocks_cover,
    document_of,
    fold,
    lines_of,
    located_blocks,
    text_at_lines,
)

from evidencedesk.adapters.parsers.markdown import MarkdownParser, plain_heading
from evidencedesk.errors import MetadataError
from evidencedesk.model import BlockKind, Locator, ParsedDocument, Span

PARSER = MarkdownParser()

WORDS = st.text(
    st.sampled_from("abcXYZ019 .,;:!?éßωক্ষু漢字🚲|*_`[]()<>&#\\-\x0c\x1c\x85\u2028\xa0"),
    min_size=1,
    max_size=30,
).filter(str.strip)
PIECES = st.one_of(
    st.builds(lambda level, text: "#" * level + " " + text, st.integers(1, 6), WORDS),
    st.builds(lambda text, mark: f"{text}\n{mark}", WORDS, st.sampled_from(["===", "---"])),
    st.lists(WORDS, min_size=1, max_size=3).map("\n".join),
    st.lists(WORDS, min_size=1, max_size=3).map(lambda items: "\n".join(f"- {i}" for i in items)),
    st.lists(WORDS, min_size=1, max_size=3).map(lambda items: "\n".join(f"> {i}" for i in items)),
    st.lists(WORDS, min_size=1, max_size=3).map(lambda rows: "```\n# " + "\n".join(rows) + "\n```"),
    st.lists(WORDS, min_size=1, max_size=3).map(
        lambda rows: "| a | b |\n|---|---|\n" + "\n".join(f"| x | {row} |" for row in rows)
    ),
    st.sampled_from(["***", "<div>\n# no\n</div>", "[r]: http://x.example", "    code", "1. one"]),
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    front = draw(st.sampled_from(["", "---\ntitle: 'a: b'\nroles: [x]\n---\n"]))
    body = "".join(
        piece + "\n" * draw(st.integers(1, 3)) for piece in draw(st.lists(PIECES, max_size=8))
    )
    line_end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return mark + (front + body).replace("\n", line_end).encode()


def parse(source: str | bytes) -> ParsedDocument:
    data = source.encode() if isinstance(source, str) else source
    return PARSER.parse(data, "a.md")


def headings(parsed: ParsedDocument) -> list[tuple[str, int | None]]:
    blocks = [block for block in parsed.blocks if block.kind is BlockKind.HEADING]
    places = Locator(document_of(parsed))
    return [
        (block.heading[-1], places.locate(Span(block.start, block.end)).first_line)
        for block in blocks
    ]


@given(files())
def test_every_block_is_found_again_at_its_lines(data: bytes) -> None:
    parsed = parse(data)
    assert_blocks_cover(parsed)
    for text, location in located_blocks(parsed):
        assert fold(text_at_lines(data, location)) == fold(text)


@given(files(), st.data())
def test_every_span_lies_in_its_lines_and_needs_the_first_and_the_last(
    data: bytes, draws: st.DataObject
) -> None:
    parsed = parse(data)
    start = draws.draw(st.integers(0, len(parsed.text)))
    span = Span(start, draws.draw(st.integers(start, len(parsed.text))))
    text = parsed.text[span.start : span.end]
    location = Locator(document_of(parsed)).locate(span)
    if not text.strip():
        assert location.first_line is None
        return
    assert fold(text) in fold(text_at_lines(data, location))
    lines = lines_of(data)
    assert location.first_line is not None
    assert location.last_line is not None
    assert lines[location.first_line - 1].strip()
    cut = text.strip().replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert location.last_line - location.first_line == cut


@given(st.text().filter(lambda text: not text.startswith(("---", "\ufeff", "+++"))))
def test_any_text_is_read_whole(text: str) -> None:
    source = text.encode("utf-8", "replace")
    parsed = parse(source)
    assert_blocks_cover(parsed)
    assert parsed.text == source.decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


@given(files())
def test_canonical_text_is_the_file_after_its_front_matter(data: bytes) -> None:
    assert data.decode().endswith(parse(data).text)


def test_headings_in_fences_are_code_and_all_others_count() -> None:
    parsed = parse(
        "# Title\n\n```sh\n## not one\n```\n\nSet `x`\n===\n\n- item\n\n  ## in a list\n\n"
        "> ## in a quote\n\n#nospace\n## Closed ##\n"
    )
    assert headings(parsed) == [
        ("Title", 1),
        ("Set x", 7),
        ("in a list", 12),
        ("in a quote", 14),
        ("Closed", 17),
    ]


def test_an_unclosed_fence_swallows_the_rest() -> None:
    parsed = parse("# One\n\n```\n## two\n\ntext\n")
    assert [block.kind for block in parsed.blocks] == [BlockKind.HEADING, BlockKind.CODE]


def test_heading_paths_nest_and_end() -> None:
    parsed = parse("# A\n\n## B\n\nx\n\n### C\n\ny\n\n## D\n\nz\n")
    paths = [b.heading for b in parsed.blocks if b.kind is BlockKind.PARAGRAPH]
    assert paths == [("A", "B"), ("A", "B", "C"), ("A", "D")]


def test_table_rows_carry_the_header_as_context() -> None:
    parsed = parse("| Plan | Price |\n|---|---:|\n| Basic | 10 |\n| Gold | 40 |\n")
    header, first, second = parsed.blocks
    assert header.kind is BlockKind.TABLE_HEADER
    assert parsed.text[header.start : header.end].endswith("|---|---:|")
    assert (first.row, second.row) == (2, 3)
    assert first.context == second.context == "Plan | Price"
    assert header.group == first.group == second.group


def test_nested_list_items_are_blocks_of_one_group() -> None:
    parsed = parse("1. one\n   - inner\n\n     more\n2. two\n")
    assert [(b.kind, b.level) for b in parsed.blocks] == [
        (BlockKind.LIST_ITEM, 1),
        (BlockKind.LIST_ITEM, 2),
        (BlockKind.LIST_ITEM, 2),
        (BlockKind.LIST_ITEM, 1),
    ]
    assert len({b.group for b in parsed.blocks}) == 1


def test_link_definitions_are_kept_as_markup() -> None:
    parsed = parse("See [a].\n\n[a]: http://x.example\n")
    assert parsed.blocks[-1].kind is BlockKind.MARKUP


def test_the_example_of_the_contract() -> None:
    front = (
        "---\nid: a\ntitle: t\nversion: 3\nstatus: current\nlang: en\nroles: [x]\nowner: o\n---\n"
    )
    source = front + "## Returning a bike\nfirst line\nsecond line\n## Next\nmore\n"
    parsed = parse(source)
    paragraph = parsed.blocks[1]
    location = Locator(document_of(parsed)).locate(Span(paragraph.start, paragraph.end))
    assert paragraph.start == 20
    assert location.label == "Returning a bike, lines 11-12"
    assert parsed.metadata["version"] == "3"


def test_a_file_that_opens_with_a_rule_loses_nothing() -> None:
    source = "---\n\nFirst section.\n\n---\n\n# Second\n"
    assert parse(source).text == source


def test_toml_front_matter_is_set_aside_and_lines_still_count() -> None:
    parsed = parse('+++\ntitle = "x"\n+++\n\n# H\n')
    assert headings(parsed) == [("H", 5)]
    assert "title" not in parsed.text


def test_front_matter_errors_reach_the_caller() -> None:
    with pytest.raises(MetadataError, match=r"a\.md, line 3.*'title' is given twice"):
        parse("---\ntitle: a\ntitle: b\n---\n")


def test_a_thousand_brackets_and_a_long_line_cost_nothing() -> None:
    parsed = parse("[" * 50_000 + "a" + "]" * 50_000 + "\n\n" + "x " * 300_000 + "\n\n## End\n")
    assert headings(parsed) == [("End", 5)]


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("Escaped \\# hash and `code` and *emph*", "Escaped # hash and code and emph"),
        ('[Link](http://x.example "t") &amp; __bold__', "Link & bold"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("5 < 6 * 7", "5 < 6 * 7"),
        ("<a name='x'></a>Anchored", "Anchored"),
        ("***", "***"),
    ],
)
def test_plain_headings(source: str, plain: str) -> None:
    assert plain_heading(source) == plain
