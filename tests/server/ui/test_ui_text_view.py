from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.adapters.parsers.html import HtmlParser
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.model import BlockKind, Document, ParsedDocument, Span
from evidencedesk.server.ui.marking import HIT, Mark, Piece, cells, markdown_marks, pieces
from evidencedesk.server.ui.text_view import Part, TextView, around, text_view

MARKDOWN = """# Returns

A **bold `rule`** with a [link](https://example.org "title") and *stress*
on two lines.

- one
  - two **deep**
- [x] three

| Country | Days |
|---------|------|
| France  | 4    |
| Spain \\| Madeira | 7 |

```python
if x: return
```

> a quote
> goes on

Setext
------

Last paragraph.
"""


def document(text: str = MARKDOWN) -> Document:
    return of(MarkdownParser().parse(text.encode("utf-8"), "a.md"))


def of(parsed: ParsedDocument) -> Document:
    return Document(
        id="a",
        text=parsed.text,
        blocks=parsed.blocks,
        media_type=parsed.media_type,
        first_line=parsed.first_line,
    )


def all_pieces(view: TextView) -> Iterator[Piece]:
    for part in view.parts:
        yield from part.pieces
        for item in part.items:
            yield from item.pieces
        for row in part.rows:
            for cell in row.cells:
                yield from cell


def marked(view: TextView) -> str:
    return "".join(piece.text for piece in all_pieces(view) if piece.hit)


@given(
    text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=60),
    edges=st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=6),
)
def test_pieces_joined_are_the_text_and_hits_are_what_was_marked(
    text: str, edges: list[tuple[int, int]]
) -> None:
    hits = [Mark(min(a, b), max(a, b), HIT) for a, b in edges]
    cut = pieces(text, Span(0, len(text)), hits)
    assert "".join(piece.text for piece in cut) == text
    expected = "".join(
        letter for n, letter in enumerate(text) if any(m.start <= n < m.end for m in hits)
    )
    assert "".join(piece.text for piece in cut if piece.hit) == expected
    assert all(piece.text for piece in cut)


@given(st.text(alphabet="ab *_`[]()#>-|\n1.", max_size=80), st.sampled_from(list(BlockKind)))
def test_marks_of_markdown_stay_inside_their_block(text: str, kind: BlockKind) -> None:
    framed = f"xx{text}yy"
    for mark in markdown_marks(framed, Span(2, 2 + len(text)), kind):
        assert 2 <= mark.start < mark.end <= 2 + len(text)


@given(st.lists(st.text(alphabet="ab c", max_size=5).map(str.strip), min_size=2, max_size=5))
def test_cells_are_what_stands_between_bars(words: list[str]) -> None:
    inner = [word or "x" for word in words]
    for row in (" | ".join(inner), f"| {' | '.join(inner)} |"):
        assert [row[start:end] for start, end in cells(row, Span(0, len(row)))] == inner


def test_a_bar_behind_a_backslash_is_text() -> None:
    row = r"| Spain \| Madeira | 7 |"
    assert [row[a:b] for a, b in cells(row, Span(0, len(row)))] == [r"Spain \| Madeira", "7"]


def test_structure_is_that_of_the_document() -> None:
    view = text_view(document(), [], start=0, size=10_000)
    kinds = [part.kind for part in view.parts]
    assert kinds == [
        "heading", "paragraph", "list", "table", "code", "quote", "heading", "paragraph",
    ]  # fmt: skip
    table = next(part for part in view.parts if part.kind == "table")
    assert [row.header for row in table.rows] == [True, False, False]
    assert _texts(table) == [["Country", "Days"], ["France", "4"], [r"Spain \| Madeira", "7"]]
    items = next(part for part in view.parts if part.kind == "list").items
    assert [item.depth for item in items] == [1, 2, 1]
    assert [part.line for part in view.parts[:2]] == [1, 3]


