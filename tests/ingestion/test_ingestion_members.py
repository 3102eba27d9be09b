"""Files inside files: documents of their own, never trusted, never deeper or more than allowed."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest

from evidencedesk import Desk, Settings
from evidencedesk.access import Principal
from evidencedesk.model import DocumentRecord

OPERATOR = Principal(administrator=True)
SETTINGS = Settings.model_validate(
    {"embedding": {"model": "none"}, "access": {"default_roles": ("staff",)}}
)


def zipped(files: Mapping[str, bytes | str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def mail(**attachments: bytes) -> bytes:
    made = EmailMessage()
    made["Subject"], made["Date"] = "Fees", "Fri, 03 May 2024 10:00:00 +0200"
    made.set_content("The fee is ten euro.")
    for name, data in attachments.items():
        made.add_attachment(data, maintype="text", subtype="markdown", filename=f"{name}.md")
    return bytes(made)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


@pytest.fixture
def desk(tmp_path: Path):
    with Desk.open(tmp_path / "a.desk", settings=SETTINGS) as opened:
        yield opened


def records(desk: Desk) -> dict[str, DocumentRecord]:
    return {each.source: each for each in desk.documents(principal=OPERATOR)}


def test_members_are_documents_with_sources_that_say_where_they_are(folder: Path, desk: Desk):
    inner = zipped({"deep.md": "# Deep\n\nwords in the inner archive"})
    (folder / "a.zip").write_bytes(zipped({"x/b.md": "# B\n\nouter words", "c.zip": inner}))
    (folder / "m.eml").write_bytes(mail(terms=b"# Terms\n\nattached words"))
    report = desk.ingest(folder)
    assert (report.failed, report.refused) == ((), ())
    assert set(records(desk)) == {
        "a.zip!/x/b.md",
        "a.zip!/c.zip!/deep.md",
        "m.eml",
        "m.eml!/terms.md",
    }
    assert records(desk)["a.zip!/x/b.md"].id == "a-zip-x-b"
    again = desk.ingest(folder)
    assert (again.added, again.changed, again.metadata, again.unchanged) == ((), (), (), 4)


def test_a_member_can_only_narrow_and_takes_nobodys_id(folder: Path, desk: Desk):
    claims = "---\nid: handbook\nroles: [everybody]\ndeny: [guest]\n---\n# X\n\nwords"
    (folder / "a.zip").write_bytes(zipped({"x.md": claims}))
    (folder / "h.md").write_text("---\nid: handbook\n---\n# H\n\nwords")
    desk.ingest(folder)
    member = records(desk)["a.zip!/x.md"]
    assert (member.id, member.roles, member.deny) == ("a-zip-x", frozenset(), {"guest"})
    assert records(desk)["h.md"].id == "handbook"


def test_what_the_manifest_says_of_an_archive_holds_for_all_in_it(folder: Path, desk: Desk):
    (folder / "evidencedesk-folder.yaml").write_text(
        'files:\n  "secret.zip": {roles: [boss], id: the-archive}\n  "*.md": {roles: [staff]}\n'
    )
    (folder / "secret.zip").write_bytes(zipped({"x.md": "words"}))
    desk.ingest(folder)
    member = records(desk)["secret.zip!/x.md"]
    assert (member.id, member.roles) == ("secret-zip-x", {"boss"})


def test_failing_members_cost_themselves_only(folder: Path, desk: Desk):
    bad = {"bad.pdf": b"%PDF-1.7 nothing", "good.md": b"words", "pic.png": b"\x89PNG\r\n\x1a\n"}
    (folder / "a.zip").write_bytes(zipped(bad))
    (folder / "none.zip").write_bytes(zipped({}))
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 nothing")
    report = desk.ingest(folder)
    assert {each.source: each.code for each in report.failed} == {
        "a.zip!/bad.pdf": "damaged",
        "a.zip!/pic.png": "unsupported",
        "none.zip": "no_text",
        "broken.zip": "damaged",
    }
    assert set(records(desk)) == {"a.zip!/good.md"}


def test_nesting_ends(folder: Path, desk: Desk):
    data = zipped({"words.md": "words"})
    for _ in range(4):
        data = zipped({"a.zip": data})
    (folder / "a.zip").write_bytes(data)
    report = desk.ingest(folder)
    assert [each.code for each in report.refused] == ["refused"]
    assert "nested more than 3 deep" in report.refused[0].message
    assert not records(desk)


def test_pruning_knows_members(folder: Path, desk: Desk):
    (folder / "a.zip").write_bytes(zipped({"x.md": "words", "y.md": "words too"}))
    (folder / "b.zip").write_bytes(zipped({"z.md": "other words"}))
    (folder / "c.md").write_text("words")
    desk.ingest(folder)
    assert desk.ingest(folder, prune=True).removed == ()
    (folder / "a.zip").write_bytes(zipped({"x.md": "words"}))
    assert desk.ingest(folder, prune=True).removed == ("a-zip-y",)
    (folder / "b.zip").write_bytes(b"PK\x03\x04 half a file")
    assert desk.ingest(folder, prune=True).removed == ()
    (folder / "b.zip").unlink()
    assert desk.ingest(folder, prune=True).removed == ("b-zip-z",)
    assert set(records(desk)) == {"a.zip!/x.md", "c.md"}


def test_naming_the_archive_alone_makes_no_second_documents(folder: Path, desk: Desk):
    (folder / "a.zip").write_bytes(zipped({"x.md": "words"}))
    desk.ingest(folder)
    report = desk.ingest(folder / "a.zip")
    assert (report.added, report.unchanged) == ((), 1)
