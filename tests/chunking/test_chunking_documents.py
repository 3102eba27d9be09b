import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.chunking import (
    STRATEGIES,
    chunk_corpus,
    chunk_document,
    chunk_fixed,
    default_options,
)
from evidencedesk.chunking.layout import blocks_of
from evidencedesk.errors import ChunkingError
from evidencedesk.model import BlockKind, Document
from evidencedesk.text.tokens import count_tokens

LINES = st.sampled_from(
    [
        "# Title",
        "## Part two",
        "### ",
        "Some prose that goes on for a while, and then stops.",
        "Short.",
        "no end mark",
        "",
        "",
        "  ",
        "- an item",
        "- another item: with more",
        "1. first",
        "| a | b |",
        "|---|---|",
        "```",
        "# maybe code",
        "Lead-in:",
        "x" * 70,
        "বাংলা বাক্য একটি। আরেকটি?",
        "中文没有空格。还有一句。",
    ]
)
MARKDOWN = st.builds(
    lambda lines, newline: newline.join(lines),
    st.lists(LINES, max_size=30),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
OPTIONS = st.one_of(
    st.builds(
        lambda size, overlap: ("fixed", {"size": size, "overlap": overlap % size}),
        st.integers(1, 60),
        st.integers(0, 60),
    ),
    st.just(("paragraph", {})),
    st.builds(
        lambda chars, overlap: ("sentence", {"max_chars": chars, "overlap_sentences": overlap}),
        st.integers(1, 120),
        st.integers(0, 2),
    ),
    st.builds(
        lambda tokens, overlap: ("structure", {"max_tokens": tokens, "overlap_sentences": overlap}),
        st.integers(1, 40),
        st.integers(0, 2),
    ),
)


@given(text=MARKDOWN, choice=OPTIONS)
def test_every_strategy_keeps_the_promises(text, choice):
    strategy, options = choice
    document = Document(id="d", text=text)
    chunks = chunk_document(document, strategy, **options)
    headings = [block for block in blocks_of(text) if block.kind is BlockKind.HEADING]
    held = set()
    for number, chunk in enumerate(chunks):
        start, end = chunk.span
        assert chunk.id == f"d:c{number}"
        assert chunk.ordinal == number
        assert chunk.text == text[start:end]
        assert chunk.text.strip()
        assert all(end <= block.start or block.end <= start for block in headings)
        held.update(range(start, end))
    in_headings = {index for block in headings for index in range(block.start, block.end)}
    inked = {index for index, letter in enumerate(text) if not letter.isspace()}
    assert inked - in_headings <= held
    assert [c.span.start for c in chunks] == sorted(c.span.start for c in chunks)
    assert chunk_document(document, strategy, **options) == chunks


@given(text=MARKDOWN, max_tokens=st.integers(1, 40))
def test_no_structure_chunk_is_absurdly_long(text, max_tokens):
    for chunk in chunk_document(Document(id="d", text=text), "structure", max_tokens=max_tokens):
        ink = "".join(part for part in chunk.text.split() if any(map(str.isalnum, part)))
        assert count_tokens(ink) <= 1.5 * max_tokens + 1


@given(text=MARKDOWN)
def test_a_chunk_carries_the_heading_in_force_and_the_lines_it_stands_on(text):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for chunk in chunk_document(Document(id="d", text=text, first_line=10), "paragraph"):
        place = chunk.location
        read = "\n".join(lines[place.first_line - 10 : place.last_line - 9])
        assert read.split() == chunk.text.split()
        before = [
            b for b in blocks_of(text) if b.end <= place.start and b.kind is BlockKind.HEADING
        ]
        assert place.heading == (before[-1].heading if before else ())


def test_windows_begin_anew_under_each_heading():
    body = "y" * 230
    chunks = chunk_document(
        Document(id="d", text=f"# A\n{body}\n# B\n{body}"), "fixed", size=100, overlap=20
    )
    assert [tuple(c.span) for c in chunks[:3]] == [(4, 104), (84, 184), (164, 234)]
    assert [c.location.heading for c in chunks] == [("A",)] * 3 + [("B",)] * 3
    assert [c.span.end - c.span.start for c in chunks[3:]] == [100, 100, 70]


def test_metadata_and_rights_travel_with_every_chunk():
    document = Document(
        id="p",
        text="Text.",
        title="Policy",
        source="p.md",
        version="3",
        status="draft",
        lang="en",
        tenant="t",
        roles=frozenset({"staff"}),
        deny=frozenset({"guest"}),
    )
    (chunk,) = chunk_document(document)
    for name in (
        "title",
        "source",
        "version",
        "status",
        "lang",
        "tenant",
        "roles",
        "deny",
        "content_hash",
    ):
        assert getattr(chunk, name) == getattr(document, name)
    assert chunk.document_id == "p"
    assert chunk.location.label == "line 1"


@pytest.mark.parametrize("strategy", list(STRATEGIES))
@pytest.mark.parametrize("text", ["", " \n\n\t", "# Only a heading\n## And another"])
def test_nothing_to_hold_gives_no_chunk(strategy, text):
    assert chunk_document(Document(id="d", text=text), strategy) == ()


def test_a_corpus_is_its_documents_in_order():
    documents = [Document(id=name, text="One.\n\nTwo.") for name in "ab"]
    chunks = chunk_corpus(iter(documents), "paragraph")
    assert [chunk.id for chunk in chunks] == ["a:c0", "a:c1", "b:c0", "b:c1"]
    assert chunks[:2] == chunk_document(documents[0], "paragraph")


def test_strategies_and_their_defaults():
    assert list(STRATEGIES) == ["fixed", "paragraph", "sentence", "structure"]
    assert default_options("structure") == {"max_tokens": 150, "overlap_sentences": 0}
    assert default_options("paragraph") == {}
    text = "Words and more words. " * 60
    for strategy in STRATEGIES:
        document = Document(id="d", text=text)
        assert chunk_document(document, strategy) == chunk_document(
            document, strategy, **default_options(strategy)
        )


@pytest.mark.parametrize(
    ("strategy", "options", "code", "says"),
    [
        ("semantic", {}, "unknown_strategy", "structure"),
        ("fixed", {"max_tokens": 3}, "unknown_option", "size, overlap"),
        ("paragraph", {"size": 3}, "unknown_option", "none"),
        ("fixed", {"size": 10, "overlap": 10}, "bad_option", "smaller"),
        ("structure", {"max_tokens": 0}, "bad_option", "1 or more"),
        ("sentence", {"overlap_sentences": -1}, "bad_option", "0 or more"),
    ],
)
def test_bad_choices_are_refused_even_for_nothing(strategy, options, code, says):
    with pytest.raises(ChunkingError, match=says) as caught:
        chunk_corpus([], strategy, **options)
    assert caught.value.code == code


def test_the_document_function_agrees_with_the_plain_one():
    text = "All in one piece, no heading at all. " * 20
    spans = [
        c.span
        for c in chunk_document(Document(id="d", text=text.strip()), "fixed", size=90, overlap=7)
    ]
    assert spans == chunk_fixed(text.strip(), 90, 7)


def test_blocks_given_by_a_parser_are_believed():
    text = "Fees\n\n# not a heading here\n\nLast."
    plain = Document(id="d", text=text)
    heading, *rest = blocks_of("Fees")
    parsed = dataclasses.replace(
        plain,
        blocks=(
            dataclasses.replace(heading, kind=BlockKind.HEADING, heading=("Fees",), level=1),
            dataclasses.replace(heading, start=6, end=26, heading=("Fees",)),
            dataclasses.replace(heading, start=28, end=33, heading=("Fees",)),
        ),
    )
    assert rest == []
    assert [c.text for c in chunk_document(parsed, "paragraph")] == [
        "# not a heading here",
        "Last.",
    ]
    assert [c.location.heading for c in chunk_document(parsed, "structure")] == [("Fees",)]
