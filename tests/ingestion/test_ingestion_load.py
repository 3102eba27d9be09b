from __future__ import annotations

import os
from pathlib import Path

import pytest

from evidencedesk.errors import ParseError, SourceError
from evidencedesk.ingestion.load import discover, file_hash_of, read_source


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def found(*paths: Path) -> list[str]:
    return [file.relative for file in discover(paths).files]


def test_files_are_found_sorted_and_hidden_ones_and_manifests_are_not(tmp_path: Path) -> None:
    write(
        tmp_path,
        *("b.md", "a/z.md", "a/y.md", "a.md", ".hidden", ".git/config", "a/.x/y.md"),
        *("evidencedesk-folder.yaml", "a/evidencedesk-folder.yaml"),
    )
    assert found(tmp_path) == ["a.md", "a/y.md", "a/z.md", "b.md"]


def test_a_file_is_its_own_root(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md")
    (file,) = discover([tmp_path / "a" / "b.md"]).files
    assert (file.root, file.relative) == (tmp_path / "a" / "b.md", "b.md")
    assert file.folders == (tmp_path / "a",)


def test_folders_run_from_the_root_to_the_file(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c.md")
    (file,) = discover([tmp_path]).files
    assert file.folders == (tmp_path, tmp_path / "a", tmp_path / "a" / "b")


def test_a_file_named_twice_is_found_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    assert found(tmp_path / "b.md", tmp_path) == ["b.md", "a.md"]


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file or folder") as caught:
        discover([tmp_path / "nowhere"])
    assert caught.value.code == "path_missing"


def test_links_out_of_the_root_are_refused_and_links_inside_are_read(tmp_path: Path) -> None:
    write(tmp_path, "root/real/a.md", "outside/secret.md")
    root = tmp_path / "root"
    (root / "inside.md").symlink_to(root / "real" / "a.md")
    (root / "out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    (root / "broken.md").symlink_to(root / "nothing")
    discovery = discover([root])
    assert [file.relative for file in discovery.files] == ["inside.md"]
    assert sorted(Path(each.source).name for each in discovery.refused) == [
        "folder",
        "loop",
        "out.md",
    ]


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert found(tmp_path) == []


def test_bytes_come_with_their_hash(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    source = read_source(tmp_path / "a")
    assert source.data == b"abc"
    assert source.file_hash == file_hash_of(b"abc")
    assert source.file_hash == (
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_reading_stops_at_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_source(tmp_path / "a", max_bytes=5).data == b"12345"
    with pytest.raises(ParseError) as caught:
        read_source(tmp_path / "a", max_bytes=4)
    assert caught.value.code == "too_large"


def test_a_file_that_went_away_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file") as caught:
        read_source(tmp_path / "gone")
    assert caught.value.code == "unreadable"
