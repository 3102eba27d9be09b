from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.chunking import (
    Span,
    chunk_document,
    chunk_fixed,
    chunk_paragraphs,
    chunk_sentences,
)
from evidencedesk.chunking.layout import blocks_of
from evidencedesk.errors import ChunkingError
from evidencedesk.model import Document
from evidencedesk.text.sentences import sentences

TEXT_230 = ("Every word counts. " * 13)[:230]


def test_windows_of_the_contract():
    assert chunk_fixed(TEXT_230, 100, 20) == [(0, 100), (80, 180), (160, 230)]
    narrow = chunk_fixed(TEXT_230, 10, 9)
    assert len(narrow) == 221
    assert narrow[-1] == Span(220, 230)


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1), (-5, -6), (10, 11)])
@pytest.mark.parametrize("text", [TEXT_230, ""])
def test_windows_that_do_not_move_forward_are_refused_before_any_work(text, size, overlap):
    with pytest.raises(ValueError, match="Chunking option") as caught:
        chunk_fixed(text, size, overlap)
    assert isinstance(caught.value, ChunkingError)
    assert caught.value.code == "bad_option"
    assert caught.value.hint


@pytest.mark.parametrize(("max_chars", "overlap"), [(0, 0), (-1, 0), (10, -1)])
def test_sentence_options_out_of_range_are_refused(max_chars, overlap):
    with pytest.raises(ValueError, match="Chunking option"):
        chunk_sentences("One. Two.", max_chars, overlap)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\u2003\r\n"])
def test_blank_text_has_no_chunks(text):
    assert chunk_fixed(text, 3, 1) == []
    assert chunk_paragraphs(text) == []
    assert chunk_sentences(text, 10) == []


@given(
    text=st.text(alphabet="ab. \n", max_size=60),
    size=st.integers(1, 20),
    data=st.data(),
)
def test_window_arithmetic(text, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    spans = chunk_fixed(text, size, overlap)
    step = size - overlap
    assert all(start % step == 0 and end == min(start + size, len(text)) for start, end in spans)
    assert all(text[start:end].strip() for start, end in spans)
    assert sum(end == len(text) for _, end in spans) <= 1
    held = {index for start, end in spans for index in range(start, end)}
    assert all(index in held or letter.isspace() for index, letter in enumerate(text))


def test_thirty_sentences_at_300_characters_overlap_by_exactly_one():
    parts = [
        f"Sentence number {n} says that rule {n * 7} holds for everybody here." for n in range(30)
    ]
    text = " ".join(parts)
    spans = chunk_sentences(text, 300, 1)
    whole = sentences(text)
    starts = [span.start for span in whole]
    assert len(whole) == 30
    held = [[s for s in whole if start <= s.start and s.end <= end] for start, end in spans]
    assert {s for chunk in held for s in chunk} == set(whole)
    assert all(start in starts for start, _ in spans)
    assert all(end - start <= 300 for start, end in spans)
    assert len(spans) > 3
    for before, after in pairwise(held):
        assert len(set(before) & set(after)) == 1
    assert held[-1][-1] == whole[-1]
    assert held[-2][-1] != whole[-1]


def test_without_overlap_sentences_are_packed_while_they_fit():
    text = "Aaaa aaa. Bbbb bbb. Cccc ccc. A sentence that is much too long for this. Dddd."
    assert [text[slice(*span)] for span in chunk_sentences(text, 20)] == [
        "Aaaa aaa. Bbbb bbb.",
        "Cccc ccc.",
        "A sentence that is much too long for this.",
        "Dddd.",
    ]


SENTENCES = st.lists(
    st.sampled_from(
        ["One two.", "Three!", "A rather longer sentence, this one?", "\n\n", "# Head\n"]
    ),
    max_size=25,
).map(" ".join)


@given(text=SENTENCES, max_chars=st.integers(1, 80), overlap=st.integers(0, 3))
def test_sentences_are_never_cut_and_never_lost(text, max_chars, overlap):
    spans = chunk_sentences(text, max_chars, overlap)
    whole = sentences(text)
    starts, ends = {span.start for span in whole}, {span.end for span in whole}
    assert all(start in starts and end in ends for start, end in spans)
    for start, end in spans:
        inside = [s for s in whole if start <= s.start and s.end <= end]
        assert len(inside) == 1 or end - start <= max_chars
    assert [a < b for a, b in pairwise(spans)] == [True] * (len(spans) - 1)
    assert len({span.end for span in spans}) == len(spans)
    chunked = {s for s in whole for start, end in spans if start <= s.start and s.end <= end}
    assert {text[slice(*s)] for s in set(whole) - chunked} <= {"# Head"}


def test_a_heading_line_ends_a_paragraph_as_a_blank_line_does():
    text = "# Title\nIntro\nwrapped.\n \nSecond.\n## Part\n\nThird.\r\n\r\nFourth."
    assert [text[slice(*span)] for span in chunk_paragraphs(text)] == [
        "Intro\nwrapped.",
        "Second.",
        "Third.",
        "Fourth.",
    ]


def test_a_heading_inside_a_code_fence_is_code():
    text = "Before.\n```sh\n# not a heading\nls\n```\n# Heading\nAfter.\n~~~\n# code ```\n~~~"
    assert [text[slice(*span)] for span in chunk_paragraphs(text)] == [
        "Before.\n```sh\n# not a heading\nls\n```",
        "After.\n~~~\n# code ```\n~~~",
    ]


def test_an_open_fence_runs_to_the_end():
    text = "```\n# code\n\n# more"
    assert [text[slice(*span)] for span in chunk_paragraphs(text)] == ["```\n# code", "# more"]


@pytest.mark.parametrize(
    "line", ["#hash", "####### seven", "    # indented code", "\\# escaped", "a # b"]
)
def test_lines_that_only_resemble_headings_are_text(line):
    assert len(chunk_paragraphs(f"{line}\ntext")) == 1


@pytest.mark.parametrize(
    ("line", "level", "name"),
    [
        ("# One", 1, "One"),
        ("   ### Three ###  ", 3, "Three"),
        ("## C#", 2, "C#"),
        ("#", 1, ""),
        ("## ##", 2, ""),
        ("#\tTab", 1, "Tab"),
    ],
)
def test_heading_lines_and_their_names(line, level, name):
    (block,) = blocks_of(line)
    assert (block.level, block.heading) == (level, (name,))


def test_headings_nest_by_level():
    blocks = blocks_of("# A\n## B\n#### C\n## D\ntext\n# E")
    assert [block.heading for block in blocks] == [
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
        ("A", "D"),
        ("E",),
    ]


@pytest.mark.parametrize(
    "part",
    [
        "# ",
        " ",
        "#",
        "`",
        "~",
        ".)",
        "[a",
        "!",
        "a. ",
        "A. ",
        "\n ",
        "\n1. ",
        "।",
        "字",
        "x",
        ". \n",
        '"',
        "| ",
    ],
)
def test_hostile_text_takes_linear_time(part):
    text = part * (30_000 // len(part)) + "x"
    started = process_time()
    for line in (text, "# " + text, "word " + text):
        chunk_paragraphs(line)
        chunk_sentences(line, 500)
        chunk_document(Document(id="d", text=line))
    assert process_time() - started < 5
