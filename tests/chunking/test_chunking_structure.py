from itertools import count, pairwise

from evidencedesk.chunking import chunk_document
from evidencedesk.model import Block, BlockKind, Document
from evidencedesk.text.tokens import count_tokens

ROWS = [f"Course {n} | {n * 10} euros | refundable" for n in range(12)]
HEADER = "Course | Fee | Note"


def document_of(*parts: tuple[BlockKind, str], **settings: str) -> Document:
    """A document of one block per part; rows that follow a header share its group and context."""
    text, blocks = "", []
    context, group, numbers = "", 0, count(1)
    for kind, body in parts:
        if kind is BlockKind.TABLE_HEADER:
            context, group = body, next(numbers)
        elif kind is not BlockKind.TABLE_ROW:
            context, group = "", 0
        own = context if kind is BlockKind.TABLE_ROW else ""
        blocks.append(Block(kind, len(text), len(text) + len(body), context=own, group=group))
        text += body + "\n"
    return Document(id="d", text=text, blocks=tuple(blocks), **settings)


def paragraph(body: str) -> tuple[BlockKind, str]:
    return BlockKind.PARAGRAPH, body


def table() -> list[tuple[BlockKind, str]]:
    return [(BlockKind.TABLE_HEADER, HEADER), *((BlockKind.TABLE_ROW, row) for row in ROWS)]


def test_small_neighbours_are_packed_up_to_the_budget():
    document = document_of(*(paragraph(f"Paragraph {n} has six words.") for n in range(9)))
    one = count_tokens("Paragraph 1 has six words.")
    chunks = chunk_document(document, max_tokens=3 * one)
    assert [count_tokens(chunk.text) for chunk in chunks] == [3 * one] * 3


def test_a_big_paragraph_is_split_at_sentences_and_shares_no_chunk_with_what_precedes():
    long = " ".join(f"This is the sentence with number {n}." for n in range(20))
    chunks = chunk_document(document_of(paragraph("Short."), paragraph(long)), max_tokens=40)
    assert all(chunk.text.endswith(".") for chunk in chunks)
    assert all(chunk.text.startswith(("Short", "This")) for chunk in chunks)
    assert all(count_tokens(chunk.text) <= 40 for chunk in chunks)


def test_a_sentence_half_as_long_again_as_the_budget_stays_whole_and_a_longer_one_is_cut_at_words():
    fifteen = " ".join(["word"] * 14) + "."
    assert [c.text for c in chunk_document(document_of(paragraph(fifteen)), max_tokens=10)] == [
        fifteen
    ]
    longer = " ".join(f"w{n}" for n in range(200))
    chunks = chunk_document(document_of(paragraph(longer)), max_tokens=10)
    assert " ".join(chunk.text for chunk in chunks) == longer
    assert all(count_tokens(chunk.text) <= 10 for chunk in chunks)


def test_a_word_longer_than_the_budget_is_cut_as_the_last_resort():
    chunks = chunk_document(document_of(paragraph("字" * 95)), max_tokens=10)
    assert [len(chunk.text) for chunk in chunks] == [10] * 9 + [5]


def test_a_table_that_fits_is_one_chunk_with_its_header_in_the_text():
    (chunk,) = chunk_document(document_of(*table()), max_tokens=400)
    assert chunk.text.startswith(HEADER)
    assert chunk.context == ""


def test_rows_stay_whole_and_the_header_travels_as_context():
    first, *others = chunk_document(document_of(*table()), max_tokens=30)
    assert first.text.startswith(HEADER)
    assert first.context == ""
    assert others
    assert all(chunk.context == HEADER and HEADER not in chunk.text for chunk in others)
    assert [row for c in (first, *others) for row in c.text.split("\n")] == [HEADER, *ROWS]


def test_a_header_never_ends_a_chunk_and_context_is_not_lent_to_other_text():
    intro = "An introduction that leaves room for the header and for nothing else."
    document = document_of(paragraph(intro), *table(), paragraph("After."))
    budget = count_tokens(intro) + count_tokens(HEADER)
    chunks = chunk_document(document, max_tokens=budget)
    assert chunks[0].text == intro
    assert chunks[1].text.startswith(f"{HEADER}\n{ROWS[0]}")
    assert chunks[-1].text == "After."
    assert chunks[-1].context == ""


def test_a_table_may_begin_behind_its_introduction():
    chunks = chunk_document(document_of(paragraph("These are the fees."), *table()), max_tokens=40)
    assert chunks[0].text.startswith(f"These are the fees.\n{HEADER}\n{ROWS[0]}")
    assert chunks[0].context == ""
    assert chunks[1].context == HEADER


def test_a_lead_in_goes_with_the_list_it_introduces():
    filler, lead, item = (
        "Some filler that takes its ten tokens or so.",
        "You need:",
        "- item of the list",
    )
    document = document_of(paragraph(filler), paragraph(lead), *[(BlockKind.LIST_ITEM, item)] * 3)
    budget = count_tokens(filler) + count_tokens(lead) + 1
    first, *others = chunk_document(document, max_tokens=budget)
    assert first.text == filler
    assert others[0].text.startswith(f"{lead}\n{item}")


def test_code_is_whole_when_it_fits_and_cut_at_lines_when_it_does_not():
    code = "```\n" + "\n".join(f"step {n}. go" for n in range(10)) + "\n```"
    document = document_of(paragraph("Run it."), (BlockKind.CODE, code))
    assert code in [c.text for c in chunk_document(document, max_tokens=count_tokens(code))]
    pieces = chunk_document(document, max_tokens=12)
    assert len(pieces) > 3
    for chunk in pieces:
        assert set(chunk.text.split("\n")) <= {"Run it.", *code.split("\n")}


def test_a_stray_mark_is_no_chunk_of_its_own():
    document = document_of(
        paragraph("One two three four."), (BlockKind.MARKUP, "---"), paragraph("Five six.")
    )
    assert [c.text for c in chunk_document(document, max_tokens=5)] == [
        "One two three four.\n---",
        "Five six.",
    ]


def test_overlap_repeats_whole_sentences_under_one_heading_only():
    text = (
        "# A\n"
        + " ".join(f"Sentence {n} is here now." for n in range(9))
        + "\n# B\nOther text. " * 2
    )
    chunks = chunk_document(Document(id="d", text=text), max_tokens=18, overlap_sentences=1)
    under_a = [c for c in chunks if c.location.heading == ("A",)]
    for before, after in pairwise(under_a):
        repeated = after.span.start
        assert before.span.start < repeated < before.span.end
        assert text[repeated : before.span.end].count("Sentence") == 1
    assert all(c.text.startswith("Other") for c in chunks if c.location.heading == ("B",))
