"""What must be seen on the sample corpora: real files, real parsers, real model, real store."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_corpora import (
    ADMIN_ROLE,
    CUSTOMER,
    OPERATOR,
    PARIS,
    PAYOUT,
    REFUND,
    RETURNS,
    STAFF,
    STUDENT,
    cited,
    documents_of,
    folded,
)

from evidencedesk import Desk, EvidenceDeskError, Principal, Reason, Status
from evidencedesk.model import Reply, Request


class NeverAsked:
    """A generator that fails the test when anybody asks it."""

    name = "never-asked"

    def generate(self, request: Request) -> Reply:
        raise AssertionError(f"The model was asked {request.question!r}.")


@pytest.fixture(scope="module")
def silent(samples: Desk) -> Desk:
    """The same index, answered by a generator that must not be asked."""
    return Desk.open(samples.path, generator=NeverAsked())


def test_a_student_gets_the_whole_refund_policy_with_its_condition_and_its_link(samples: Desk):
    answer = samples.ask(REFUND, principal=STUDENT)
    assert (answer.abstained, answer.reason) == (False, Reason.OK)
    text = folded(answer.text)
    assert "less than 30 % of the course" in text
    assert "50 % of the fee" in text
    assert "within 14 days of enrolment" in text
    assert "no refund for the course after the certificate has been issued" in text
    assert len(answer.claims) == 2
    assert cited(answer) == {"ac-refunds"}
    first = answer.citations[0]
    assert first.source == "policies/refunds.html"
    assert first.location.element == "#when > p:nth-of-type(1)"
    assert first.label == f"Refund policy (When you get a refund) [{first.chunk_id}]"
    record = next(d for d in samples.documents(principal=STUDENT) if d.id == "ac-refunds")
    assert Path(record.root, first.source).is_file()


@pytest.mark.parametrize("desk", ["samples", "worded"])
def test_the_payout_question_is_refused_to_a_student(desk: str, request: pytest.FixtureRequest):
    opened: Desk = request.getfixturevalue(desk)
    explained = opened.explain(PAYOUT, principal=STUDENT)
    answer = explained.answer
    assert (answer.abstained, answer.reason) == (True, Reason.NO_EVIDENCE)
    assert (answer.claims, answer.citations) == ((), ())
    assert explained.request is None
    assert "ac-payout" not in documents_of(answer.retrieved_ids)
    everything = opened.search(PAYOUT, principal=STUDENT, k=10_000)
    assert len(everything) > 40
    assert "ac-payout" not in {hit.chunk.document_id for hit in everything}


def test_the_refused_document_is_as_if_it_were_not_there_for_every_way_of_reading(samples: Desk):
    readers = (
        lambda name: samples.document(name, principal=STUDENT),
        lambda name: samples.history(name, principal=STUDENT),
        lambda name: samples.diff(name, principal=STUDENT),
        lambda name: samples.chunk(f"{name}:c0", principal=STUDENT),
    )
    assert samples.chunk("ac-payout:c0", principal=ADMIN_ROLE)
    for read in readers:
        errors = []
        for name in ("ac-payout", "ac-nobody"):
            with pytest.raises(EvidenceDeskError) as caught:
                read(name)
            shape = str(caught.value.to_json()).replace(name, "NAME")
            errors.append(shape)
        assert errors[0] == errors[1]
    assert "ac-payout" not in {each.id for each in samples.documents(principal=STUDENT)}


def test_the_role_admin_has_the_payout_document_first(samples: Desk):
    answer = samples.ask(PAYOUT, principal=ADMIN_ROLE)
    assert answer.reason is Reason.OK
    assert answer.retrieved_ids[0].startswith("ac-payout:")
    assert cited(answer) == {"ac-payout"}
    assert "40 % of the net course revenue" in folded(answer.text)


def test_a_role_called_admin_is_no_administrator(samples: Desk):
    seen = {each.id for each in samples.documents(principal=ADMIN_ROLE)}
    assert "kc-returns-v3" not in seen
    assert seen < {each.id for each in samples.documents(principal=OPERATOR)}


def test_the_weather_in_paris_is_refused_without_a_model_call(silent: Desk):
    for principal in (STUDENT, CUSTOMER, STAFF, ADMIN_ROLE, OPERATOR, Principal()):
        answer = silent.ask(PARIS, principal=principal)
        assert answer.reason is Reason.NO_EVIDENCE
        assert (answer.generator, answer.attempts, answer.usage.input_tokens) == ("", 0, 0)


def test_paying_in_instalments_is_refused_without_a_model_call(silent: Desk):
    answer = silent.ask("Can I pay for a bike in instalments?", principal=CUSTOMER)
    assert answer.reason is Reason.NO_EVIDENCE


def test_the_silent_generator_is_asked_when_there_is_evidence(silent: Desk):
    with pytest.raises(AssertionError, match="How long do I have"):
        silent.ask(RETURNS, principal=CUSTOMER)


def test_the_returns_question_is_answered_at_its_lines(samples: Desk):
    answer = samples.ask(RETURNS, principal=CUSTOMER)
    first = answer.citations[0]
    assert first.label == "Returns policy (Returning a bike, lines 11-12) [kc-returns-v3:c0]"
    assert folded(first.quote).startswith("You can return a new, unridden bike within 30 days")
    assert (first.quote_location.first_line, first.quote_location.last_line) == (11, 11)
    assert first.version == "3"


@pytest.mark.parametrize(
    ("question", "document", "fact"),
    [
        (RETURNS, "kc-returns-v3", "within 30 days of delivery"),
        ("When do gift cards expire?", "kc-giftcards-v1", "expire 36 months after purchase"),
        ("What is the RD2-24 recall about?", "kc-recalls-v1", "RD2-24"),
        ("What does delivery cost?", "kc-shipping-v1", "39 euros"),
        ("How long is the warranty on the frame?", "kc-warranty-v2", "5-year warranty"),
        ("Which frame sizes do you sell?", "kc-sizing-v1", "XS, S, M, L and XL"),
        ("নতুন বাইক কত দিনের মধ্যে ফেরত দেওয়া যায়?", "kc-returns-bn-v3", "৩০ দিনের মধ্যে"),
    ],
)
@pytest.mark.parametrize("desk", ["samples", "worded"])
def test_the_labelled_questions_are_answered(
    desk: str, question: str, document: str, fact: str, request: pytest.FixtureRequest
):
    answer = request.getfixturevalue(desk).ask(question, principal=CUSTOMER)
    assert answer.reason is Reason.OK
    assert fact in folded(answer.text)
    assert document in cited(answer)
    assert documents_of(answer.retrieved_ids)[0] == document


def test_getting_money_back_finds_the_returns_policy_first_although_no_word_is_shared(
    samples: Desk,
):
    hits = samples.search("How do I get my money back?", principal=CUSTOMER)
    assert hits[0].chunk.document_id == "kc-returns-v3"


def test_a_staff_question_is_refused_to_a_customer_and_answered_to_staff(samples: Desk):
    question = "Who has to approve a refund above 500 euros?"
    refused = samples.ask(question, principal=CUSTOMER)
    assert refused.reason is Reason.NO_EVIDENCE
    assert "kc-refunds-staff-v1" not in documents_of(refused.retrieved_ids)
    answered = samples.ask(question, principal=STAFF)
    assert answered.reason is Reason.OK
    assert "shop manager" in answered.text


@pytest.mark.parametrize("desk", ["samples", "worded"])
def test_the_superseded_policy_is_no_evidence_and_second_when_asked_for(
    desk: str, request: pytest.FixtureRequest
):
    opened: Desk = request.getfixturevalue(desk)
    current = opened.search(RETURNS, principal=CUSTOMER, k=10_000)
    assert "kc-returns-v2" not in {hit.chunk.document_id for hit in current}
    both = opened.search(
        RETURNS, principal=CUSTOMER, statuses={Status.CURRENT, Status.SUPERSEDED}, k=10_000
    )
    ranked = list(dict.fromkeys(hit.chunk.document_id for hit in both))
    assert ranked[:2] == ["kc-returns-v3", "kc-returns-v2"]


def test_asking_for_superseded_documents_opens_none_that_are_closed(samples: Desk):
    everything = samples.documents(principal=STUDENT, statuses=set(Status))
    assert {each.id for each in everything} == {
        each.id for each in samples.documents(principal=STUDENT)
    }


def test_when_both_versions_are_evidence_the_answer_says_that_they_disagree(samples: Desk):
    answer = samples.ask(RETURNS, principal=CUSTOMER, statuses={Status.CURRENT, Status.SUPERSEDED})
    assert answer.reason is Reason.SOURCES_CONFLICT
    assert not answer.abstained
    assert "30 days" in answer.text
    assert "14 days" in answer.text
    assert cited(answer) == {"kc-returns-v3", "kc-returns-v2"}


def test_nobody_in_particular_sees_nothing(samples: Desk):
    nobody = Principal()
    assert samples.documents(principal=nobody, statuses=set(Status)) == ()
    assert samples.search(RETURNS, principal=nobody) == ()
    assert samples.ask(RETURNS, principal=nobody).retrieved == ()


def test_another_tenant_sees_nothing_whoever_asks(samples: Desk):
    for roles in ({"everyone", "student", "admin", "staff"}, set()):
        stranger = Principal("other", frozenset(roles), administrator=True)
        assert samples.documents(principal=stranger, statuses=set(Status)) == ()
        assert samples.search(RETURNS, principal=stranger) == ()
        assert samples.log(principal=stranger) == ()
