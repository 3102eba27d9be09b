from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.assembly import assemble
from evidencedesk.assembly.assemble import source_tokens
from evidencedesk.model import Chunk, Hit, Location, RankedSentence, Retrieval, Span


def chunk(text: str, document: str, ordinal: int = 0, start: int = 0, **fields: object) -> Chunk:
    location = Location(start=start, end=start + len(text))
    return Chunk(f"{document}:c{ordinal}", document, ordinal, text, location, lang="en", **fields)


def retrieval(*chunks: Chunk, best: tuple[int, str] | None = None) -> Retrieval:
    hits = tuple(Hit(one, float(len(chunks) - n), 0.5, 1.0) for n, one in enumerate(chunks))
    return Retrieval(hits, _sentences(chunks), 0.9, "test")


def _sentences(chunks: tuple[Chunk, ...]) -> tuple[RankedSentence, ...]:
    return tuple(
        RankedSentence(one.id, one.span, one.text, 1.0 - number / 10)
        for number, one in enumerate(chunks)
    )


def test_labels_follow_the_order_of_the_hits() -> None:
    evidence = assemble(retrieval(chunk("One.", "a"), chunk("Two.", "b")))
    assert [(one.label, one.chunk.document_id) for one in evidence.sources] == [
        ("S1", "a"),
        ("S2", "b"),
    ]
    assert evidence.dropped == ()
    assert [one.chunk_id for one in evidence.sentences] == ["a:c0", "b:c0"]


def test_identical_texts_are_shown_once_and_name_the_other_documents() -> None:
    evidence = assemble(
        retrieval(
            chunk("Same  text.", "b"),
            chunk("Other.", "x"),
            chunk("Same\ntext.", "c"),
            chunk("Same text.", "a"),
            chunk("Same text.", "b", 1),
        )
    )
    assert [one.chunk.id for one in evidence.sources] == ["b:c0", "x:c0"]
    assert evidence.sources[0].also_in == ("a", "c")
    assert evidence.sources[1].also_in == ()
    assert {one.chunk_id for one in evidence.sentences} == {"b:c0", "x:c0"}


def test_case_makes_texts_different() -> None:
    assert len(assemble(retrieval(chunk("Same.", "a"), chunk("same.", "b"))).sources) == 2


def test_the_weakest_are_dropped_for_the_budget_and_recorded() -> None:
    chunks = [chunk(f"Word number {n}.", f"d{n}") for n in range(4)]
    size = source_tokens(chunks[0])
    evidence = assemble(retrieval(*chunks), budget_tokens=2 * size)
    assert [one.chunk.document_id for one in evidence.sources] == ["d0", "d1"]
    assert evidence.dropped == ("d3:c0", "d2:c0")
    assert evidence.tokens == 2 * size
    assert {one.chunk_id for one in evidence.sentences} == {"d0:c0", "d1:c0"}


def test_a_source_larger_than_the_budget_does_not_push_out_the_others() -> None:
    big, small = chunk("word " * 500, "big"), chunk("Small.", "small")
    evidence = assemble(retrieval(big, small), budget_tokens=100)
    assert [one.chunk.document_id for one in evidence.sources] == ["small"]
    assert evidence.dropped == ("big:c0",)


def test_nothing_found_is_empty_evidence() -> None:
    evidence = assemble(Retrieval((), (), 0.0, "test"))
    assert (evidence.sources, evidence.tokens) == ((), 0)


@given(
    st.lists(st.tuples(st.text(min_size=1), st.sampled_from("abcd")), max_size=10),
    st.integers(0, 400),
)
def test_everything_found_is_shown_folded_or_recorded_as_dropped(
    rows: list[tuple[str, str]], budget: int
) -> None:
    chunks = [chunk(text, document, n) for n, (text, document) in enumerate(rows)]
    evidence = assemble(retrieval(*chunks), budget_tokens=budget)
    shown = [one.chunk for one in evidence.sources]
    assert evidence.tokens <= budget
    folded = {" ".join(one.text.split()) for one in shown}
    dropped = {" ".join(one.text.split()) for one in chunks if one.id in evidence.dropped}
    assert folded | dropped == {" ".join(one.text.split()) for one in chunks}
    assert not folded & dropped
    assert [one.label for one in evidence.sources] == [f"S{n + 1}" for n in range(len(shown))]


