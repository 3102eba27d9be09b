"""What fuzzing found (``python -m benchmarks.fuzz``), each as a file that broke a parser once."""

from __future__ import annotations

import io
import random
import zipfile
from contextlib import suppress
from dataclasses import replace

import pytest
from benchmarks.fuzz import SAMPLES, mutated, problem_of, seeds
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from evidencedesk.adapters.parsers.archive import ArchiveParser
from evidencedesk.adapters.parsers.decoding import decode
from evidencedesk.adapters.parsers.delimited import CsvParser
from evidencedesk.adapters.parsers.mail import MailboxParser, MailParser
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.adapters.parsers.package import Package, local_name
from evidencedesk.errors import MetadataError, ParseError


@pytest.mark.parametrize("subject", ["=?utf-8?b?YWJj=ZA?=", "=?utf-8?b?abcde?= x", "=?x?q?=ff?="])
def test_a_header_that_is_wrongly_encoded_is_read_as_it_stands(subject: str) -> None:
    message = f"From: a@example.org\nSubject: {subject}\n\nThe body is there.\n"
    parsed = MailParser().parse(message.encode(), "a.eml")
    assert "The body is there." in parsed.text


@given(st.binary(max_size=400), st.integers(0, 50))
def test_mutation_depends_on_the_seed_alone(data: bytes, seed: int) -> None:
    assert mutated(data, random.Random(seed)) == mutated(data, random.Random(seed))


def test_a_document_that_misses_words_is_a_finding() -> None:
    parsed = MarkdownParser().parse(b"one\n\ntwo\n", "a.md")
    assert problem_of(parsed) == ""
    assert "two" in problem_of(replace(parsed, blocks=parsed.blocks[:1]))


@given(st.integers(0, 10_000))
def test_mutated_messages_give_text_or_a_reason(seed: int) -> None:
    message = (
        b"From: a@example.org\nTo: b@example.org\nDate: Fri, 03 May 2024 10:00:00 +0000\n"
        b"Subject: =?utf-8?b?w6k=?= fees\nMIME-Version: 1.0\n"
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nbody\n--x--\n"
    )
    changed = mutated(message, random.Random(seed))
    with suppress(ParseError, MetadataError):
        assert problem_of(MailParser().parse(changed, "a.eml")) == ""


def test_there_are_seeds() -> None:
    for kind in ("md", "jsonl", "mbox", "zip"):
        assert [name for name, _ in seeds([SAMPLES], [kind])], kind


def test_a_package_of_a_later_zip_version_is_damaged_not_a_crash() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as package:
        package.writestr("a", b"")
    data = bytearray(made.getvalue())
    data[data.index(b"PK\x01\x02") + 6] = 148  # version needed to extract, in the directory
    with pytest.raises(ParseError) as caught:
        Package(bytes(data), "a.docx", "DOCX")
    assert caught.value.code == "damaged"


@pytest.mark.parametrize("encoded", [True, False])
def test_an_encoding_whose_name_holds_a_zero_byte_is_unknown(*, encoded: bool) -> None:
    transfer = "Content-Transfer-Encoding: base64\n" if encoded else ""
    body = "VGhlIGJvZHkgaXMgdGhlcmUu" if encoded else "The body is there. \u00e9"
    head = f'From: a@example.org\nContent-Type: text/plain; charset="u\0tf"\n{transfer}'
    parsed = MailParser().parse(f"{head}\n{body}\n".encode("latin-1"), "a.eml")
    assert "The body is there." in parsed.text


def test_an_encoding_with_a_zero_byte_is_unknown_wherever_it_is_declared() -> None:
    assert decode("Fee: 30 \u20ac".encode(), "a.txt", declared=["u\0tf"]).text == "Fee: 30 \u20ac"


@pytest.mark.parametrize("local", ["t", "main}t"])
def test_a_namespace_may_hold_any_text(local: str) -> None:
    lenient = etree.XMLParser(recover=True)
    element = etree.fromstring(f'<a:t xmlns:a="x{local.removesuffix("t")}"/>'.encode(), lenient)
    assert local_name(element) == "t"


@pytest.mark.parametrize("row", [b'"\n"\n', b'"\n",\n', b'" \n\n "\n'])
def test_a_row_of_nothing_but_line_ends_is_blank_and_counts_its_lines(row: bytes) -> None:
    before, after = b"name,fee\nhelmet,30\n", b"lamp,12\n"
    parsed = CsvParser().parse(before + row + after, "a.csv")
    assert problem_of(parsed) == ""
    lines = parsed.text[: parsed.text.index("lamp")].count("\n")
    assert lines == (before + row).count(b"\n")


def test_a_mailbox_in_which_no_message_begins_is_damaged_and_an_empty_one_is_empty() -> None:
    with pytest.raises(ParseError) as caught:
        MailboxParser().members(b"Fro\0 nobody\n", "a.mbox")
    assert caught.value.code == "damaged"
    assert MailboxParser().members(b" \n", "a.mbox").members == ()


def test_a_member_without_a_name_is_taken_under_another() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), "The words are there.")
    (member,) = ArchiveParser().members(made.getvalue(), "a.zip").members
    assert (member.name, member.data) == ("file", b"The words are there.")
