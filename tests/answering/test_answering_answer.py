from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.answering import (
    OnFailure,
    abstention_text,
    answer_from,
    citation_label,
    citations_for,
    has_evidence,
    render_answer,
    render_explanation,
)
from evidencedesk.model import (
    Answer,
    Check,
    Chunk,
    Evidence,
    EvidenceSource,
    Hit,
    Location,
    Reason,
    Reply,
    Retrieval,
    SourceConflict,
    Span,
    Support,
    Usage,
    Verdict,
    VerifiedCitation,
    VerifiedClaim,
)

TEXT = "You can return a bike within 30 days. Opened helmets cannot be returned."
CHUNK = Chunk(
    id="kc-returns-v3:c0",
    document_id="kc-returns-v3",
    ordinal=0,
    text=TEXT,
    location=Location(("Returning a bike",), 11, 12, start=20, end=20 + len(TEXT)),
    title="Returns policy",
    source="returns-policy.md",
    version="3",
    content_hash="sha256:abc",
)
OTHER = replace(
    CHUNK, id="old:c0", document_id="old", version="2", location=Location(start=0, end=len(TEXT))
)
HITS = (Hit(CHUNK, 1.9, 0.55, 7.1), Hit(OTHER, 1.0, None, 3.0))
RETRIEVAL = Retrieval(HITS, (), 0.97, "tokens-1", ("embedding: away",))
EVIDENCE = Evidence((EvidenceSource("S1", HITS[0], ("copy",)), EvidenceSource("S2", HITS[1])))
REPLY = Reply("{}", generator="extractive", model="m", usage=Usage(3, 4, 0.5), attempts=2)


def cited(start: int, end: int, chunk: Chunk = CHUNK, label: str = "S1") -> VerifiedCitation:
    base = chunk.location.start
    place = Location(("Returning a bike",), 11, 11, start=base + start, end=base + end)
    span = Span(base + start, base + end)
    return VerifiedCitation(label, chunk, TEXT[start:end], span, place, (place,))


def claim(text: str, *citations: VerifiedCitation, reason: Reason = Reason.OK) -> VerifiedClaim:
    support = Support.EXTRACTIVE if reason is Reason.OK else None
    return VerifiedClaim(text, reason, support, citations)


def answer(verdict: Verdict | None = None, **options: object) -> Answer:
    values = {
        "answer_id": "a1",
        "question": "How long?",
        "threshold": 0.5,
        "retrieval": RETRIEVAL,
        "evidence": EVIDENCE,
        "reply": REPLY,
        "verdict": verdict,
    }
    return answer_from(**{**values, **options})


FIRST, SECOND = cited(0, 37), cited(38, len(TEXT))
CHECKS = (Check("quote_found", 0, passed=True),)
GOOD = Verdict(
    Reason.OK, (claim("Thirty days.", FIRST), claim("No helmets.", SECOND, FIRST)), CHECKS
)
BAD = Verdict(
    Reason.QUOTE_NOT_FOUND,
    (claim("Sixty days.", reason=Reason.QUOTE_NOT_FOUND), claim("No helmets.", SECOND)),
    (Check("quote_found", 0, passed=False, detail="altered"), Check("quote_found", 1, passed=True)),
)


def test_claims_come_in_order_with_numbered_citations() -> None:
    shown = answer(GOOD)
    assert (shown.abstained, shown.reason) == (False, Reason.OK)
    assert shown.text == "Thirty days. No helmets."
    assert [one.citations for one in shown.claims] == [(0,), (1, 0)]
    assert [one.quote for one in shown.citations] == [FIRST.quote, SECOND.quote]
    assert shown.checks == CHECKS
    assert shown.retrieved_ids == ("kc-returns-v3:c0", "old:c0")
    assert (shown.generator, shown.model, shown.attempts) == ("extractive", "m", 2)
    assert (shown.usage, shown.degraded) == (REPLY.usage, ("embedding: away",))


def test_a_citation_is_made_of_metadata() -> None:
    first = answer(GOOD).citations[0]
    assert first.label == "Returns policy (Returning a bike, lines 11-12) [kc-returns-v3:c0]"
    assert (first.document_id, first.title, first.version) == (
        "kc-returns-v3",
        "Returns policy",
        "3",
    )
    assert (first.source, first.content_hash) == ("returns-policy.md", "sha256:abc")
    assert first.location == CHUNK.location
    assert first.quote_location == FIRST.location
    assert first.also_in == ("copy",)


