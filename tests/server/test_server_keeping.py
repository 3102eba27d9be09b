"""What readers who may write can do to rights: never more than they have."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.access import AccessFilter, AccessRule, Principal
from evidencedesk.desk import Desk
from evidencedesk.desk.keeping import Said, Upload, _changed
from evidencedesk.errors import AccessRuleError, UsageError
from evidencedesk.ingestion.document import document_id_for
from evidencedesk.ingestion.load import SourceFile
from evidencedesk.model import Document
from evidencedesk.testing.serving import settings_for

ROLES = ["a", "b", "c", "d"]
some = st.frozensets(st.sampled_from(ROLES))
maybe = st.none() | some
EVERY_READER = [
    frozenset(each) for size in range(5) for each in itertools.combinations(ROLES, size)
]


def admitted(document: Document, roles: frozenset[str]) -> bool:
    rule = AccessRule(roles=document.roles, deny=document.deny)
    return AccessFilter.for_principal(Principal(roles=roles)).admits(rule)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    path = tmp_path_factory.mktemp("keeping") / "index.desk"
    return Desk.open(path, settings=settings_for(path))


@given(some, some, maybe, maybe, some)
def test_no_change_of_rights_lets_in_whom_the_changer_does_not_stand_for(
    desk: Desk,
    roles: frozenset[str],
    deny: frozenset[str],
    new_roles: frozenset[str] | None,
    new_deny: frozenset[str] | None,
    own: frozenset[str],
) -> None:
    """Whoever is newly admitted has a role of the changer's; whom a document denies stays outside."""
    stored = Document("d", "text", roles=roles, deny=deny)
    said = Said(roles=new_roles, deny=new_deny)
    try:
        desk._check_change(stored, said, Principal(roles=own))
    except AccessRuleError:
        return
    changed = _changed(stored, said)
    for reader in EVERY_READER:
        if admitted(changed, reader) and not admitted(stored, reader):
            assert reader & own, (reader, changed.roles)
        if admitted(stored, reader) and not admitted(changed, reader):
            assert reader & (own | changed.deny), (reader, changed.roles)
        if reader & deny:
            assert not admitted(changed, reader)


@given(some, some, maybe, maybe)
def test_an_administrator_may_say_anything(
    desk: Desk,
    roles: frozenset[str],
    deny: frozenset[str],
    new_roles: frozenset[str] | None,
    new_deny: frozenset[str] | None,
) -> None:
    stored, said = (
        Document("d", "text", roles=roles, deny=deny),
        Said(roles=new_roles, deny=new_deny),
    )
    desk._check_change(stored, said, Principal(administrator=True))
    changed = _changed(stored, said)
    assert changed.roles == (roles if new_roles is None else new_roles)
    assert changed.deny == (deny if new_deny is None else new_deny)


@given(st.text(min_size=1, max_size=30), st.sampled_from(["0" * 24, "ab" * 12]))
def test_the_id_of_an_upload_does_not_depend_on_other_documents(name: str, key: str) -> None:
    file = SourceFile(Path("/r") / "x", Path("/r"), f"{name}.md", upload=key)
    alone = document_id_for(file, taken=lambda _: False)
    assert alone == document_id_for(file, taken=lambda other: not other.endswith(key))
    assert alone.endswith(f"~{key}")


def upload(root: Path, text: str, key: str = "ab" * 12) -> Upload:
    return Upload(key, "note.md", root, text.encode())


def test_a_later_version_keeps_to_the_rights_of_the_earlier_one(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index.desk")
    crew, office = Principal(roles=frozenset({"crew"})), Principal(roles=frozenset({"office"}))
    with Desk.open(tmp_path / "index.desk", settings=settings) as desk:
        root = tmp_path / "kept"
        report = desk.upload(
            upload(root, "# A\n\nOne.\n"), Said(roles=frozenset({"crew"})), principal=crew
        )
        (document_id,) = report.added
        with pytest.raises(UsageError) as caught:
            desk.upload(
                upload(root, "# A\n\nTwo.\n"), Said(roles=frozenset({"office"})), principal=office
            )
        assert caught.value.code == "not_found"
        with pytest.raises(AccessRuleError):
            desk.upload(
                upload(root, "# A\n\nTwo.\n"), Said(roles=frozenset({"office"})), principal=crew
            )
        again = desk.upload(
            upload(root, "# A\n\nTwo.\n"), Said(roles=frozenset({"crew"})), principal=crew
        )
        assert again.changed == (document_id,)
        assert desk.document(document_id, principal=crew).text.endswith("Two.\n")


def test_an_upload_that_denies_itself_narrows_only(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "index.desk")
    crew: Any = Principal(roles=frozenset({"crew"}))
    front = "---\nroles: [crew, office]\ndeny: [temp]\nstatus: draft\n---\n# A\n\nOne.\n"
    with Desk.open(tmp_path / "index.desk", settings=settings) as desk:
        report = desk.upload(
            upload(tmp_path / "kept", front), Said(roles=frozenset({"crew"})), principal=crew
        )
        chief = Principal(administrator=True)
        found = desk.document(report.added[0], principal=chief, statuses=["draft"])
    assert (found.roles, found.deny, found.status) == (
        frozenset({"crew"}),
        frozenset({"temp"}),
        "draft",
    )