class Neighbourhood:
    def __init__(self, *chunks: Chunk) -> None:
        self._chunks = chunks

    def document_chunks(self, document_id: str) -> tuple[Chunk, ...]:
        return tuple(one for one in self._chunks if one.document_id == document_id)


def test_neighbours_come_after_the_hits_and_only_when_asked_for() -> None:
    chunks = [chunk(f"Part {n}.", "a", n) for n in range(5)]
    found = retrieval(chunks[2], chunk("Other.", "b"))
    snapshot = Neighbourhood(*chunks)
    assert len(assemble(found, snapshot=snapshot).sources) == 2
    evidence = assemble(found, snapshot=snapshot, neighbours=1)
    assert [one.chunk.id for one in evidence.sources] == ["a:c2", "b:c0", "a:c1", "a:c3"]


NEW = chunk(
    "You can return a new bike within 30 days of delivery.", "v3", title="Returns", version="3"
)
OLD = chunk(
    "You can return a bike within 14 days of delivery.",
    "v2",
    start=50,
    title="Returns",
    version="2",
    status="superseded",
)


def test_two_versions_with_two_values_conflict() -> None:
    (conflict,) = assemble(retrieval(NEW, OLD)).conflicts
    assert conflict.labels == ("S1", "S2")
    assert conflict.values == ("30 days", "14 days")
    assert conflict.spans == (NEW.span, OLD.span)
    assert conflict.note == (
        "The sources disagree: Returns (version 3) says 30 days; "
        "Returns (version 2, superseded) says 14 days."
    )


@pytest.mark.parametrize(
    "other",
    [
        replace(OLD, text="You can return a new bike within 30 days of delivery, boxed."),
        replace(OLD, text="Accessories go back within 14 days if unopened."),
        replace(OLD, document_id="v3"),
        replace(OLD, text="You can return a bike at any time after delivery."),
        replace(OLD, text="You can return a bike within 30 days of its delivery."),
    ],
)
def test_no_conflict(other: Chunk) -> None:
    assert assemble(retrieval(NEW, other)).conflicts == ()


def test_unrelated_documents_must_say_nearly_the_same_to_conflict() -> None:
    near = replace(NEW, id="x:c0", document_id="x", title="Help", text=NEW.text.replace("30", "14"))
    far = replace(OLD, title="Help", text="You may bring a new bike back in 14 days, once paid.")
    assert len(assemble(retrieval(NEW, near)).conflicts) == 1
    assert assemble(retrieval(NEW, far)).conflicts == ()


def test_numbers_in_other_digits_are_the_same_numbers() -> None:
    other = replace(OLD, text=NEW.text.replace("30", "৩০"))
    assert assemble(retrieval(NEW, other)).conflicts == ()


def test_sentences_that_do_not_answer_are_not_compared() -> None:
    found = retrieval(NEW, OLD)
    unrelated = RankedSentence("v9:c0", Span(0, 4), "None", 1.0)
    assert assemble(replace(found, sentences=(unrelated,))).conflicts == ()


def test_words_that_a_stemmer_leaves_nothing_of_are_read_past() -> None:
    """An Arabic word of nothing but elongation signs, as in lists and headings, stems to nothing."""
    old, new = (
        replace(chunk(f"مدة الإرجاع ـــ {days} يوما من تاريخ الشراء.", str(days)), lang="ar")
        for days in (14, 30)
    )
    evidence = assemble(retrieval(old, new))
    assert [one.chunk.id for one in evidence.sources] == [old.id, new.id]
