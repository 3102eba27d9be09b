"""Replies as models write them when they go wrong: read and verified together, in bounded time."""

from __future__ import annotations

import json
import time

import pytest

from evidencedesk.generation import RejectedReply, parse_reply
from evidencedesk.model import Chunk, Evidence, EvidenceSource, Hit, Location, Reason, Reply
from evidencedesk.verification import verify

TEXTS = (
    "New bikes can be returned within 30 days of delivery.",
    "New bikes can be returned within 30 days of delivery. Helmets cannot be returned.",
    "The warranty covers batteries for 2 years.",
)
QUOTE = TEXTS[0]


def evidence() -> Evidence:
    chunks = [
        Chunk(f"d{number}:c0", f"d{number}", 0, text, Location(start=0, end=len(text)), lang="en")
        for number, text in enumerate(TEXTS, start=1)
    ]
    return Evidence(
        tuple(
            EvidenceSource(f"S{number}", Hit(chunk, 1.0, None, 1.0))
            for number, chunk in enumerate(chunks, start=1)
        )
    )


def outcome(text: str) -> Reason:
    draft = parse_reply(Reply(text))
    if isinstance(draft, RejectedReply):
        return draft.reason
    shown = evidence()
    return verify(
        draft,
        shown,
        current={source.label: source.chunk for source in shown.sources},
        locate=lambda _, span: Location(start=span.start, end=span.end),
        question="Within how many days can bikes be returned?",
    ).reason


def reply(label: str = "S1", claim: str = QUOTE, quote: str = QUOTE) -> str:
    cited = [{"source": label, "quote": quote}]
    return json.dumps({"insufficient": False, "claims": [{"text": claim, "citations": cited}]})


@pytest.mark.parametrize(
    "label",
    [
        "1",
        "[1]",
        "[[1]]",
        "【1】",
        "【１】",
        "[১]",
        "[१]",
        "[١]",
        "s1",
        "source 1",
        "[1-2]",
        "[1–2]",
        "[1, 2]",
        "S1-S2",
    ],
)
def test_a_label_may_be_written_in_many_ways(label: str) -> None:
    assert outcome(reply(label)) is Reason.OK


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("[1-3]", Reason.QUOTE_NOT_FOUND),
        ("[1-9]", Reason.UNKNOWN_CITATION),
        ("[1-999999999]", Reason.UNKNOWN_CITATION),
        ("[2-1]", Reason.UNKNOWN_CITATION),
        ("[0]", Reason.UNKNOWN_CITATION),
        ("[৪]", Reason.UNKNOWN_CITATION),
        ("４", Reason.UNKNOWN_CITATION),
        ("", Reason.UNKNOWN_CITATION),
        ("-", Reason.UNKNOWN_CITATION),
        ("S1S2", Reason.UNKNOWN_CITATION),
        ("d1:c0", Reason.UNKNOWN_CITATION),
        ("https://example.org", Reason.UNKNOWN_CITATION),
    ],
)
def test_a_label_that_names_no_source_shown_is_unknown(label: str, reason: Reason) -> None:
    assert outcome(reply(label)) is reason


@pytest.mark.parametrize(
    "text",
    [
        "Bikes can be returned within 30 days [1].",
        "Sure! " + reply(),
        reply() + "\nI hope that helps.",
        reply()[:-1],
        reply()[: len(reply()) // 2],
        reply().replace('"insufficient"', '"insufficient": false, "insufficient"'),
        reply().replace("false", "NaN"),
        reply().replace("New bikes", "New \\ud800 bikes"),
        "[" * 1000 + "]" * 1000,
        '{"claims": ' * 1000 + "1" + "}" * 1000,
        '{"insufficient": false, "claims": "' + "x" * 10_000_000 + '"}',
        "[" + "1," * 4_000_000 + "1]",
        "９" * 1000,
        "\x00",
    ],
    ids=lambda text: repr(text[:24]),
)
def test_what_is_no_reply_is_rejected_in_bounded_time(text: str) -> None:
    started = time.process_time()
    assert outcome(text) in {Reason.INVALID_JSON, Reason.INVALID_SCHEMA}
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("Neue Fahrräder können innerhalb von 30 Tagen zurückgegeben werden.", Reason.OK),
        (
            "Neue Fahrräder können innerhalb von 60 Tagen zurückgegeben werden.",
            Reason.UNSUPPORTED_NUMBER,
        ),
        ("New bikes can be returned within ３０ days of delivery.", Reason.OK),
        ("New bikes can be returned within ৩০ days of delivery.", Reason.OK),
        ("New bikes can be returned within ৬০ days of delivery.", Reason.UNSUPPORTED_NUMBER),
        ("নতুন সাইকেল ৩০ দিনের মধ্যে ফেরত দেওয়া যায়।", Reason.OK),
        ("নতুন সাইকেল ৯০ দিনের মধ্যে ফেরত দেওয়া যায়।", Reason.UNSUPPORTED_NUMBER),
        ("新车可在30天内退货。", Reason.OK),
        ("新车可在90天内退货。", Reason.UNSUPPORTED_NUMBER),
    ],
)
def test_a_claim_may_be_in_another_language_or_script(claim: str, reason: Reason) -> None:
    assert outcome(reply(claim=claim)) is reason


def test_long_claims_and_many_claims_cost_bounded_time() -> None:
    claims = [json.loads(reply(claim=f"{QUOTE} " * 100))["claims"][0] for _ in range(20)]
    started = time.process_time()
    outcome(json.dumps({"insufficient": False, "claims": claims}))
    assert time.process_time() - started < 5
