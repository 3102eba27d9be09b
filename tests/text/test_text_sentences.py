import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.text.sentences import ends_sentence, sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["One.", "Two!", "Three?", "Four…", "Five"],
        ["first one.", "second one."],
        ["আমি ভাত খাই।", "তুমি কী খাও?", "ভালো।"],
        ["یہ ایک جملہ ہے۔", "کیا یہ ٹھیک ہے؟", "ہاں۔"],
        [
            'He said "Why?" and left.',
            "(See the annex.)",
            "Then we went.[1]",
            "It **ended.**",
            "So.",
        ],
        ["We met Dr. Rahman and Mrs. Ali at 5 p.m. on Monday.", "Nobody else came."],
        ["It opens at 9 a.m.", "The door closes at 5 p.m.", "Then it is dark."],
        ["J. R. R. Tolkien wrote it.", "Plan B.", "Then what?"],
        ["It costs 3.50 or 4.2 million.", "Version 2.10.1 is out.", "It came in 2020.", "Yes."],
        [
            "See https://example.org/a?b=1.5&c!x and www.example.org.",
            "Then write to a.b@example.org.",
        ],
        ["See Fig. 3, No. 5 and pp. 4-6.", "No.", "It is not there."],
        [
            "Use tools, e.g. Python, i.e. the language, etc. and so on.",
            "Use Java etc.",
            "Stop there.",
        ],
        ["Acme Inc. sells bikes.", "It was bought by Acme Ltd.", "Acme was happy."],
        ["Well... that was all.", "Well...", "That was all."],
        ["ডা. রহমান ২.৫ টাকা দিলেন।", "মো. আলী দেননি।"],
    ],
)
def test_sentences_end_where_a_reader_ends_them(parts):
    assert cut(" ".join(parts)) == parts


def test_scripts_without_spaces_need_none():
    assert cut("你好。世界！「好？」他说……再见") == ["你好。", "世界！", "「好？」", "他说……再见"]
    assert cut("এক।দুই।") == ["এক।", "দুই।"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_blank_line_ends_a_sentence_and_a_line_break_does_not(newline):
    text = f"Hard wrapped{newline}prose{newline} \t{newline}Next paragraph"
    assert cut(text) == [f"Hard wrapped{newline}prose", "Next paragraph"]


def test_list_items_headings_and_table_rows_are_sentences_of_their_own():
    text = "# Steps\nDo this:\n- first\n  still first\n- second. More\n| a | b |\n| c. D | d |"
    assert cut(text) == [
        "# Steps",
        "Do this:",
        "- first\n  still first",
        "- second.",
        "More",
        "| a | b |",
        "| c. D | d |",
    ]


def test_numbered_items_are_told_from_wrapped_numbers():
    assert cut("1. First step\n2. Second step\n10. Tenth step") == [
        "1. First step",
        "2. Second step",
        "10. Tenth step",
    ]
    assert cut("The limit is\n30. days are counted") == ["The limit is\n30. days are counted"]


def test_blank_text_has_no_sentences():
    assert sentences("") == []
    assert sentences(" \n\t\u2003\n") == []


def test_ends_sentence_looks_through_closing_marks():
    assert ends_sentence('He said "no."  \n')
    assert ends_sentence("শেষ।")
    assert not ends_sentence("and then")
    assert not ends_sentence(" )")


WORDS = [
    "Dr.",
    "One",
    "two.",
    "3.5",
    "J.",
    "end!",
    "-",
    "1.",
    "|",
    "#",
    "।",
    "。",
    "…",
    ")",
    "e.g.",
    "U.S.",
    "[1]",
    "7.",
    "x",
]
SPACES = ["\n", "\r\n", "\n\n", " ", "\t", "\u2028", "\u2029", "\u00a0", ""]
PROSE = st.lists(st.sampled_from(WORDS + SPACES), max_size=40).map("".join)


@given(PROSE | st.text(max_size=80))
def test_spans_cover_all_ink_in_order_without_surrounding_whitespace(text):
    spans = sentences(text)
    covered = set()
    last = 0
    for start, end in spans:
        assert last <= start < end
        assert text[start:end] == text[start:end].strip()
        covered.update(range(start, end))
        last = end
    assert all(index in covered or text[index].isspace() for index in range(len(text)))


@given(PROSE)
def test_no_sentence_crosses_a_blank_line(text):
    assert all("\n\n" not in part for part in cut(text))
