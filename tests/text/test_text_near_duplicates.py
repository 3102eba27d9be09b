from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from evidencedesk.text.near_duplicates import near_duplicates, shingles_of

WORDS = [f"w{number}" for number in range(400)]


def made(seed: int, length: int = 300) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def jaccard(one: str, other: str) -> float:
    sets = [
        {tuple(words[at : at + 5]) for at in range(len(words) - 4)}
        for words in (one.split(), other.split())
    ]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(0, 6))
def test_pairs_are_those_whose_runs_of_words_overlap(seed: int, changes: int) -> None:
    original = made(seed)
    changed = list(original)
    for place in random.Random(seed + 1).sample(range(300), changes):
        changed[place] = "another"
    texts = {"a": " ".join(original), "b": " ".join(changed), "c": " ".join(made(seed + 7))}
    pairs = near_duplicates(texts.items(), threshold=0.8)
    expected = jaccard(texts["a"], texts["b"])
    if expected >= 0.8:
        (pair,) = pairs
        assert (pair.first, pair.second) == ("a", "b")
        assert abs(pair.similarity - expected) < 1e-9
    else:
        assert pairs == []


def test_case_marks_and_spaces_make_no_difference() -> None:
    (pair,) = near_duplicates(
        [("a", "One, two THREE four five six."), ("b", "one two three\nfour  five; six")]
    )
    assert pair.similarity == 1.0


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    text = "新しい自転車は三十日以内に返品することができますがそのためには領収書が必要です" * 3
    (pair,) = near_duplicates([("a", text), ("b", text.replace("三十", "四十", 1))], threshold=0.7)
    assert 0.7 < pair.similarity < 1.0


def test_empty_and_short_texts() -> None:
    assert len(shingles_of("")) == 0
    assert near_duplicates([("a", ""), ("b", ""), ("c", "one"), ("d", "two")]) == []
    assert len(near_duplicates([("c", "one"), ("d", "One!")])) == 1
