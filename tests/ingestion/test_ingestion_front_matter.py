from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.errors import MetadataError
from evidencedesk.text.front_matter import split_front_matter


def metadata(body: str) -> dict[str, object]:
    return split_front_matter(f"---\n{body}\n---\ntext\n", "a.md").metadata


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("title: Guide: how to ship", None),
        ('title: "Guide: how to ship"', {"title": "Guide: how to ship"}),
        ("url: http://x.example:80/a", {"url": "http://x.example:80/a"}),
        ("version: 1.10", {"version": "1.10"}),
        ("version: 3", {"version": "3"}),
        ("country: NO", {"country": "NO"}),
        ("date: 2024-01-02", {"date": "2024-01-02"}),
        ("time: 12:30:45", {"time": "12:30:45"}),
        ("owner:", {"owner": None}),
        ("roles: [a, b]", {"roles": ["a", "b"]}),
        ("roles:\n  - a\n  - 7", {"roles": ["a", "7"]}),
        ("roles: []", {"roles": []}),
        ("# a comment\nid: x", {"id": "x"}),
        ("nested: {a: 1}", {"nested": {"a": "1"}}),
    ],
)
def test_values_are_kept_as_written(body: str, expected: dict[str, object] | None) -> None:
    if expected is None:
        with pytest.raises(MetadataError, match=r"a\.md, line 2: not YAML"):
            metadata(body)
    else:
        assert metadata(body) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("closing", ["---", "...", "---  "])
def test_text_begins_after_the_closing_line(end: str, closing: str) -> None:
    source = f"---\nid: a\n{closing}\nbody\n".replace("\n", end)
    front = split_front_matter(source, "a.md")
    assert source[front.start :] == f"body{end}"
    assert (front.metadata, front.first_line) == ({"id": "a"}, 4)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "---",
        "text\n---\nid: a\n---\n",
        "---\n\nid: a\n---\n",
        "---\nA sentence: with a colon after two words\n---\n",
        "---\n- item\n---\n",
        "----\nid: a\n---\n",
        "--- \n\n---\n",
        "---\n# only comments and then nothing\n",
    ],
)
def test_what_is_no_front_matter_is_text(source: str) -> None:
    assert split_front_matter(source, "a.md").start == 0


@pytest.mark.parametrize(
    ("source", "code", "says"),
    [
        ("---\nid: a\n\n# Heading\n", "front_matter_unclosed", "line 1.*'id'"),
        ("---\nid: a\ntitle: b\nid: c\n---\n", "duplicate_key", "line 4: the key 'id'"),
        ("---\na: {x: 1, x: 2}\n---\n", "duplicate_key", "line 2: the key 'x'"),
        ("---\nid: a\nroles: staff\n---\n", "wrong_type", "line 3: roles must be a list.*'staff'"),
        ("---\nroles:\n---\n", "wrong_type", "line 2: roles must be a list"),
        ("---\nid: a\ntitle: [x]\n---\n", "wrong_type", r"line 3: title must be text.*\['x'\]"),
        ("---\nroles: [[a]]\n---\n", "wrong_type", "line 2: roles"),
        ("---\nid: a\n\tb: c\n---\n", "front_matter_yaml", "line 3: not YAML"),
        ("---\nid: !!python/object/apply:os.system [ls]\n---\n", "front_matter_yaml", "line 2"),
        ("---\na: &x [1]\nb: *x\n---\n", "front_matter_yaml", "line 3.*aliases"),
        ("---\nid: a\x07\n---\n", "front_matter_yaml", "not YAML"),
    ],
)
def test_one_error_names_file_line_and_key(source: str, code: str, says: str) -> None:
    for end in ("\n", "\r\n"):
        with pytest.raises(MetadataError, match=rf"(?s)a\.md, {says}|a\.md.*{says}") as caught:
            split_front_matter(source.replace("\n", end), "a.md")
        assert caught.value.code == code
        assert caught.value.hint


@given(st.text(st.sampled_from("-.:#abc \n\r'\"[]{}&*!|>"), max_size=60))
def test_nothing_is_lost_and_nothing_breaks(rest: str) -> None:
    source = "---\n" + rest
    try:
        front = split_front_matter(source, "a.md")
    except MetadataError:
        return
    if front.start:
        closing = source[: front.start].replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
        assert closing.split("\n")[-1].strip() in {"---", "..."}
        lines = source[: front.start].replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
        assert front.first_line == lines.count("\n") + 2
    else:
        assert front.metadata == {}
