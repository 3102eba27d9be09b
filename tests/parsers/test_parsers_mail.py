from __future__ import annotations

from email.message import EmailMessage

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reading_back import assert_blocks_cover, located_blocks

from evidencedesk.adapters.parsers.mail import MailboxParser, MailParser
from evidencedesk.model import BlockKind, ParsedDocument


def message(
    body: str = "First.\n\nSecond.\n\n> said before\n", subject: str = "Fees"
) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "a@example.org", "b@example.org", subject
    made["Date"] = "Fri, 03 May 2024 10:00:00 +0200"
    made.set_content(body)
    return made


def parse(data: bytes) -> ParsedDocument:
    parsed = MailParser().parse(data, "a.eml")
    assert_blocks_cover(parsed)
    return parsed


def test_a_paragraph_is_said_as_people_say_it():
    parsed = parse(bytes(message()))
    places = dict(located_blocks(parsed))
    assert places["Second."].label == "Message of 3 May 2024, paragraph 2"
    assert parsed.blocks[-1].kind is BlockKind.QUOTE
    assert (parsed.title, parsed.warnings) == ("Fees", ())
    assert "From: a@example.org" in parsed.text


@pytest.mark.parametrize("charset", ["utf-8", "windows-1255", "iso-8859-8"])
def test_subject_and_body_are_decoded(charset: str):
    made = EmailMessage()
    made["Subject"] = "שלום"
    made.set_content("ירושלים", charset=charset)
    parsed = parse(bytes(made))
    assert parsed.title == "שלום"
    assert "ירושלים" in parsed.text


def test_of_alternatives_the_plain_one_is_read_and_without_it_the_html():
    both = message("plain words")
    both.add_alternative("<p>html words</p>", subtype="html")
    assert "html words" not in parse(bytes(both)).text
    only = EmailMessage()
    only.set_content("<h1>Title</h1><p>html words</p>", subtype="html")
    assert "html words" in parse(bytes(only)).text


def test_attachments_are_members_with_clean_names_of_their_own():
    made = message()
    for name, data in (("../../x.txt", b"one"), ("x.txt", b"two"), ("a\u202egpj.exe", b"three")):
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    made.add_attachment(message("inner", subject="Inner"))
    contents = MailParser().members(bytes(made), "a.eml")
    assert [member.name for member in contents.members] == [
        "x.txt",
        "x-2.txt",
        "a gpj.exe",
        "Inner.eml",
    ]
    assert [member.data for member in contents.members[:3]] == [b"one", b"two", b"three"]
    assert "inner" in parse(contents.members[3].data).text


def mailbox(*messages: EmailMessage) -> bytes:
    return b"".join(b"From x Fri May  3 10:00:00 2024\n" + bytes(each) + b"\n" for each in messages)


def test_messages_of_a_mailbox_keep_their_names_when_others_go():
    first, second = message("one"), message(">From here\n\nFrom there\n")
    whole = MailboxParser().members(mailbox(first, second), "a.mbox").members
    rest = MailboxParser().members(mailbox(second), "a.mbox").members
    assert [member.name for member in whole][1:] == [member.name for member in rest]
    assert whole[0].name.startswith("2024-05-03-")
    assert "one" in parse(whole[0].data).text


def test_a_message_that_stands_twice_is_one_document_and_said_to_be():
    contents = MailboxParser().members(mailbox(message(), message()), "a.mbox")
    assert len(contents.members) == 1
    assert [each.code for each in contents.refused] == ["duplicate"]


@given(st.binary(max_size=300), st.integers(0, 600))
@example(b"!/", 479)
def test_a_damaged_message_breaks_nothing(noise: bytes, place: int):
    made = message()
    made.add_attachment(b"x" * 50, maintype="application", subtype="pdf", filename="a.pdf")
    data = bytes(made)
    contents = MailParser().members(data[:place] + noise + data[place:], "a.eml")
    assert len(contents.members) + len(contents.refused) <= len(data) + len(noise)
    assert all(member.name and "/" not in member.name for member in contents.members)


def test_headers_that_the_standard_library_trips_over():
    data = (
        b"Subject: =?utf-8?B?!!!?= =?nonsense?Q?x?=\nFrom: =?\nDate: 99 Foo 20999\n"
        b"Content-Type: text/plain; charset*=x'y'%ff\nContent-Transfer-Encoding: base64\n\n!!!\n"
    )
    assert parse(data).blocks
