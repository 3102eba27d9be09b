from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.errors import ParseError
from evidencedesk.ingestion import sniff as types
from evidencedesk.ingestion.sniff import DOCX, HTML, MARKDOWN, PDF, TEXT, looks_binary, sniff

KNOWN = {
    "unsupported",
    "damaged",
    *(value for name, value in vars(types).items() if name.isupper() and isinstance(value, str)),
}


def zipped(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"# Title\n", "a.md", MARKDOWN),
        (b"# Title\n", "A.MARKDOWN", MARKDOWN),
        (b"words\n", "a.txt", TEXT),
        (b"words\n", "a.log", TEXT),
        (b"words\n", "README", TEXT),
        (b"<p>fragment", "a.htm", HTML),
        (b"<p>fragment", "a.md", MARKDOWN),
        (b"%PDF-1.7\n\x00\xff", "a.txt", PDF),
        (b"junk before\n%PDF-1.4", "a.pdf", PDF),
        (b"<!DOCTYPE html><p>x", "a.pdf", HTML),
        ("\ufeff<html><p>x".encode("utf-16-le"), "a.txt", HTML),
        (b"<!-- saved --><html>", "a", HTML),
        (zipped("word/document.xml"), "a.zip", DOCX),
        (zipped("anything"), "a.docx", DOCX),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "a", DOCX),
        ("größer".encode("utf-16"), "a.txt", TEXT),
        (("plain text. " * 20).encode("utf-32-le"), "a.txt", TEXT),
        ("Вторая строка".encode("cp1251"), "a.txt", TEXT),
        (b"one\x00two, and some more text", "a.md", MARKDOWN),
        (b"", "a.md", MARKDOWN),
        (b"MZ is how this sentence begins.", "a.txt", TEXT),
        (b"\x00\x01\x02" * 100, "a.pdf", PDF),
    ],
)
def test_content_says_what_it_is_and_the_name_where_it_does_not(
    data: bytes, name: str, media_type: str
) -> None:
    assert sniff(data, name) == media_type


@pytest.mark.parametrize(
    ("data", "name", "code", "says"),
    [
        (b"\x89PNG\r\n\x1a\n...", "a.txt", "unsupported", "a PNG image"),
        (b"MZ\x90\x00\x03\x00\x00\x00", "a.txt", "unsupported", "a program"),
        (zipped("xl/workbook.bin"), "a.xlsb", "unsupported", "a binary Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "a.doc", "unsupported", "before 2007"),
        (b"{\\rtf1 x}", "a.md", "unsupported", "Rich Text"),
        (bytes(range(256)) * 4, "a.txt", "unsupported", "binary data"),
        (b"words", "a.pdf", "damaged", "named .pdf and holds text"),
        (b"", "a.docx", "damaged", "holds nothing"),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, name: str, code: str, says: str) -> None:
    with pytest.raises(ParseError, match=says) as caught:
        sniff(data, name)
    assert caught.value.code == code
    assert caught.value.message.startswith(f"{name}: ")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1))
def test_no_text_is_taken_for_binary(text: str) -> None:
    assert not looks_binary(text.encode())


@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.pdf", "a.docx", "a", "a.html"]))
def test_any_bytes_have_a_type_or_a_reason(data: bytes, name: str) -> None:
    try:
        found = sniff(data, name)
    except ParseError as error:
        found = error.code
    assert found in KNOWN
