"""The acceptance cases of model replies, read and verified as the product does it without a judge."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evidencedesk.generation.reply import RejectedReply, parse_reply
from evidencedesk.model import Chunk, Evidence, EvidenceSource, Hit, Location, Reason, Reply, Span
from evidencedesk.verification import verify

LINES = (
    (Path(__file__).parents[1] / "cases" / "model_replies.jsonl").read_text("utf-8").splitlines()
)
CASES = [json.loads(line) for line in LINES]
STRICT = [case for case in CASES if case["tier"] in {"format", "quote", "number"}]
SEMANTIC = [case for case in CASES if case["tier"] == "semantic"]


def outcome(case: dict[str, Any]) -> Reason:
    raw = case["reply"].get("raw")
    text = raw if raw is not None else json.dumps(case["reply"], ensure_ascii=False)
    draft = parse_reply(Reply(text))
    if isinstance(draft, RejectedReply):
        return draft.reason
    sources = tuple(
        EvidenceSource(s["id"], Hit(chunk(s, case["lang"]), 1.0, None, 1.0))
        for s in case["sources"]
    )
    evidence = Evidence(sources)
    current = {source.label: source.chunk for source in sources}
    return verify(draft, evidence, current=current, locate=locate, question=case["question"]).reason


def chunk(source: dict[str, str], lang: str) -> Chunk:
    place = Location(start=100, end=100 + len(source["text"]))
    return Chunk(
        f"{source['id']}:c0",
        source["id"],
        0,
        source["text"],
        place,
        title=source["title"],
        lang=lang,
    )


def locate(_: Chunk, span: Span) -> Location:
    return Location(start=span.start, end=span.end)


@pytest.mark.parametrize("case", STRICT, ids=lambda case: f"{case['id']}-{case['kind']}")
def test_a_reply_is_shown_or_not_as_expected(case: dict[str, Any]) -> None:
    assert (outcome(case) is Reason.OK) is (case["expected"] == "accept"), outcome(case)


def test_reasons_are_the_expected_ones() -> None:
    refused = [case for case in STRICT if case["expected"] == "reject"]
    wrong = [
        (case["id"], outcome(case))
        for case in refused
        if outcome(case) not in {case["expected_reason"], *case["also_ok_reasons"]}
    ]
    assert len(wrong) <= 0.05 * len(refused), wrong


def test_claims_that_need_reading_are_told_apart_well_enough() -> None:
    right: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    for case in SEMANTIC:
        key = (case["expected"], case["kind"])
        total[key] += 1
        right[key] += (outcome(case) is Reason.OK) is (case["expected"] == "accept")
    told = {key: f"{right[key]} of {total[key]}" for key in sorted(total)}
    assert share(right, total, "reject") >= 0.6, told
    assert share(right, total, "accept") >= 0.8, told


def share(right: Counter[tuple[str, str]], total: Counter[tuple[str, str]], expected: str) -> float:
    cases = [key for key in total if key[0] == expected]
    return sum(right[key] for key in cases) / sum(total[key] for key in cases)
