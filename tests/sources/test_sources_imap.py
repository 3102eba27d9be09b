from __future__ import annotations

import imaplib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from evidencedesk import Desk, Principal
from evidencedesk.adapters.sources.imap import MailAccount, MailFolder, _quoted
from evidencedesk.errors import SourceError, UsageError
from evidencedesk.settings import Settings
from evidencedesk.source_wiring import mail_sources

ADMINISTRATOR = Principal(administrator=True)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A real IMAP server (pymap, in memory) on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    program = Path(sys.executable).with_name("pymap")
    server = subprocess.Popen(
        [program, "--host", "127.0.0.1", "--port", str(number), "--no-tls", "dict", "--demo-data"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", number)) == 0:
                    break
            time.sleep(0.1)
        yield number
    finally:
        server.terminate()
        server.wait()


def message(subject: str, text: str, attached: bytes = b"") -> bytes:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "a@example.org", "b@example.org", subject
    made["Date"] = "Fri, 03 May 2024 10:00:00 +0000"
    made.set_content(text)
    if attached:
        made.add_attachment(attached, maintype="text", subtype="markdown", filename="fees.md")
    return bytes(made)


@pytest.fixture
def folder(port: int, request: pytest.FixtureRequest) -> Iterator[tuple[str, imaplib.IMAP4]]:
    """A folder of one's own, and a second client that changes it."""
    name = f"Folder {request.node.name[:20]}"
    client = imaplib.IMAP4("127.0.0.1", port)
    client.login("demouser", "demopass")
    client.create(_quoted(name))
    client.select(_quoted(name))
    yield name, client
    client.logout()


def source(port: int, name: str, password: str = "demopass") -> MailFolder:
    return MailFolder(MailAccount(f"imap://demouser@127.0.0.1:{port}/{name}", password))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    settings = Settings.model_validate({"embedding": {"model": "none"}})
    return Desk.open(tmp_path / "a.desk", settings=settings, create=True)


def test_messages_and_their_attachments_become_documents(
    desk: Desk, port: int, folder: tuple[str, imaplib.IMAP4]
) -> None:
    name, client = folder
    text = message("Fees", "The fee is 40 euros.", b"# Fees\n\nThe deposit is 15 euros.\n")
    client.append(_quoted(name), "", "", text)
    client.append(_quoted(name), "", "", message("Rooms", "The room is upstairs."))
    report = desk.ingest(sources=[source(port, name)], roles={"staff"})
    assert len(report.added) == 3
    assert report.failed == ()
    staff = Principal(roles=frozenset({"staff"}))
    assert "15 euros" in desk.ask("How much is the deposit?", principal=staff).text
    sources = sorted(record.source for record in desk.documents(principal=staff))
    assert all(";UIDVALIDITY=" in each and ";UID=" in each for each in sources)
    assert sum(each.endswith("!/fees.md") for each in sources) == 1


def test_the_next_run_fetches_nothing_and_prunes_what_was_deleted(
    desk: Desk, port: int, folder: tuple[str, imaplib.IMAP4]
) -> None:
    name, client = folder
    for subject in ("One", "Two", "Three"):
        client.append(_quoted(name), "", "", message(subject, f"{subject} is here.", b"# A\n\nb\n"))
    desk.ingest(sources=[source(port, name)])
    again = desk.ingest(sources=[source(port, name)], prune=True)
    assert (again.unchanged, again.added, again.removed) == (3, (), ())
    client.select(_quoted(name))
    client.uid(
        "STORE", client.uid("SEARCH", "ALL")[1][0].split()[0].decode(), "+FLAGS", "\\Deleted"
    )
    client.expunge()
    report = desk.ingest(sources=[source(port, name)], prune=True)
    assert len(report.removed) == 2
    assert len(desk.documents(principal=ADMINISTRATOR)) == 4


def test_reading_leaves_messages_unseen(port: int, folder: tuple[str, imaplib.IMAP4]) -> None:
    name, client = folder
    client.append(_quoted(name), "", "", message("One", "text"))
    assert len(list(source(port, name).items({}))) == 1
    client.select(_quoted(name))
    assert client.search(None, "UNSEEN")[1][0].split() == [b"1"]


def test_a_wrong_password_or_folder_is_reported_and_removes_nothing(
    desk: Desk, port: int, folder: tuple[str, imaplib.IMAP4]
) -> None:
    name, client = folder
    client.append(_quoted(name), "", "", message("One", "text"))
    desk.ingest(sources=[source(port, name)])
    for wrong in (source(port, name, "nothing"), source(port, "No such folder")):
        report = desk.ingest(sources=[wrong], prune=True, force=True)
        assert [failure.code for failure in report.failed] == ["unreachable"]
        assert "nothing" not in report.failed[0].message
    assert len(desk.documents(principal=ADMINISTRATOR)) == 1


def test_a_message_that_is_too_large_is_left(port: int, folder: tuple[str, imaplib.IMAP4]) -> None:
    name, client = folder
    client.append(_quoted(name), "", "", message("One", "x" * 3_000))
    account = MailAccount(f"imap://demouser@127.0.0.1:{port}/{name}", "demopass", max_bytes=1_000)
    (item,) = MailFolder(account).items({})
    assert getattr(item, "code", "") == "too_large"


@pytest.mark.parametrize(
    "url",
    [
        "imap://me@mail.example.org/INBOX",
        "imaps://mail.example.org/INBOX",
        "imaps://me:secret@mail.example.org/INBOX",
        "https://me@mail.example.org/INBOX",
        "imaps:///INBOX",
    ],
)
def test_addresses_that_would_betray_a_password_are_refused(url: str) -> None:
    with pytest.raises(SourceError) as caught:
        MailFolder(MailAccount(url, "x"))
    assert caught.value.code == "bad_url"
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("name", "written"),
    [("INBOX", '"INBOX"'), ("Entwürfe", '"Entw&APw-rfe"'), ('a"b & c', '"a\\"b &- c"')],
)
def test_names_of_folders_are_written_as_servers_want_them(name: str, written: str) -> None:
    assert _quoted(name) == written


def test_a_mailbox_needs_its_password_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAIL_PASSWORD", raising=False)
    boxes = ["imaps://me@mail.example.org/INBOX"]
    with pytest.raises(UsageError) as caught:
        mail_sources(Settings(), mailboxes=boxes, password=None)
    assert caught.value.code == "no_password"
    with pytest.raises(UsageError) as refused:
        mail_sources(Settings(offline=True), mailboxes=boxes, password="x")
    assert refused.value.code == "offline"
    (made,) = mail_sources(Settings(), mailboxes=boxes, password="x")
    assert made.root == boxes[0]
