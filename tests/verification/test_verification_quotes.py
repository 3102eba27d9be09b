from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evidencedesk.verification.misses import explain_miss
from evidencedesk.verification.quotes import Quotable, QuoteMatch, QuoteMiss, find_quote

CASES = json.loads((Path(__file__).parents[1] / "cases" / "quote_match.json").read_text("utf-8"))

WORDS = [
    "the",
    "fee",
    "is",
    "18",
    "euros",
    "per",
    "month",
    "not",
    "for",
    "every",
    "customer",
    "Straße",
    "Prüfung",
    "agreement",
    "December",
    "1,250",
    "well-known",
    "rule",
    "limit",
    "কর্মীরা",
    "বছরে",
    "ছুটি",
    "उत्पाद",
    "नहीं",
    "don't",
    "policy",
    "2019",
    "café",
    "office",
    "naïve",
    "storage",
]
sources = st.lists(st.sampled_from(WORDS), min_size=6, max_size=40).map(" ".join)


def found(quote: str, source: str) -> bool:
    return isinstance(find_quote(quote, source), QuoteMatch)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases(case: dict[str, object]) -> None:
    # The one row left to policy: accents count, so a quote without them is not found.
    expected = bool(case["should_match"])
    assert found(str(case["quote"]), str(case["source"])) is expected


@st.composite
def cuts(draw: st.DrawFn) -> tuple[str, str, int, int]:
    """A source and a span of it cut at white space."""
    source = draw(sources)
    tokens = list(re.finditer(r"\S+", source))
    first = draw(st.integers(0, len(tokens) - 1))
    last = draw(st.integers(first, len(tokens) - 1))
    start, end = tokens[first].start(), tokens[last].end()
    return source, source[start:end], start, end


@given(cuts(), st.randoms(use_true_random=False))
def test_a_quote_cut_from_a_source_is_found_however_it_is_set(
    cut: tuple[str, str, int, int], rng: random.Random
) -> None:
    source, quote, start, end = cut
    match = find_quote(restyled(quote, rng), source)
    assert isinstance(match, QuoteMatch)
    assert (start, end) in match.occurrences
    assert all(fold_equal(source[a:b], match.quote) for a, b in match.occurrences)


@given(cuts(), st.randoms(use_true_random=False))
def test_a_restyled_source_still_holds_the_quote(
    cut: tuple[str, str, int, int], rng: random.Random
) -> None:
    source, quote, start, _ = cut
    assume(start == 0 or source[start - 1] == " ")
    assume(re.search(r"\d \d", source) is None)  # a no-break space between digits groups them
    assert found(quote, restyled(source, rng))


def fold_equal(one: str, other: str) -> bool:
    return one.split() == other.split()


def restyled(text: str, rng: random.Random) -> str:
    """Recased, re-spaced, re-quoted, decorated with soft hyphens and broken at line ends."""
    words = []
    for word in text.split(" "):
        changed = rng.choice([word.upper, word.lower, word.title, word.__str__])()
        if "n'T" in changed or "N'T" in changed:
            changed = changed.replace("'", "’")
        if changed.isascii() and changed.isalpha() and len(changed) > 3:
            at = rng.randrange(1, len(changed))
            changed = (
                changed[:at] + rng.choice(["", "-\n", "\u00ad", "\u200b", "‐\n  "]) + changed[at:]
            )
        words.append(changed.replace("'", rng.choice("'’")).replace("-", rng.choice("-‐‑")))
    spaces = [rng.choice([" ", "  ", "\n", "\t", "\u00a0", "\r\n"]) for _ in words]
    return "".join(word + space for word, space in zip(words, spaces, strict=True))


@given(cuts(), st.randoms(use_true_random=False))
def test_a_quote_with_one_thing_changed_is_not_found(
    cut: tuple[str, str, int, int], rng: random.Random
) -> None:
    source, quote, _, _ = cut
    for altered in alterations(quote, rng):
        if re.sub(r"\s+", " ", altered).strip().casefold() not in source.casefold():
            assert not found(altered, source), altered