def test_labels_say_what_is_known() -> None:
    assert citation_label(OTHER) == "Returns policy [old:c0]"
    assert citation_label(replace(OTHER, title="")) == "old [old:c0]"


def test_citations_are_listed_once_in_the_order_cited() -> None:
    again = replace(FIRST, label="S2")
    found = citations_for([SECOND, FIRST, again, SECOND], EVIDENCE)
    assert [one.quote for one in found] == [SECOND.quote, FIRST.quote]


def test_a_label_cites_its_chunk_whole() -> None:
    (found,) = citations_for(["S1", "S1"], EVIDENCE)
    assert (found.chunk_id, found.quote, found.also_in) == ("kc-returns-v3:c0", "", ("copy",))
    with pytest.raises(KeyError, match="No source 'S9' in the evidence; there are: S1, S2"):
        citations_for(["S9"], EVIDENCE)


def test_without_evidence_the_generator_is_not_asked() -> None:
    shown = answer(None, evidence=None, reply=None)
    assert (shown.abstained, shown.reason) == (True, Reason.NO_EVIDENCE)
    assert (shown.claims, shown.citations, shown.attempts) == ((), (), 0)
    assert shown.text == abstention_text(Reason.NO_EVIDENCE)


@pytest.mark.parametrize("failure", [Reason.INVALID_JSON, Reason.TRUNCATED, Reason.TIMEOUT])
def test_a_reply_that_cannot_be_read_is_an_abstention(failure: Reason) -> None:
    shown = answer(None, failure=failure, checks=CHECKS)
    assert (shown.abstained, shown.reason, shown.checks) == (True, failure, CHECKS)


@pytest.mark.parametrize("policy", [OnFailure.ABSTAIN, OnFailure.REPAIR])
def test_one_failed_check_rejects_the_whole_answer(policy: OnFailure) -> None:
    shown = answer(BAD, on_failure=policy)
    assert (shown.abstained, shown.reason) == (True, Reason.QUOTE_NOT_FOUND)
    assert (shown.claims, shown.citations, shown.dropped_claims) == ((), (), ())
    assert "Sixty" not in shown.text
    assert shown.checks == BAD.checks


def test_trim_shows_what_passed_and_says_what_was_left_out() -> None:
    shown = answer(BAD, on_failure=OnFailure.TRIM)
    assert (shown.abstained, shown.reason, shown.text) == (False, Reason.OK, "No helmets.")
    assert [one.citations for one in shown.claims] == [(0,)]
    assert [(one.text, one.reason) for one in shown.dropped_claims] == [
        ("Sixty days.", Reason.QUOTE_NOT_FOUND)
    ]
    assert shown.note == "Left out: 1 statement that was not verified."


def test_trim_with_nothing_left_abstains() -> None:
    verdict = Verdict(BAD.reason, BAD.claims[:1], BAD.checks)
    shown = answer(verdict, on_failure=OnFailure.TRIM)
    assert (shown.abstained, shown.reason) == (True, Reason.QUOTE_NOT_FOUND)


def test_an_unsafe_reply_is_never_trimmed() -> None:
    unsafe = claim("<img>", reason=Reason.UNSAFE_OUTPUT)
    verdict = Verdict(Reason.QUOTE_NOT_FOUND, (*BAD.claims, unsafe), ())
    assert answer(verdict, on_failure=OnFailure.TRIM).abstained


def test_no_claims_are_an_abstention_of_the_model() -> None:
    assert answer(Verdict(Reason.OK, (), ())).reason is Reason.MODEL_ABSTAINED
    assert answer(Verdict(Reason.MODEL_ABSTAINED, (), ())).reason is Reason.MODEL_ABSTAINED