def test_markup_is_told_from_words() -> None:
    view = text_view(document(), [], start=0, size=10_000)
    words = "".join(p.text for p in all_pieces(view) if "syntax" not in p.kinds.split())
    assert "bold rule with a link and" in words
    assert not any(mark in words for mark in ("**", "](", "```", "## ", "> ", "---"))


@pytest.mark.parametrize(
    "text",
    [
        "**a " * 75_000,
        "__a " * 75_000,
        "".join("`" * n + "a " for n in range(1, 770)),
        "[" * 300_000,
    ],
    ids=["strong", "underlined", "code", "links"],
)
def test_marks_that_nobody_closes_take_no_time(text: str) -> None:
    """They took minutes, in which the whole server stood still: whoever may write could bring such a file."""
    started = time.monotonic()
    assert markdown_marks(text, Span(0, len(text)), BlockKind.PARAGRAPH) == []
    assert time.monotonic() - started < 10


def test_a_hundred_thousand_marks_take_no_time() -> None:
    text, started = "**a** " * 50_000, time.monotonic()
    whole = Span(0, len(text))
    found = pieces(text, whole, markdown_marks(text, whole, BlockKind.PARAGRAPH))
    assert [(each.text, each.kinds) for each in found[-4:]] == [
        ("**", "syntax"), ("a", "strong"), ("**", "syntax"), (" ", ""),
    ]  # fmt: skip
    assert time.monotonic() - started < 10


@given(st.data())
def test_any_span_of_a_document_is_marked_at_its_very_characters(data: st.DataObject) -> None:
    whole = document()
    start = data.draw(st.integers(0, len(whole.text) - 1))
    end = data.draw(st.integers(start + 1, len(whole.text)))
    view = text_view(whole, [Span(start, end)], start=0, size=10_000)
    shown = "".join(marked(view).split())
    quoted = "".join(whole.text[start:end].split())
    # Bars and the line of dashes of a table are drawn as lines, not as text.
    drawn = str.maketrans("", "", "|-:")
    assert shown.translate(drawn) == quoted.translate(drawn)


@pytest.mark.parametrize("size", [1, 40, 200])
def test_the_parts_of_a_document_hold_all_of_it_and_follow_one_another(size: int) -> None:
    whole = document()
    start: int | None = 0
    shown, starts = "", []
    while start is not None:
        starts.append(start)
        view = text_view(whole, [], start=start, size=size)
        shown += "".join(piece.text for piece in all_pieces(view))
        start = view.later
    letters = [letter for letter in whole.text if letter.isalnum()]
    assert [letter for letter in shown if letter.isalnum()] == letters
    last = text_view(whole, [], start=starts[-1], size=size)
    assert (last.earlier is None) == (len(starts) == 1)


def test_a_quote_far_into_a_document_is_in_the_part_that_opens() -> None:
    text = "\n\n".join(f"Paragraph {n} says {n} things." for n in range(2_000))
    whole = document(text)
    at = text.index("Paragraph 1500 ")
    hit = Span(at, at + 40)
    view = text_view(whole, [hit], start=around([hit], 16_000), size=16_000)
    assert marked(view) == text[at : at + 40].replace("\n\n", "")
    assert view.earlier is not None
    assert view.later is not None


def test_html_is_shown_as_structure_and_never_as_markup() -> None:
    parsed = HtmlParser().parse(
        b"<h1>A</h1><p>x &lt;script&gt;alert(1)&lt;/script&gt;</p><ul><li>one</li></ul>", "a.html"
    )
    view = text_view(of(parsed), [], start=0, size=1_000)
    assert [part.kind for part in view.parts] == ["heading", "paragraph", "list"]
    assert "<script>" in "".join(piece.text for piece in all_pieces(view))


def test_a_document_without_blocks_is_one_paragraph() -> None:
    view = text_view(Document(id="a", text="Just words."), [Span(5, 10)], start=0, size=10)
    assert [part.kind for part in view.parts] == ["paragraph"]
    assert marked(view) == "words"


def _texts(part: Part) -> list[list[str]]:
    return [["".join(piece.text for piece in cell) for cell in row.cells] for row in part.rows]
