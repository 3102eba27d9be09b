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

from evidencedesk.adapters.parsers.mail import MailParser
from evidencedesk.adapters.parsers.markdown import MarkdownParser
from evidencedesk.adapters.parsers.package import Package
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
    assert seeds([SAMPLES], ["md"])


def test_a_package_of_a_later_zip_version_is_damaged_not_a_crash() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as package:
        package.writestr("a", b"")
    data = bytearray(made.getvalue())
    data[data.index(b"PK\x01\x02") + 6] = 148  # version needed to extract, in the directory
    with pytest.raises(ParseError) as caught:
        Package(bytes(data), "a.docx", "DOCX")
    assert caught.value.code == "damaged"