def test_sources_that_disagree_are_said_to() -> None:
    spans = (FIRST.span, Span(0, 37))
    dispute = SourceConflict(("S1", "S2"), spans, ("30 days", "14 days"), "The sources disagree.")
    evidence = replace(EVIDENCE, conflicts=(dispute,))
    verdict = Verdict(
        Reason.OK, (claim("30 days", FIRST), claim("14 days", cited(0, 37, OTHER, "S2"))), ()
    )
    shown = answer(verdict, evidence=evidence)
    assert (shown.abstained, shown.reason) == (False, Reason.SOURCES_CONFLICT)
    assert shown.note == "The sources disagree."
    aside = answer(Verdict(Reason.OK, (claim("No helmets.", SECOND),), ()), evidence=evidence)
    assert (aside.reason, aside.note) == (Reason.OK, "")


def test_a_threshold_of_zero_is_a_threshold_of_zero() -> None:
    found = replace(RETRIEVAL, confidence=0.0)
    assert has_evidence(found, 0.0)
    assert not has_evidence(replace(found, hits=()), 0.0)
    assert has_evidence(replace(found, confidence=0.5), 0.5)
    assert not has_evidence(replace(found, confidence=0.499), 0.5)


@pytest.mark.parametrize(
    "reason", [r for r in Reason if r not in {Reason.OK, Reason.SOURCES_CONFLICT}]
)
def test_every_abstention_has_a_text_and_names_the_contact(reason: Reason) -> None:
    text = abstention_text(reason)
    assert text.count(".") >= 2
    assert "help@example.org" not in text
    assert abstention_text(reason, "help@example.org").endswith("Contact: help@example.org.")


def test_an_answer_as_text() -> None:
    assert render_answer(answer(GOOD)) == (
        "Thirty days. [1]\n"
        "No helmets. [2][1]\n"
        "\n"
        "[1] Returns policy (Returning a bike, lines 11-12) [kc-returns-v3:c0]\n"
        "    returns-policy.md\n"
        "    “You can return a bike within 30 days.” (Returning a bike, line 11)\n"
        "    also in: copy\n"
        "[2] Returns policy (Returning a bike, lines 11-12) [kc-returns-v3:c0]\n"
        "    returns-policy.md\n"
        "    “Opened helmets cannot be returned.” (Returning a bike, line 11)\n"
        "    also in: copy\n"
        "Degraded: embedding: away\n"
    )


def test_an_abstention_as_text_says_its_reason() -> None:
    shown = answer(None, retrieval=replace(RETRIEVAL, degraded=()), contact="Ann")
    assert render_answer(shown).splitlines() == [
        abstention_text(Reason.NO_EVIDENCE, "Ann"),
        "Reason: no_evidence",
    ]


def test_an_explanation_lists_scores_and_checks() -> None:
    text = render_explanation(answer(BAD))
    assert "Confidence: 0.970 (threshold 0.5)" in text
    assert "kc-returns-v3:c0  score 1.900  vector 0.550  keyword 7.100" in text
    assert "old:c0  score 1.000  vector -  keyword 3.000" in text
    assert "FAILED  quote_found (claim 1): altered" in text


@given(st.text())
def test_no_document_steers_a_terminal(text: str) -> None:
    steering = "\x1b[2J" + text
    shown = replace(answer(GOOD), text=steering, note=steering, claims=answer(GOOD).claims)
    for rendered in (render_answer(shown), render_explanation(shown)):
        assert not any(ord(mark) < 32 and mark not in "\t\n" for mark in rendered)


OUTCOMES = st.sampled_from([Reason.OK, Reason.QUOTE_NOT_FOUND, Reason.UNSUPPORTED_NUMBER])


@given(st.lists(OUTCOMES, max_size=5), st.sampled_from(OnFailure))
def test_nothing_unverified_is_shown(reasons: list[Reason], policy: OnFailure) -> None:
    claims = tuple(claim(f"claim-{n}", FIRST, reason=one) for n, one in enumerate(reasons))
    verdict = Verdict(next((one for one in reasons if one is not Reason.OK), Reason.OK), claims, ())
    shown = answer(verdict, on_failure=policy)
    verified = {one.text for one in claims if one.reason is Reason.OK}
    assert {one.text for one in shown.claims} <= verified
    assert shown.abstained is not bool(shown.claims)
    assert shown.abstained or shown.reason is Reason.OK
    assert not shown.abstained or not shown.citations
