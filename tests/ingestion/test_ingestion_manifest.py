from __future__ import annotations

from pathlib import Path

import pytest

from evidencedesk.errors import MetadataError
from evidencedesk.ingestion.load import MANIFEST_NAME, discover
from evidencedesk.ingestion.manifest import Manifests, read_manifest
from evidencedesk.ingestion.metadata import DeclaredMetadata


def manifest(folder: Path, content: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MANIFEST_NAME
    path.write_text(content)
    return path


def entry(root: Path, relative: str) -> DeclaredMetadata:
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    (file,) = (file for file in discover([root]).files if file.relative == relative)
    return Manifests().entry_for(file)


def test_no_manifest_says_nothing(tmp_path: Path) -> None:
    assert entry(tmp_path, "a.md") == DeclaredMetadata()


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("a.md", "a.md", True),
        ("a.md", "deep/er/a.md", True),
        ("*.md", "deep/a.md", True),
        ("*.md", "a.mdx", False),
        ("?.md", "a.md", True),
        ("?.md", "ab.md", False),
        ("drafts/*", "drafts/a.md", True),
        ("drafts/*", "drafts/x/a.md", False),
        ("drafts/**", "drafts/x/a.md", True),
        ("**/drafts/*.md", "x/y/drafts/a.md", True),
        ("**/drafts/*.md", "drafts/a.md", True),
        ("drafts/*", "x/drafts/a.md", False),
        ("a+b (1).md", "a+b (1).md", True),
        ("a.md", "axmd", False),
    ],
)
def test_globs(tmp_path: Path, glob: str, path: str, matches: bool) -> None:
    manifest(tmp_path, f'files: {{"{glob}": {{owner: me}}}}')
    assert (entry(tmp_path, path).owner == "me") is matches


def test_the_most_specific_wins_key_by_key(tmp_path: Path) -> None:
    manifest(
        tmp_path,
        """
defaults: {roles: [everyone], lang: en, owner: library}
files:
  "payout.md": {roles: [admin], title: Payout}
  "*.md": {roles: [staff], status: draft, owner: desk}
  "pay*.md": {status: current}
""",
    )
    said = entry(tmp_path, "payout.md")
    assert said.roles == {"admin"}
    assert (said.title, said.status, said.owner, said.lang) == ("Payout", "current", "desk", "en")


def test_inner_folders_are_laid_over_outer_ones(tmp_path: Path) -> None:
    manifest(tmp_path, 'defaults: {roles: [all], deny: [guest]}\nfiles: {"a.md": {roles: [x]}}')
    manifest(tmp_path / "in", "defaults: {roles: [staff]}")
    said = entry(tmp_path, "in/deep/a.md")
    assert (said.roles, said.deny) == ({"staff"}, {"guest"})
    assert said.origin == str(tmp_path / "in" / MANIFEST_NAME)


def test_what_is_said_of_a_file_does_not_depend_on_the_path_that_was_named(tmp_path: Path) -> None:
    manifest(
        tmp_path, 'defaults: {owner: outer, lang: en}\nfiles: {"inner/deep/a.md": {deny: [x]}}'
    )
    manifest(tmp_path / "inner", "defaults: {lang: bn}")
    deep = tmp_path / "inner" / "deep"
    deep.mkdir()
    (deep / "a.md").write_text("words")
    for path in (tmp_path, tmp_path / "inner", deep, deep / "a.md"):
        (file,) = discover([path]).files
        said = Manifests().entry_for(file)
        assert (said.owner, said.lang, said.deny) == ("outer", "bn", {"x"})


def test_a_manifest_in_a_folder_that_anybody_may_write_to_rules_nothing_below(
    tmp_path: Path,
) -> None:
    manifest(tmp_path, "defaults: {roles: [everybody]}")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.md").write_text("words")
    tmp_path.chmod(0o1777)
    (file,) = discover([tmp_path / "own"]).files
    assert Manifests().entry_for(file).roles is None


def test_an_empty_list_of_roles_is_a_statement(tmp_path: Path) -> None:
    manifest(tmp_path, "defaults: {roles: []}")
    assert entry(tmp_path, "a.md").roles == frozenset()


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        ("default: {}", "unknown_key", "'default'. Did you mean 'defaults'"),
        ("defaults: {role: [a]}", "unknown_key", "'defaults.role'. Did you mean 'roles'"),
        ("defaults: {title: x}", "unknown_key", "'defaults.title'"),
        ('files: {"a.md": {statsu: x}}', "unknown_key", "Did you mean 'status'"),
        ("zzz: 1", "unknown_key", "Known keys: defaults, files"),
        ("defaults: {roles: staff}", "wrong_type", "defaults.roles.*not 'staff'"),
        ("defaults:\n  roles:\n", "wrong_type", "defaults.roles.*not None"),
        ("defaults: {lang: [en]}", "wrong_type", "defaults.lang"),
        ("- a", "wrong_type", "expected keys and values"),
        ("defaults: {}\ndefaults: {}", "duplicate_key", "line 2"),
        ("defaults: {", "front_matter_yaml", "line 1"),
    ],
)
def test_mistakes_are_named_with_what_was_meant(
    tmp_path: Path, content: str, code: str, says: str
) -> None:
    path = manifest(tmp_path, content)
    with pytest.raises(MetadataError, match=rf"(?s){MANIFEST_NAME}.*{says}") as caught:
        read_manifest(path)
    assert caught.value.code == code


def test_a_broken_manifest_stops_its_files(tmp_path: Path) -> None:
    manifest(tmp_path, "defaults: {role: [a]}")
    with pytest.raises(MetadataError):
        entry(tmp_path, "a.md")


def test_a_manifest_that_is_no_text_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / MANIFEST_NAME
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MetadataError) as caught:
        read_manifest(path)
    assert caught.value.code == "manifest_unreadable"
