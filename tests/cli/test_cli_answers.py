"""How an answer, a conflict, a paraphrase and an abstention are printed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evidencedesk.cli.answers import REASONS, place_to_open, print_answer, print_explanation
from evidencedesk.cli.terminal import Terminal
from evidencedesk.model import (
    Answer,
    Check,
    Chunk,
    Citation,
    Claim,
    Hit,
    Location,
    Reason,
    Support,
)

PLACE = Location(heading=("Returning a bike",), first_line=11, last_line=12, start=0, end=40)
CITATION = Citation(
    chunk_id="r:c0",
    document_id="r",
    title="Returns",
    version="3",
    location=PLACE,
    label="Returns (Returning a bike, lines 11-12) [r:c0]",
    source="returns.md",
    quote="within 30\ndays",
    quote_location=replace(PLACE, first_line=12),
    also_in=("r2",),
)
ANSWER = Answer(
    answer_id="1",
    question="How long?",
    text="Within 30 days.",
    abstained=False,
    reason=Reason.OK,
    confidence=0.91,
    threshold=0.5,
    claims=(Claim("Within 30 days.", Support.EXTRACTIVE, (0,)),),
    citations=(CITATION,),
    checks=(Check("quote_found", 0, passed=True), Check("numbers", 0, passed=False, detail="60")),
    generator="extractive",
    timing_ms=(("total", 4.25),),
)


def shown(capsys: pytest.CaptureFixture[str], answer: Answer) -> str:
    print_answer(Terminal(), answer)
    return capsys.readouterr().out


def test_every_reason_says_what_it_means_and_what_to_do() -> None:
    assert set(REASONS) == set(Reason)
    assert [reason for reason, (meaning, _) in REASONS.items() if not meaning] == []
    assert [reason for reason, (_, advice) in REASONS.items() if not advice] == [Reason.OK]


def test_an_answer_has_its_marks_labels_quotes_and_places(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert shown(capsys, ANSWER) == (
        "Within 30 days. [1]\n"
        "\n"
        "[1] Returns (Returning a bike, lines 11-12) [r:c0]\n"
        "    “within 30 days”\n"
        "    returns.md:12  version 3\n"
        "    also in r2\n"
    )


def test_a_paraphrase_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    claim = Claim("You have a month.", Support.QUOTED, (0,))
    assert "You have a month. [1] (paraphrase;" in shown(capsys, replace(ANSWER, claims=(claim,)))


def test_notes_and_what_was_missing_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, replace(ANSWER, note="They disagree.", degraded=("embedding: no model",)))
    assert out.endswith("Note: They disagree.\nDegraded: embedding: no model\n")


@pytest.mark.parametrize("reason", sorted(set(Reason) - {Reason.OK, Reason.SOURCES_CONFLICT}))
def test_an_abstention_has_its_text_reason_and_next_step(
    capsys: pytest.CaptureFixture[str], reason: Reason
) -> None:
    answer = replace(
        ANSWER, text="No answer.", abstained=True, reason=reason, claims=(), citations=()
    )
    meaning, advice = REASONS[reason]
    assert shown(capsys, answer) == (
        f"No answer.\nReason: {reason.value}: {meaning}\nNext:   {advice}\n"
    )


def test_markup_and_escapes_from_documents_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = replace(CITATION, label="[bold]x[/bold] \x1b[31mred :smile:", quote="\x1b[2Jgone")
    out = shown(capsys, replace(ANSWER, citations=(hostile,)))
    assert "[1] [bold]x[/bold] red :smile:\n" in out
    assert "“gone”" in out
    assert "\x1b" not in out


def test_an_explanation_has_scores_checks_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    chunk = Chunk("r:c0", "r", 0, "You can return it\nwithin 30 days.", PLACE, title="Returns")
    hits = (Hit(chunk, 1.5, 0.25, 7.0), Hit(replace(chunk, id="r:c1"), 0.5, None, 0.0))
    print_explanation(Terminal(), ANSWER, hits)
    out = capsys.readouterr().out
    assert "confidence 0.910, threshold 0.5" in out
    rows = [line.split() for line in out.split("\n")]
    assert ["1", "r:c0", "1.500", "0.250", "7.000"] in [row[:5] for row in rows]
    assert ["2", "r:c1", "0.500", "0.000"] in [row[:4] for row in rows]
    assert ["numbers", "1", "NO", "60"] in rows
    assert "total 4.2 ms" in out


@pytest.mark.parametrize(
    ("location", "place"),
    [
        (Location(first_line=3), "a.md:3"),
        (Location(page=4), "a.md#page=4"),
        (Location(heading=("Fees",), row=3), "a.md, row 3"),
        (Location(paragraph=2), "a.md, paragraph 2"),
        (Location(heading=("Fees",)), "a.md"),
    ],
)
def test_the_place_is_one_that_can_be_opened(location: Location, place: str) -> None:
    assert place_to_open("a.md", location) == place