def alterations(quote: str, rng: random.Random) -> list[str]:
    words = quote.split()
    at = rng.randrange(len(words))
    changed = [
        " ".join([*words[:at], "not", *words[at:]]),
        " ".join([*words[:at], "zebra", *words[at + 1 :]]),
        " ".join([*words[:at], "-" + words[at], *words[at + 1 :]])
        if words[at][0].isdigit()
        else "",
        re.sub(r"\d", lambda m: str((int(m[0]) + 1) % 10), quote, count=1),
        re.sub(r"\bnot ", "", quote, count=1) if " not " in f" {quote} " else "",
        quote.replace("-", "", 1),
        quote.replace(",", ".", 1),
        quote.replace("é", "e", 1),
    ]
    return [text for text in changed if text and text != quote and text not in ("", quote)]


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("smokers may enter here", "Only non-smokers may enter here."),
        ("limited for all", "The plan is un-\nlimited for all."),
        ("1020 units in stock", "Keep 10-\n20 units in stock."),
        ("104 units in stock", "Keep 10⁴ units in stock."),
        ("250,00 € net", "Price: 1\u00a0250,00 € net."),
        ("$310,000 after a charge", "Income was -$310,000 after a charge."),
        ("可以退货", "打折商品不可以退货。"),
        ("十个工作日内", "须在二十个工作日内提交。"),
        ("The dose is 1.", "The dose is 1.5 mg."),
        ("The аgreement ends", "The agreement ends."),
        ("they do", "they don't leave"),
        ("2019 2021 plan", "The 2019-2021 plan"),
        ("snakecase names matter", "snake_case names matter"),
        ("value is 23 here", "value is 2*3 here"),
        ("5 degrees at night", "- 3 by day\n-5 degrees at night"),
    ],
)
def test_near_misses_are_misses(quote: str, source: str) -> None:
    assert not found(quote, source)


@pytest.mark.parametrize(
    ("quote", "source", "slice_"),
    [
        (
            'up to two "bridge days"',
            "may ta\u00adke up to two “bridge days”.",
            "up to two “bridge days”",
        ),
        ("The office is closed", "The oﬃce is\u00a0\u00a0closed.", "The oﬃce is\u00a0\u00a0closed"),
        ("room B-2.14", "in room B‑2.14.", "room B‑2.14"),
        ("the agreement ends", "The agree\u00ad\nment ends.", "The agree\u00ad\nment ends"),
        ("the 2019-2021 plan", "the 2019–\n2021 plan", "the 2019–\n2021 plan"),
        ("see the guide first", "see [the guide](https://example.org/a) first", None),
        ("Team €29.00 500 GB", "| Team | €29.00 | 500 GB |", None),
        ("a bold word here", "a plain or bold word: a **bold** word here", None),
        ("年假", "正式员工每年享有15天带薪年假。", "年假"),
        ("'the fee is 18 euros.'", "So the fee is 18 euros a month", "the fee is 18 euros"),
        ("10^4 units", "Keep 10⁴ units", "10⁴ units"),
        ("…the fee is 18 euros…", "So the fee is 18 euros a month", "the fee is 18 euros"),
    ],
)
def test_the_result_is_the_sources_own_slice(quote: str, source: str, slice_: str | None) -> None:
    match = find_quote(quote, source)
    assert isinstance(match, QuoteMatch)
    assert match.quote == source[match.span.start : match.span.end]
    assert slice_ is None or match.quote == slice_


def test_all_occurrences_are_given_in_order() -> None:
    match = find_quote("the fee", "The fee. No thefee. The  fee!")
    assert isinstance(match, QuoteMatch)
    assert match.occurrences == ((0, 7), (20, 28))


def test_the_pieces_of_an_ellipsis_stand_in_order_and_near() -> None:
    gap = "x" * 290
    assert found("one two three ... four five six", f"one two three {gap} four five six")
    assert not found("one two three ... four five six", f"one two three {gap * 2} four five six")
    assert not found("four five six ... one two three", "one two three and four five six")
    assert not found("one two ... four five six", "one two three and four five six")


def test_a_miss_says_what_is_different_or_where_the_quote_stands() -> None:
    sources = {
        "S1": Quotable("Receipts must be submitted within 14 calendar days."),
        "S2": Quotable("Alcohol is never reimbursed."),
    }
    altered = explain_miss("Receipts must be submitted within 40 calendar days.", "S1", sources)
    assert altered == QuoteMiss("altered", "the quote says '40', the source '14'")
    assert explain_miss("Alcohol is never reimbursed", "S1", sources).kind == "elsewhere"
    assert explain_miss("Receipts must be submitted wіthin 14", "S1", sources).kind == "look_alike"
    assert explain_miss("Dogs are welcome in our office", "S1", sources).kind == "absent"


@given(st.text(max_size=60), st.text(max_size=200))
def test_whatever_is_found_is_a_slice_of_the_source(quote: str, source: str) -> None:
    match = find_quote(quote, source)
    if isinstance(match, QuoteMatch):
        assert all(0 <= start < end <= len(source) for start, end in match.occurrences)
        assert match.quote == source[match.span.start : match.span.end]


def test_a_long_quote_costs_no_more_than_its_source() -> None:
    started = time.perf_counter()
    assert not found("word " * 2_000_000, "word " * 200)
    assert time.perf_counter() - started < 0.5
