from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_back import assert_blocks_cover, fold, lines_of, located_blocks, text_at_lines

from evidencedesk.adapters.parsers.decoding import decode
from evidencedesk.adapters.parsers.text import TextParser
from evidencedesk.errors import ParseError
from evidencedesk.model import Document, Span, line_starts, locate

PARSER = TextParser()
TEXTS = st.text(st.sampled_from("ab .\n\r\x0b\x0c\x1c\x85\u2028éক্ষু漢🚲"), max_size=80)


@given(TEXTS, st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_every_paragraph_is_found_again_at_its_lines(text: str, mark: bytes) -> None:
    data = mark + text.encode()
    parsed = PARSER.parse(data, "a.txt")
    assert parsed.text == text
    assert_blocks_cover(parsed)
    for found, location in located_blocks(parsed):
        assert fold(text_at_lines(data, location)) == fold(found)


@given(TEXTS)
def test_lines_are_those_of_an_editor(text: str) -> None:
    starts = [*line_starts(text), len(text)]
    cut = [text[a:b].rstrip("\r\n") for a, b in pairwise(starts)]
    assert [line.rstrip("\r\n") for line in cut] == lines_of(text.encode())


def test_paragraphs_are_parted_by_blank_lines_only() -> None:
    parsed = PARSER.parse(b"one\ntwo\n \t\nthree\n\n\n  four\n", "a.txt")
    assert [parsed.text[b.start : b.end] for b in parsed.blocks] == ["one\ntwo", "three", "four"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_wide_encodings(encoding: str) -> None:
    text = "A plain line, and another.\nÉté 2024 — fin.\n" * 5
    assert PARSER.parse(text.encode(encoding), "a.txt").text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Вторая строка текста, написанная по-русски.", "cp1251"),
        ("合同期限为三年，自签订之日起计算。", "gb18030"),
        ("Résumé naïve.", "latin-1"),
        ("Preis: 30 € für „Größe“ – später", "cp1252"),
    ],
)
def test_legacy_encodings_are_recognised_and_reported(text: str, encoding: str) -> None:
    parsed = PARSER.parse(text.encode(encoding), "a.txt")
    assert parsed.text == text
    assert "not declared" in parsed.warnings[0]


def test_a_few_bad_bytes_cost_only_themselves() -> None:
    parsed = PARSER.parse(b"good\nbad \xff byte\nthird caf\xc3\xa9 line\n", "a.txt")
    assert "third café line" in parsed.text
    assert parsed.warnings == ("1 characters could not be decoded as utf-8",)


def test_zero_characters_keep_every_offset() -> None:
    parsed = PARSER.parse(b"one\x00two\n", "a.txt")
    assert parsed.text == "one\ufffdtwo\n"
    assert parsed.warnings == ("1 zero characters were replaced",)


def test_a_replacement_character_in_the_file_is_no_fault() -> None:
    assert PARSER.parse("a \ufffd b".encode(), "a.txt").warnings == ()


def test_noise_is_refused() -> None:
    noise = bytes((index * 7919 + index // 3) % 256 for index in range(4096))
    with pytest.raises(ParseError) as caught:
        decode(noise, "noise.txt")
    assert caught.value.code == "unsupported"


def test_nothing_at_all_is_a_document_without_blocks() -> None:
    assert PARSER.parse(b"", "a.txt").blocks == ()


def test_a_document_without_blocks_still_knows_its_lines() -> None:
    location = locate(Document(id="a", text="one\r\ntwo\r\n\r\nthree"), Span(3, 9))
    assert (location.first_line, location.last_line, location.start, location.end) == (2, 2, 3, 9)
