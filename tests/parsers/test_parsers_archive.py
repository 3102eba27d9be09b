from __future__ import annotations

import io
import stat
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages import zipped

from evidencedesk.adapters.parsers.archive import ArchiveParser
from evidencedesk.adapters.parsers.member_names import clean_name
from evidencedesk.errors import ParseError
from evidencedesk.model import FailedSource
from evidencedesk.model.contents import Contents


def members(data: bytes) -> Contents:
    return ArchiveParser().members(data, "a.zip")


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.create_system, made.external_attr = 3, mode << 16
    return made


def archive(*entries: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in entries:
            target.writestr(name, data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def test_files_come_out_and_folders_and_hidden_files_do_not():
    data = zipped({"a/": "", "a/b.md": "words", ".hidden": "x", "__MACOSX/._b": "x"})
    assert [(each.name, each.data) for each in members(data).members] == [("a/b.md", b"words")]


def test_links_devices_and_second_names_stay_inside():
    data = archive(
        (entry("link", stat.S_IFLNK | 0o777), b"/etc/passwd"),
        (entry("pipe", stat.S_IFIFO | 0o600), b""),
        ("a.md", b"one"),
        ("./x/../A.MD", b"other"),
        ("A.md", b"two"),
    )
    contents = members(data)
    assert [each.name for each in contents.members] == ["a.md", "x/A.MD"]
    assert {each.source: each.code for each in contents.refused} == {
        "link": "refused",
        "pipe": "refused",
        "A.md": "refused",
    }
    assert all(b"passwd" not in each.data for each in contents.members)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(archive(("zeros", bytes(50 * 1024 * 1024))), id="ratio"),
        pytest.param(archive(*((f"{n}", b"") for n in range(10_001))), id="entries"),
    ],
)
def test_bombs_are_refused_before_they_are_unpacked(data: bytes):
    with pytest.raises(ParseError) as caught:
        members(data)
    assert caught.value.code == "refused"


def test_an_entry_that_lies_about_its_size_is_not_taken_out():
    data = bytearray(archive(("a", b"x" * 1000)))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(signature) + offset
        data[place : place + 4] = (10).to_bytes(4, "little")
    contents = members(bytes(data))
    assert not contents.members or len(contents.members[0].data) <= 10


def test_a_damaged_entry_costs_itself_only():
    data = archive(("a", b"first words" * 20), ("b", b"second words" * 20))
    place = data.index(b"a", 26) + 6
    broken = data[:place] + b"\xff\xff\xff" + data[place + 3 :]
    contents = members(broken)
    assert [each.name for each in contents.members] == ["b"]
    assert [each.code for each in contents.refused] == ["damaged"]


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("C:\\temp\\a.md", "temp/a.md"),
        ("/abs//./a.md", "abs/a.md"),
        ("a\0b\x1b[31m.md", "a_b_[31m.md"),
        ("CON", "_CON"),
        ("aux.txt", "_aux.txt"),
        ("x\u202egpj.exe", "x_gpj.exe"),
        ("zip!/inner.md", "zip!_/inner.md"),
        ("..", "file"),
        ("", "file"),
    ],
)
def test_names_are_cleaned(name: str, clean: str):
    assert clean_name(name) == clean


@given(st.text(max_size=400))
def test_a_clean_name_leads_nowhere_and_stays_clean(name: str):
    clean = clean_name(name)
    parts = clean.split("/")
    assert clean
    assert not {"", ".", ".."} & set(parts)
    assert clean.isprintable()
    assert "!/" not in clean
    assert max(map(len, parts)) <= 130
    assert clean_name(clean) == clean


def test_a_long_name_keeps_its_extension_and_its_difference():
    first, second = clean_name("a" * 300 + "1.md"), clean_name("a" * 300 + "2.md")
    assert first != second
    assert first.endswith(".md")


@given(st.integers(0, 400), st.binary(min_size=1, max_size=20))
def test_a_mutated_archive_gives_files_or_a_reason(place: int, noise: bytes):
    data = archive(("a.md", b"words " * 30), ("b.md", b"more"))
    mutated = data[:place] + noise + data[place + len(noise) :]
    try:
        contents = members(mutated)
    except ParseError as error:
        contents = Contents(refused=(FailedSource("a.zip", error.code, error.message),))
    assert {each.code for each in contents.refused} <= {
        "damaged",
        "refused",
        "encrypted",
        "unsupported",
    }
    assert all(len(each.data) < 100_000 for each in contents.members)
