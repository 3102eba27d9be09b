"""``require`` and the judge in all their combinations, through the whole product and alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from tiny_judge import write_judge

from evidencedesk import Desk, Principal, Settings
from evidencedesk.errors import GenerationError, ModelError
from evidencedesk.model import (
    Chunk,
    Draft,
    DraftCitation,
    DraftClaim,
    Evidence,
    EvidenceSource,
    Hit,
    Location,
    Reason,
    Support,
    Verdict,
)
from evidencedesk.testing.recorded import RecordedGenerator
from evidencedesk.verification import verify

TEXT = "New bikes can be returned within 30 days of delivery. Opened helmets cannot be returned."
QUOTE = "New bikes can be returned within 30 days of delivery."
CLAIMS = {
    "extractive": QUOTE,
    "open": "Customers may send bikes back within 30 days of delivery.",
    "contradicted": "New bikes can be returned within 60 days of delivery.",
}
JUDGES = ("none", "yes", "no", "fails", "gone")


class Opinion:
    """A judge with one opinion, or none."""

    name = "opinion"

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def supports(self, claim: str, quotes: Sequence[str]) -> bool:
        self.asked.append((claim, tuple(quotes)))
        if self._kind == "fails":
            raise GenerationError("no answer in time", code="timeout")
        if self._kind == "gone":
            raise ModelError("the model is gone", code="model_missing")
        return self._kind == "yes"


def verdict_of(claim: str, require: str, judge: Opinion | None) -> Verdict:
    chunk = Chunk(
        "d:c0", "d", 0, TEXT, Location(start=0, end=len(TEXT)), title="Returns", lang="en"
    )
    evidence = Evidence((EvidenceSource("S1", Hit(chunk, 1.0, None, 1.0)),))
    draft = Draft(insufficient=False, claims=(DraftClaim(claim, (DraftCitation("S1", QUOTE),)),))
    return verify(
        draft,
        evidence,
        current={"S1": chunk},
        locate=lambda _, span: Location(start=span.start, end=span.end),
        require=require,  # type: ignore[arg-type]
        judge=judge,
    )


def expected(kind: str, require: str, judge: str) -> tuple[Reason, Support | None]:
    if kind == "extractive":
        return Reason.OK, Support.EXTRACTIVE
    if kind == "contradicted":
        return Reason.UNSUPPORTED_NUMBER, None
    if judge == "yes":
        return Reason.OK, Support.JUDGED
    if judge == "none" and require == "quoted":
        return Reason.OK, Support.QUOTED
    return Reason.UNSUPPORTED_CLAIM, None


@pytest.mark.parametrize(
    ("kind", "require", "named"), list(product(CLAIMS, ("quoted", "proven"), JUDGES))
)
def test_what_is_shown_follows_from_band_requirement_and_judge(
    kind: str, require: str, named: str
) -> None:
    judge = None if named == "none" else Opinion(named)
    verdict = verdict_of(CLAIMS[kind], require, judge)
    assert (verdict.reason, verdict.claims[0].support) == expected(kind, require, named)
    if judge is not None:
        asked = [(CLAIMS[kind], (QUOTE,))] if kind == "open" else []
        assert judge.asked == asked
    checks = [check for check in verdict.checks if check.check == "judge"]
    if kind == "open" and (judge is not None or require == "proven"):
        assert [check.passed for check in checks] == [named == "yes"]
    else:
        assert checks == []


@pytest.mark.parametrize("named", ["no", "fails", "gone"])
def test_the_record_says_why_a_judge_did_not_agree(named: str) -> None:
    (check,) = [
        check
        for check in verdict_of(CLAIMS["open"], "quoted", Opinion(named)).checks
        if check.check == "judge"
    ]
    assert check.detail is not None
    assert ("could not be asked" in check.detail) is (named != "no")


QUESTION = "Within how many days can new bikes be returned?"
READER = Principal(roles=frozenset({"staff"}))


@pytest.mark.parametrize(
    ("claim", "with_judge", "require", "reason"),
    [
        ("Bikes may be returned within 30 days of delivery by customers.", False, "quoted", "ok"),
        (
            "Bikes may be returned within 30 days of delivery by customers.",
            False,
            "proven",
            "unsupported_claim",
        ),
        ("Bikes may be returned within 30 days of delivery by customers.", True, "quoted", "ok"),
        ("Bikes may be returned within 30 days of delivery by customers.", True, "proven", "ok"),
        ("Customers may sent back helmets within 30 days.", True, "quoted", "unsupported_claim"),
        ("Customers may sent back helmets within 30 days.", False, "quoted", "ok"),
    ],
)
def test_the_settings_decide_through_the_whole_product(
    tmp_path: Path, claim: str, with_judge: bool, require: str, reason: str
) -> None:
    (tmp_path / "returns.md").write_text(f"# Returns\n\n{TEXT}\n", "utf-8")
    verification = {"require": require}
    if with_judge:
        verification["judge"] = str(write_judge(tmp_path / "judge"))
    settings = Settings.model_validate(
        {"embedding": {"model": "none"}, "verification": verification}
    )
    reply = {
        "insufficient": False,
        "claims": [{"text": claim, "citations": [{"source": "S1", "quote": QUOTE}]}],
    }
    generator = RecordedGenerator({QUESTION: json.dumps(reply)})
    with Desk.open(tmp_path / "index", settings=settings, generator=generator) as desk:
        desk.ingest(tmp_path / "returns.md", roles={"staff"})
        answer = desk.ask(QUESTION, principal=READER, threshold=0)
    assert answer.reason.value == reason
    if reason == "ok":
        assert [one.support.value for one in answer.claims] == [
            "judged" if with_judge else "quoted"
        ]
