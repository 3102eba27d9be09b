from __future__ import annotations

import html
from dataclasses import dataclass

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_back import assert_blocks_cover, document_of, fold, located_blocks, xpath_of

from evidencedesk.adapters.parsers.html import HtmlParser
from evidencedesk.model import BlockKind, Locator, ParsedDocument, Span

PARSER = HtmlParser()
WORDS = st.text(st.sampled_from("abcXY 019.,&<>\"'éক্ষু漢🚲\xa0\n"), min_size=1, max_size=20).filter(
    lambda text: text.strip(" \n\xa0")
)
INLINE = st.builds(
    lambda text, tag: f"<{tag}>{html.escape(text)}</{tag}>",
    WORDS,
    st.sampled_from(["b", "i", "a", "span", "code"]),
) | WORDS.map(html.escape)
LINES = st.lists(INLINE, min_size=1, max_size=3).map(" ".join)


def _row(cells: list[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


TABLES = st.lists(st.tuples(LINES, LINES), min_size=2, max_size=4).map(
    lambda rows: (
        "<table><thead>"
        + _row(list(rows[0]), "th")
        + "</thead><tbody>"
        + "".join(_row(list(row), "td") for row in rows[1:])
        + "</tbody></table>"
    )
)
BLOCKS = st.one_of(
    LINES.map(lambda text: f"<p>{text}</p>"),
    st.builds(lambda n, text: f"<h{n}>{text}</h{n}>", st.integers(1, 6), LINES),
    st.lists(LINES, min_size=1, max_size=3).map(
        lambda items: "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
    ),
    WORDS.map(lambda text: f"<pre>x {html.escape(text)}</pre>"),
    LINES.map(lambda text: f"<blockquote><p>{text}</p></blockquote>"),
    TABLES,
    st.sampled_from(["<nav>menu</nav>", "<script>x()</script>", "<!-- c -->", "<p hidden>no</p>"]),
)


@st.composite
def pages(draw: st.DrawFn) -> str:
    sections = []
    for number, blocks in enumerate(draw(st.lists(st.lists(BLOCKS, max_size=4), max_size=4))):
        identity = draw(st.sampled_from(["", f' id="s{number}"', f' id="s.{number}"']))
        sections.append(f"<div{identity}>{''.join(blocks)}</div>")
    return "<!doctype html><html><head><title>T</title></head><body>" + "".join(sections)


def parse(source: str) -> ParsedDocument:
    return PARSER.parse(source.encode(), "a.html")


def texts(parsed: ParsedDocument) -> list[str]:
    return [parsed.text[block.start : block.end] for block in parsed.blocks]


def _read_element(tree: lxml.html.HtmlElement, path: str) -> str:
    (element,) = tree.xpath(xpath_of(path))
    if element.tag == "tr":
        return fold(" | ".join(fold(cell.text_content()) for cell in element))
    return fold(element.text_content())


@given(pages())
def test_every_block_is_found_again_at_its_element(source: str) -> None:
    parsed = parse(source)
    assert_blocks_cover(parsed)
    tree = lxml.html.document_fromstring(source)
    for text, location in located_blocks(parsed):
        assert location.element is not None
        assert _read_element(tree, location.element) == fold(text)


@given(st.text(st.sampled_from("<>/=\"' abhdivptrl1&;!-\n")))
def test_any_markup_is_read_without_complaint(source: str) -> None:
    parsed = parse(source)
    assert_blocks_cover(parsed)
    assert fold(" ".join(texts(parsed))) == fold(parsed.text)


@dataclass(frozen=True)
class Case:
    source: str
    expected: list[str]


@pytest.mark.parametrize(
    "case",
    [
        Case("<p>a<br>b</p>", ["a\nb"]),
        Case("no tags   at all", ["no tags at all"]),
        Case("<body><header>top</header><p>x</p><footer>bottom</footer>", ["x"]),
        Case("<article><header><h1>H</h1></header><p>x</p></article>", ["H", "x"]),
        Case("<div id=cookie-banner>We use cookies</div><p>x</p>", ["x"]),
        Case("<p style='display: none'>n</p><template>n</template><svg>n</svg><p>x", ["x"]),
        Case("<div>a<p>b</p>c</div>", ["a", "b", "c"]),
        Case("<pre>  two\n    four</pre>", ["  two\n    four"]),
        Case("<p>see <a href='/refunds'>the policy</a>.", ["see the policy."]),
        Case("<table><tr><td>only column</table>", ["only column"]),
        Case("<h2>Fees<p>inside</p>tail</h2>", ["Fees", "inside", "tail"]),
    ],
    ids=lambda case: case.source[:30],
)
def test_what_is_text_and_what_is_not(case: Case) -> None:
    assert texts(parse(case.source)) == case.expected


def test_a_page_of_nothing_but_navigation_is_not_lost() -> None:
    parsed = parse("<body><nav><a href=/a>Opening hours</a></nav></body>")
    assert texts(parsed) == ["Opening hours"]
    assert parsed.warnings == ("the page holds nothing but navigation and the like",)


def test_merged_cells_are_context_of_the_rows_they_reach_into() -> None:
    parsed = parse(
        "<table><tr><th>Plan<th>Price<tr><td rowspan=2>Basic<td>$10<tr><td>$12 (EU)</table>"
    )
    assert texts(parsed) == ["Plan | Price", "Basic | $10", "$12 (EU)"]
    assert [block.context for block in parsed.blocks] == ["", "Plan | Price", "Plan | Price\nBasic"]
    assert [block.row for block in parsed.blocks] == [1, 2, 3]
    assert parsed.blocks[0].kind is BlockKind.TABLE_HEADER


def test_tables_for_layout_are_read_as_blocks() -> None:
    parsed = parse("<table><tr><td><h2>News</h2><p>a</p></td><td><p>b</p></td></tr></table>")
    assert texts(parsed) == ["News", "a", "b"]
    assert parsed.blocks[2].heading == ("News",)


def test_the_element_is_anchored_at_the_nearest_id() -> None:
    parsed = parse("<div id=fees><p>a</p><p>b</p></div>")
    span = Span(parsed.blocks[1].start, parsed.blocks[1].end)
    from_blocks = Locator(document_of(parsed)).locate(span)
    assert from_blocks.element == "#fees > p:nth-of-type(2)"


def test_an_id_used_twice_anchors_nothing() -> None:
    parsed = parse("<div id=x><p>a</p></div><div id=x><p>b</p></div>")
    assert all("#x" not in (block.element or "") for block in parsed.blocks)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('<meta charset="shift_jis"><p>東京都'.encode("cp932"), "東京都"),
        ('<meta charset="iso-8859-1"><p>30 €'.encode("cp1252"), "30 €"),
        (
            "<p>Привет, мир, и всем хорошего дня.".encode("utf-16"),
            "Привет, мир, и всем хорошего дня.",
        ),
        (b'\xef\xbb\xbf<meta charset="windows-1251"><p>' + "Привет".encode(), "Привет"),
        ('<meta charset="utf-16"><p>é'.encode(), "é"),
        ('<meta charset="no-such-thing"><p>é'.encode(), "é"),
    ],
)
def test_encodings(data: bytes, expected: str) -> None:
    assert PARSER.parse(data, "a.html").text == expected


def test_title_and_language() -> None:
    parsed = parse("<html lang='pt-BR'><title> Taxas\n e prazos </title><p>x")
    assert (parsed.title, parsed.lang) == ("Taxas e prazos", "pt-BR")


def test_entities_of_a_document_type_are_not_expanded() -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
        "<html><body><p>&b;</p></body></html>"
    )
    assert "aaaa" not in parse(bomb).text.replace("aaaaaaaaaa", "", 1)[:10]
    assert len(parse(bomb).text) < 200


def test_nesting_without_end_is_read() -> None:
    parsed = parse("<div>" * 20_000 + "<p>deep</p>")
    assert texts(parsed) == ["deep"]
