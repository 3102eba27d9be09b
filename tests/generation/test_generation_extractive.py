from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.adapters.generators.extractive import ExtractiveReader
from evidencedesk.adapters.generators.plain import plain
from evidencedesk.errors import UsageError
from evidencedesk.generation import build_request, parse_reply
from evidencedesk.model import (
    Chunk,
    Draft,
    Evidence,
    EvidenceSource,
    Hit,
    Location,
    RankedSentence,
    Reply,
    SourceConflict,
    Span,
    StopReason,
)
from evidencedesk.testing.recorded import RecordedGenerator

QUESTION = "When do gift cards expire?"


def evidence(
    *rows: tuple[str, float], base: int = 100, conflicts: tuple[SourceConflict, ...] = ()
) -> Evidence:
    sources, ranked = [], []
    for number, (text, score) in enumerate(rows, start=1):
        span = Span(base, base + len(text))
        place = Location(start=span.start, end=span.end)
        chunk = Chunk(f"d{number}:c0", f"d{number}", 0, text, place, lang="en")
        sources.append(EvidenceSource(f"S{number}", Hit(chunk, 1.0, None, 1.0)))
        ranked.append(RankedSentence(chunk.id, span, text, score))
    return Evidence(tuple(sources), tuple(ranked), conflicts=conflicts)


def read(found: Evidence, sentences: int = 2, question: str = QUESTION) -> Draft:
    reply = ExtractiveReader(sentences).generate(build_request(question, found))
    assert reply.generator == "extractive"
    assert reply.stop_reason is StopReason.END
    draft = parse_reply(reply)
    assert isinstance(draft, Draft)
    return draft


def test_one_claim_per_sentence_quoted_from_its_source() -> None:
    draft = read(
        evidence(("Gift cards **expire**\nafter 36 months.", 1.0), ("Ask us\tright now.", 0.9))
    )
    first, second = draft.claims
    assert first.text == "Gift cards expire after 36 months."
    assert first.citations[0].source == "S1"
    assert first.citations[0].quote == "Gift cards **expire**\nafter 36 months."
    assert second.citations[0].source == "S2"


def test_a_second_sentence_must_add_something() -> None:
    weak = ("Bring your original receipt along.", 0.2)
    assert len(read(evidence(("Gift cards expire after 36 months.", 1.0), weak)).claims) == 1
    close = (weak[0], 0.9)
    assert len(read(evidence(("Gift cards expire after 36 months.", 1.0), close)).claims) == 2
    new_word = ("Cards expire sooner when bought abroad.", 0.2)
    assert len(read(evidence(("Gift vouchers last for 36 months.", 1.0), new_word)).claims) == 2


def test_the_limit_on_sentences_holds() -> None:
    found = evidence(*((f"Gift cards expire after {n} months.", 1.0) for n in range(5)))
    assert len(read(found, 1).claims) == 1
    assert len(read(found, 3).claims) == 3


def test_without_sentences_the_evidence_is_insufficient() -> None:
    assert read(Evidence(())) == Draft(insufficient=True, claims=())


def test_sentences_that_say_nothing_are_passed_over() -> None:
    draft = read(evidence(("Yes, it is.", 1.0), ("Gift cards expire after 36 months.", 0.9)))
    assert [claim.citations[0].source for claim in draft.claims] == ["S2"]


def test_sources_in_dispute_give_one_claim_per_value() -> None:
    rows = (
        ("Gift cards expire after 36 months.", 1.0),
        ("Gift cards expire after 24 months.", 0.5),
    )
    spans = (Span(100, 100 + len(rows[0][0])), Span(100, 100 + len(rows[1][0])))
    conflict = SourceConflict(("S1", "S2"), spans, ("36 months", "24 months"), "They disagree.")
    draft = read(evidence(*rows, conflicts=(conflict,)))
    assert [(claim.citations[0].source, claim.text) for claim in draft.claims] == [
        ("S1", rows[0][0]),
        ("S2", rows[1][0]),
    ]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("- **Frame**: 5 years", "Frame: 5 years"),
        ("12. See [the terms](https://example.com/a_b)", "See the terms"),
        ("| Medium | 54 cm |", "Medium, 54 cm"),
        ("> quoted `code` here", "quoted code here"),
        ("3 * 4 * 5 and a_b_c and 2**3", "3 * 4 * 5 and a_b_c and 2**3"),
        ("*stress* and _more_ and ~~gone~~", "stress and more and gone"),
        (r"5 \* 3 \| 2", "5 * 3 | 2"),
        ("an ![image](x.png) and <b>tags</b>", "an image and tags"),
        ("a < b and c > d", "a < b and c > d"),
        ("- [ ] to do", "to do"),
        ("two\n  lines\tand tabs", "two lines and tabs"),
    ],
)
def test_markup_is_removed_where_it_is_markup(markup: str, expected: str) -> None:
    assert plain(markup) == expected


@given(st.text(alphabet=st.characters(categories=["L", "N", "Zs"], include_characters=".,!?\n")))
def test_text_without_markup_is_only_folded(text: str) -> None:
    folded = " ".join(text.split())
    assert plain(text) in {folded, folded.split(". ", 1)[-1]}


@given(st.text())
def test_quotes_are_slices_of_their_source(text: str) -> None:
    if not text.strip():
        return
    for claim in read(evidence((text, 1.0))).claims:
        assert claim.citations[0].quote == text


def test_a_recorded_generator_replays_by_question() -> None:
    whole = Reply("cut", stop_reason=StopReason.LENGTH)
    generator = RecordedGenerator({"a": {"insufficient": True}, "b": "prose", "c": whole})
    requests = {question: build_request(question, Evidence(())) for question in "abcd"}
    assert generator.generate(requests["a"]).text == '{"insufficient": true}'
    assert generator.generate(requests["b"]).text == "prose"
    assert generator.generate(requests["c"]) is whole
    assert generator.requests == [requests[question] for question in "abc"]
    with pytest.raises(UsageError, match=r"No reply is recorded for 'd'\. Recorded: 'a'; 'b'; 'c'"):
        generator.generate(requests["d"])
