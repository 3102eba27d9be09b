"""What is said before long work starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.cli.estimate import WORTH_SAYING_S, estimate_chunks, estimate_files

names = st.sampled_from(["a.md", "b.pdf", "c.docx", "d.html"])
sizes = st.integers(0, 10**9)


def test_an_estimate_in_words() -> None:
    assert str(estimate_chunks(24_000, semantic=True)) == (
        "about 24,000 passages, 5 minutes and 156 MB of disk"
    )
    assert str(estimate_chunks(1, semantic=False)) == (
        "about 1 passages, 1 minute and 1 MB of disk"
    )


@given(st.lists(st.tuples(names, sizes)), names, sizes, st.booleans())
def test_more_files_never_take_less(
    files: list[tuple[str, int]], name: str, size: int, semantic: bool
) -> None:
    some = estimate_files(files, semantic=semantic)
    more = estimate_files([*files, (name, size)], semantic=semantic)
    assert more.chunks >= some.chunks
    assert more.seconds >= some.seconds
    assert estimate_files(files, semantic=True).seconds >= (
        estimate_files(files, semantic=False).seconds
    )


def test_text_packed_in_a_format_counts_less() -> None:
    plain = estimate_files([("a.md", 10**7)], semantic=True)
    packed = estimate_files([("a.PDF", 10**7)], semantic=True)
    assert packed.chunks * 10 == plain.chunks
    assert plain.seconds > WORTH_SAYING_S


def test_short_work_starts_without_a_word(cli: Callable, library: Path) -> None:
    assert "at most" not in cli("ingest", library).err


def test_long_work_is_announced(cli: Callable, library: Path) -> None:
    (library / "huge.bin").write_bytes(b"\0" * (60 << 20))
    ran = cli("ingest", library)
    assert "4 files: at most about " in ran.err
    assert "unchanged ones cost nothing" in ran.err
