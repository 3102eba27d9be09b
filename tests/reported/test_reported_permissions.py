"""Permission and tenant leaks that users of comparable products reported; see docs/reported_problems.md."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencedesk import Desk, EvidenceDeskError, Principal, Reason, Status

ROLES = ("sales", "legal", "staff", "admin", "guest")
QUESTION = "What is the secret word of the department?"
Write = Callable[..., Path]


def secret(name: str) -> str:
    return f"The secret word of the department is {name}-kingfisher."


def everything(desk: Desk, principal: Principal) -> str:
    """All that a reader can be shown, as one string."""
    statuses = set(Status)
    shown: list[Any] = [
        desk.ask(QUESTION, principal=principal, statuses=statuses, threshold=0.0).to_json(),
        [h.chunk.text for h in desk.search(QUESTION, principal=principal, statuses=statuses, k=99)],
        [h.chunk.text for h in desk.search("kingfisher", principal=principal, k=99)],
        [str(record) for record in desk.documents(principal=principal, statuses=statuses)],
    ]
    for name in (*ROLES, "closed", "open"):
        readers: tuple[Callable[[str], Any], ...] = (
            lambda n: desk.document(n, principal=principal, statuses=statuses).text,
            lambda n: desk.chunk(f"{n}:c0", principal=principal, statuses=statuses).text,
            lambda n: str(desk.history(n, principal=principal, statuses=statuses)),
            lambda n: desk.diff(n, principal=principal, statuses=statuses),
        )
        for read in readers:
            try:
                shown.append(read(name))
            except EvidenceDeskError as error:
                shown.append(error.to_json())
    return json.dumps(shown)


@pytest.fixture(scope="module")
def planted(shared: tuple[Desk, Write]) -> Desk:
    """One secret per role, in two versions, so that there is history."""
    desk, write = shared
    for name in ROLES:
        write(name, secret(f"old-{name}"), roles=f"[{name}]")
    folder = write("open", "Everybody may read this.", roles=f"[{', '.join(ROLES)}]")
    desk.ingest(folder)
    for name in ROLES:
        write(name, secret(name), roles=f"[{name}]")
    desk.ingest(folder)
    return desk


def test_open_webui_10116_a_secret_per_role_and_every_pair_of_readers(planted: Desk):
    for held in itertools.chain.from_iterable(
        itertools.combinations(ROLES, size) for size in (0, 1, 2)
    ):
        shown = everything(planted, Principal(roles=frozenset(held)))
        for name in ROLES:
            assert (f"{name}-kingfisher" in shown) == (name in held), (held, name)


def test_open_webui_pr_12757_no_access_setting_means_nobody(desk: Desk, write: Write):
    desk.ingest(write("closed", secret("closed"), roles=None))
    for name in (*ROLES, "everyone", "administrator", "owner"):
        assert "closed-kingfisher" not in everything(desk, Principal(roles=frozenset({name})))
    assert "closed-kingfisher" not in everything(desk, Principal(subject="owner"))
    assert "closed-kingfisher" in everything(desk, Principal(administrator=True))


@pytest.mark.parametrize("roles", ["[]", "null", "''"])
def test_onyx_4624_an_empty_list_of_roles_is_nobody(desk: Desk, write: Write, roles: str):
    report = desk.ingest(write("closed", secret("closed"), roles=roles))
    assert len(report.added) + len(report.failed) == 1
    for name in ROLES:
        assert "closed-kingfisher" not in everything(desk, Principal(roles=frozenset({name})))


@pytest.mark.parametrize(
    "flag", ["public: true", "everyone: true", "tenant: other", "administrator: true"]
)
def test_onyx_2784_a_flag_that_a_document_gives_itself_opens_nothing(
    desk: Desk, write: Write, flag: str
):
    desk.ingest(write("closed", secret("closed"), roles="[]", more=flag))
    for tenant in ("default", "other"):
        for name in ROLES:
            reader = Principal(tenant, frozenset({name}))
            assert "closed-kingfisher" not in everything(desk, reader)
    assert "closed-kingfisher" not in everything(desk, Principal("other", administrator=True))


def test_owui_0_9_6_ids_filters_and_names_in_a_question_are_words(planted: Desk):
    guest = Principal(roles=frozenset({"guest"}))
    for question in (
        "legal:c0",
        "roles:legal secret word",
        'role = "legal" OR 1=1 -- secret word',
        'secret" OR access:1 "word',
        "secret NEAR/5 word* AND class:3",
        "tenant:other status:draft id:legal kingfisher",
        "{legal} ^title:legal + - ( ) * : secret",
    ):
        answer = planted.ask(question, principal=guest, threshold=0.0)
        hits = planted.search(question, principal=guest, k=99)
        assert {hit.chunk.document_id for hit in hits} <= {"guest", "open"}
        assert "legal-kingfisher" not in str(answer.to_json()).replace(question, "")


@pytest.mark.parametrize("name", ["legal", "legal:c0", "Legal", "legal ", "LEGAL:C0", "../legal", "legal%00", "*", "%", "l_gal"])  # fmt: skip
def test_ragflow_15267_fetching_by_id_asks_for_the_right(planted: Desk, name: str):
    guest = Principal(roles=frozenset({"guest"}))
    for read in (planted.document, planted.chunk, planted.history, planted.diff):
        with pytest.raises(EvidenceDeskError) as caught:
            read(name, principal=guest, statuses=set(Status))
        assert caught.value.code == "not_found"


def test_onyx_7384_a_changed_text_keeps_its_rights_and_changed_rights_keep_the_text(
    desk: Desk, tmp_path: Path
):
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "closed.txt").write_text(secret("closed"), "utf-8")
    manifest = folder / "evidencedesk-folder.yaml"
    manifest.write_text("defaults: {roles: [legal], lang: en}\n", "utf-8")
    legal, guest = (Principal(roles=frozenset({name})) for name in ("legal", "guest"))
    desk.ingest(folder)
    (folder / "closed.txt").write_text(secret("closed") + " It changes daily.", "utf-8")
    assert desk.ingest(folder).changed == ("closed",)
    assert "closed-kingfisher" not in everything(desk, guest)
    text = desk.document("closed", principal=legal).text
    manifest.write_text("defaults: {roles: [guest], lang: en}\n", "utf-8")
    report = desk.ingest(folder)
    assert (report.metadata, report.chunks) == (("closed",), 0)
    assert desk.document("closed", principal=guest).text == text
    assert "closed-kingfisher" not in everything(desk, legal)
    manifest.unlink()
    desk.ingest(folder)
    for reader in (legal, guest):
        assert "closed-kingfisher" not in everything(desk, reader)


def test_a_manifest_that_breaks_leaves_rights_as_they_were(desk: Desk, tmp_path: Path):
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "closed.txt").write_text(secret("closed"), "utf-8")
    manifest = folder / "evidencedesk-folder.yaml"
    manifest.write_text("defaults: {roles: [legal], lang: en}\n", "utf-8")
    desk.ingest(folder)
    (folder / "closed.txt").write_text(secret("new"), "utf-8")
    manifest.write_text("defaults: {roles: [guest\n", "utf-8")
    report = desk.ingest(folder, roles=None)
    assert [each.source for each in report.failed] == ["closed.txt"]
    assert "kingfisher" not in everything(desk, Principal(roles=frozenset({"guest"})))
    assert "closed-kingfisher" in everything(desk, Principal(roles=frozenset({"legal"})))


def test_what_was_struck_out_before_publication_stays_closed(desk: Desk, write: Write):
    write("open", secret("draft"), roles="[legal]")
    folder = write("other", "Nothing to see.", roles="[guest]")
    desk.ingest(folder)
    write("open", "Published without its secret.", roles="[guest, legal]")
    desk.ingest(folder)
    assert "draft-kingfisher" not in everything(desk, Principal(roles=frozenset({"guest"})))
    assert "draft-kingfisher" in everything(desk, Principal(roles=frozenset({"legal"})))


def test_deny_beats_every_allowance_on_every_way_of_reading(desk: Desk, write: Write):
    desk.ingest(write("closed", secret("closed"), roles="[sales, legal]", more="deny: [guest]"))
    assert "closed-kingfisher" in everything(desk, Principal(roles=frozenset({"sales"})))
    for administrator in (False, True):
        denied = Principal(
            roles=frozenset({"sales", "legal", "guest"}), administrator=administrator
        )
        assert "closed-kingfisher" not in everything(desk, denied)


def test_ragflow_15027_each_tenant_sees_its_own_marker_and_no_other(desk: Desk, tmp_path: Path):
    tenants = ("default", "north", "south")
    for tenant in tenants:
        folder = tmp_path / tenant
        folder.mkdir()
        (folder / "open.md").write_text(
            f"---\nid: open\nlang: en\n---\n{secret(tenant)}\n", "utf-8"
        )
        assert desk.ingest(folder, tenant=tenant, roles={"staff"}).added == ("open",)
    for reader, owner in itertools.product(tenants, tenants):
        for administrator in (False, True):
            principal = Principal(reader, frozenset({"staff"}), administrator=administrator)
            shown = everything(desk, principal)
            assert (f"{owner}-kingfisher" in shown) == (reader == owner)


def test_ragflow_14859_changing_names_the_tenant(desk: Desk, tmp_path: Path):
    (tmp_path / "open.md").write_text(f"---\nid: open\n---\n{secret('north')}\n", "utf-8")
    desk.ingest(tmp_path / "open.md", tenant="north", roles={"staff"})
    reader = Principal("north", frozenset({"staff"}))
    assert desk.remove("open") is False
    assert desk.remove("open", tenant="south") is False
    with pytest.raises(EvidenceDeskError, match="There is no document 'open'"):
        desk.set_status("open", "archived", tenant="south")
    assert desk.document("open", principal=reader).text
    assert desk.ingest(tmp_path / "open.md", tenant="south", prune=True).removed == ()
    assert desk.document("open", principal=reader).text


def test_dify_19249_the_check_lies_below_every_door(planted: Desk):
    guest = Principal(roles=frozenset({"guest"}))
    explained = planted.explain(QUESTION, principal=guest, threshold=0.0)
    assert explained.evidence is not None
    sources = {source.chunk.document_id for source in explained.evidence.sources}
    assert sources <= {"guest", "open"}
    assert explained.answer.reason in {Reason.OK, Reason.SOURCES_CONFLICT}
    assert "legal-kingfisher" not in repr(explained)


def test_the_same_id_is_refused_in_the_same_words_whoever_owns_it(desk: Desk, tmp_path: Path):
    messages = []
    for roles in ("[staff]", "[]"):
        first, second = tmp_path / f"a{roles}", tmp_path / f"b{roles}"
        for folder, who in ((first, roles), (second, "[staff]")):
            folder.mkdir()
            (folder / "x.md").write_text(
                f"---\nid: 'one{roles}'\nroles: {who}\n---\ntext\n", "utf-8"
            )
        desk.ingest(first)
        (failed,) = desk.ingest(second).failed
        assert failed.code == "duplicate_id"
        messages.append(failed.message.replace(roles, ""))
    assert messages[0] == messages[1]
