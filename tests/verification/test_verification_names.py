"""Names that a claim may bring: parts of a name that is there, and names from the question."""

from __future__ import annotations

import pytest

from evidencedesk.verification import Band, Passage, check_claim


def is_contradicted(claim: str, source: str, question: str = "") -> bool:
    passage = Passage(source, framing=source, lang="en")
    return check_claim(claim, [passage], question).band is Band.CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The rule was written by Sean Penn.", "Penn wrote the rule in the spring."),
        ("Steve Ditko studied at the school.", "Ditko studied at the school for a year."),
        ("The head is Dr. Anna Keller.", "The head of the school is Dr. Keller."),
    ],
)
def test_a_forename_may_complete_a_name_that_is_there(claim: str, source: str) -> None:
    assert not is_contradicted(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The head is Maria Keller.", "The head of the school is Anna Keller."),
        ("It is sold in North Korea.", "The bike is sold in Korea."),
        ("The rule was written by Sean Penn.", "The rule was written in the spring."),
        ("The head is Keller Maria.", "The head of the school is Keller."),
        ("It is made by Nordlicht.", "The router is made in the north."),
    ],
)
def test_another_name_is_another_name(claim: str, source: str) -> None:
    assert is_contradicted(claim, source)


def test_a_name_may_come_from_the_question_where_the_source_names_nobody_else() -> None:
    claim = "Returns at Kestrel are taken within 30 days."
    source = "We take returns within 30 days of delivery."
    assert is_contradicted(claim, source)
    assert not is_contradicted(claim, source, "How long does Kestrel take returns?")
    assert is_contradicted(claim, source, "How long does Falcon take returns?")


def test_a_name_from_the_question_does_not_stand_for_another_one_in_the_source() -> None:
    assert is_contradicted(
        "The price of Basic is 20 EUR.",
        "The price of Pro is 20 EUR.",
        "What is the price of Basic?",
    )
