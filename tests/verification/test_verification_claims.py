from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from said_otherwise import BORNE_OUT, CONTRADICTED

from evidencedesk.model import Answer, Citation, Claim, Location, Reason, Support
from evidencedesk.verification import Band, Passage, check_claim, numbers_unsupported

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "claim_pairs.jsonl")
    .read_text("utf-8")
    .splitlines()
]
NEEDS_A_JUDGE = {
    "role",
    "attribution",
    "quantifier",
    "scope",
    "threshold",
    "condition",
    "arithmetic",
    "duration",
}


@pytest.mark.parametrize(("claim", "quote", "lang"), BORNE_OUT)
def test_the_same_said_otherwise_is_not_contradicted(claim: str, quote: str, lang: str) -> None:
    finding = check_claim(claim, [Passage(quote, lang=lang)])
    assert finding.band is not Band.CONTRADICTED, finding.failure


@pytest.mark.parametrize("claim", ["1", "1.", " (1) ", "\u09e7", "You can store 1 of the sizes."])
@pytest.mark.parametrize(
    "quote",
    ["You can order without one, but the sizes are not stored.", "Take one and store the sizes."],
)
def test_a_pronoun_bears_no_figure_out(claim: str, quote: str) -> None:
    finding = check_claim(claim, [Passage(quote, lang="en")])
    assert [rule.check for rule in finding.outcomes if not rule.passed][:1] == ["numbers"]


@pytest.mark.parametrize("quote", ["It takes one parcel.", "It takes 1 parcel.", "It takes 1."])
def test_a_number_word_that_counts_something_bears_the_figure_out(quote: str) -> None:
    assert (
        check_claim("It takes 1 parcel.", [Passage(quote, lang="en")]).band is not Band.CONTRADICTED
    )


@pytest.mark.parametrize(("claim", "quote", "lang"), CONTRADICTED)
def test_one_thing_changed_is_contradicted(claim: str, quote: str, lang: str) -> None:
    assert check_claim(claim, [Passage(quote, lang=lang)]).band is Band.CONTRADICTED


def test_pairs_are_told_apart_where_rules_can() -> None:
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for row in PAIRS:
        shown = (
            check_claim(row["claim"], [Passage(row["source"], lang="en")]).band
            is not Band.CONTRADICTED
        )
        group = "supported" if row["label"] == "supported" else row["kind"]
        total[group] += 1
        right[group] += shown is (row["label"] == "supported")
    assert right["supported"] >= 0.8 * total["supported"], right
    rules = [kind for kind in total if kind != "supported" and kind not in NEEDS_A_JUDGE]
    assert sum(right[kind] for kind in rules) >= 0.8 * sum(total[kind] for kind in rules), right


def test_a_claim_that_repeats_its_quote_is_extractive() -> None:
    quote = "No **refund** is given after 30 days, except for 5 % of orders."
    finding = check_claim(
        "No refund is given after 30 days, except for 5 % of orders.", [Passage(quote)]
    )
    assert finding.band is Band.EXTRACTIVE
    assert finding.coverage == 1.0


def test_a_number_beside_the_quote_is_not_in_it() -> None:
    beside = Passage("Batteries and adapters are covered", after=" for 90 days only.", lang="en")
    finding = check_claim("Batteries are covered for 90 days.", [beside])
    assert finding.failure is not None
    assert finding.failure.reason is Reason.UNSUPPORTED_NUMBER


def test_a_sign_or_unit_cut_off_by_the_quote_still_counts() -> None:
    cut = Passage("38", before="of whom ", after="% were women", lang="en")
    assert check_claim("38 % were women.", [cut]).band is not Band.CONTRADICTED
    assert check_claim("38 employees were women.", [cut]).band is Band.CONTRADICTED


def test_a_year_may_stand_in_the_title() -> None:
    titled = Passage("until 31 March of the following year", framing="Leave policy 2025", lang="en")
    assert check_claim("until 31 March 2025", [titled]).band is not Band.CONTRADICTED
    assert check_claim("until 31 March 2024", [titled]).band is Band.CONTRADICTED


def test_a_name_may_stand_in_the_title_or_heading() -> None:
    framed = Passage("She did not work on the dam.", framing="Ingrid Haugen", lang="en")
    assert (
        check_claim("No, Ingrid Haugen did not work on the dam.", [framed]).band
        is not Band.CONTRADICTED
    )
    assert (
        check_claim("No, Karl Tveit did not work on the dam.", [framed]).band is Band.CONTRADICTED
    )


amounts = st.integers(2, 999_999_999)


@given(amounts, st.sampled_from(["{:,}", "{}", "{: }", "€{:,}", "{:,} euros", "EUR {}"]))
def test_an_amount_is_the_same_in_every_notation(value: int, notation: str) -> None:
    grouped = f"{value:,}".replace(",", " ")
    written = grouped if notation == "{: }" else notation.format(value)
    bengali = "৳" if notation == "never" else ""
    bengali += "".join(chr(0x09E6 + int(digit)) for digit in str(value))
    for source in (
        f"The total was €{value:,}.",
        f"The total was {value:,} euros.",
        f"{bengali} euros in total.",
    ):
        assert (
            check_claim(f"The total was {written}.", [Passage(source)]).band
            is not Band.CONTRADICTED
        )


@given(amounts, amounts, st.sampled_from(["{:,}", "{}", "€{:,}", "{} days", "{} %", "{} kg"]))
def test_another_amount_is_another_in_every_notation(one: int, other: int, notation: str) -> None:
    assume(one != other)
    claim = f"The total was {notation.format(one)}."
    source = f"The total was {notation.format(other)}."
    finding = check_claim(claim, [Passage(source)])
    assert finding.failure is not None
    assert finding.failure.reason is Reason.UNSUPPORTED_NUMBER


def answer_with(claim: str, quote: str) -> Answer:
    citation = Citation("d:c0", "d", "Title", "1", Location(), "Title [d:c0]", quote=quote)
    return Answer(
        "id", "question", claim, abstained=False, reason=Reason.OK, confidence=1.0, threshold=0.5,
        claims=(Claim(claim, Support.QUOTED, (0,)),), citations=(citation,),
    )  # fmt: skip


def test_numbers_unsupported_lists_what_no_quote_holds() -> None:
    quote = "Unopened products may be returned within 30 days."
    assert not numbers_unsupported(answer_with("Return it within thirty days.", quote))
    assert numbers_unsupported(answer_with("Return it within 40 days, for $12.", quote)) == (
        "40 days",
        "$12",
    )
