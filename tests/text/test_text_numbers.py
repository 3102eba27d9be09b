from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.text.dates import Date, clock_time, dates_agree, numeric_dates
from evidencedesk.text.number_words import han_value, spoken_number, word_value
from evidencedesk.text.numbers import quantities
from evidencedesk.text.numerals import digit_values, plain_spelling
from evidencedesk.text.quantity import Kind, Quantity


def only(text: str) -> Quantity:
    (found,) = [one for one in quantities(text).found if not one.weak]
    return found


@pytest.mark.parametrize(
    "text",
    ["1,000", "1.000", "1 000", "1\u00a0000", "1\u202f000", "1'000", "১,০০০", "१०००", "١٬٠٠٠", "１０００",
     "one thousand", "a thousand", "1k", "tausend x eintausend"],
)  # fmt: skip
def test_a_thousand_in_every_notation(text: str) -> None:
    assert Fraction(1000) in quantities(text).found[-1].values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4.2 million", 4_200_000),
        ("4,2 Mio.", 4_200_000),
        ("12,50,000", 1_250_000),
        ("১২.৫ লাখ", 1_250_000),
        ("1.250.000", 1_250_000),
        ("1.250,50", Fraction(2501, 2)),
        ("1 250,50", Fraction(2501, 2)),
        ("4,50", Fraction(9, 2)),
        ("0.001", Fraction(1, 1000)),
        ("3.2 × 10⁻⁴", Fraction(32, 100_000)),
        ("3.2e-4", Fraction(32, 100_000)),
        ("10⁶", 1_000_000),
        ("1½", Fraction(3, 2)),
        ("two and a half", Fraction(5, 2)),
        ("two thirds", Fraction(2, 3)),
        ("a third of it", Fraction(1, 3)),
        ("thirty-six", 36),
        ("two hundred and five", 205),
        ("three dozen", 36),
        ("dreiundzwanzig", 23),
        ("zweitausendfünfhundert", 2500),
        ("-310,000", -310_000),
        ("−4.5", Fraction(-9, 2)),
        ("minus 5", -5),
        ("5 degrees below zero", -5),
        ("12万", 120_000),
    ],
)
def test_values(text: str, value: int | Fraction) -> None:
    assert Fraction(value) in only(text).values


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$12.50", "12.5 dollars"),
        ("EUR 4.2 million", "4,200,000 euros"),
        ("-$5", "$-5"),
        ("two years", "24 months"),
        ("two-year", "24 months"),
        ("48 h", "2 days"),
        ("half an hour", "30 minutes"),
        ("0.5 kg", "500 g"),
        ("5 TB", "5,000 GB"),
        ("118 MW", "118 megawatts"),
        ("50 %", "half"),
        ("50 percent", "50%"),
        ("15 प्रतिशत", "15%"),
        ("百分之十五", "15 %"),
        ("230 °C", "446 °F"),
        ("৳১০০", "100 টাকা"),
        ("120元", "CNY 120"),
        ("三个月", "3 months"),
        ("10个工作日", "10 working days"),
        ("١٤ يومًا", "14 days"),
    ],
)
def test_measures_are_the_same_in_every_unit(one: str, other: str) -> None:
    assert only(one).measures & only(other).measures


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 mg", "5 g"),
        ("5 mW", "5 MW"),
        ("90 days", "3 months"),
        ("$5", "€5"),
        ("5 %", "5 percentage points"),
        ("10 working days", "10 days"),
        ("5 GB", "5 GiB"),
        ("5 miles", "5 km"),
    ],
)
def test_other_units_are_other_measures(one: str, other: str) -> None:
    assert not only(one).measures & only(other).measures


@pytest.mark.parametrize(
    "text",
    ["31 March 2025", "March 31, 2025", "March 31st, 2025", "2025-03-31", "31.03.2025", "31/03/2025", "2025/3/31",
     "31. März 2025", "31 de marzo de 2025", "31 mars 2025", "2025年3月31日", "৩১ মার্চ ২০২৫", "३१ मार्च २०२५"],
)  # fmt: skip
def test_a_date_in_every_notation(text: str) -> None:
    assert Date(2025, 3, 31) in only(text).dates


def test_an_ambiguous_date_is_either() -> None:
    assert numeric_dates("03/04/2021") == {Date(2021, 4, 3), Date(2021, 3, 4)}
    assert numeric_dates("03.04.2021") == {Date(2021, 4, 3)}
    assert numeric_dates("13/04/21") == {Date(2021, 4, 13)}
    assert numeric_dates("40/40/2021") == frozenset()


def test_dates_agree_when_nothing_claimed_is_missing() -> None:
    told = Date(None, 3, 31)
    assert dates_agree(Date(None, 3, None), told, frozenset())
    assert dates_agree(Date(2025, 3, 31), told, frozenset({2025}))
    assert not dates_agree(Date(2025, 3, 31), told, frozenset())
    assert not dates_agree(Date(2025, 3, 31), Date(2024, 3, 31), frozenset({2025}))
    assert not dates_agree(Date(None, 3, 31), Date(2024, 3, None), frozenset())


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("17:00", 1020), ("5 pm", 1020), ("5 p.m.", 1020), ("5.30 pm", 1050), ("12 am", 0), ("noon", 720), ("17 Uhr", 1020),
     ("17h30", 1050), ("下午5点", 1020), ("٩ صباحًا", 540), ("12:30 pm", 750)],
)  # fmt: skip
def test_times(text: str, minutes: int) -> None:
    assert only(text).minutes == minutes


def test_no_time_is_read_where_none_is() -> None:
    assert clock_time("17", 0) is None
    assert clock_time("25:00", 0) is None
    assert clock_time("17:75", 0) is None


def test_both_ends_of_a_range_have_its_unit_and_magnitude() -> None:
    first, second = quantities("3 to 4 million euros").found
    assert Fraction(3_000_000) in first.values
    assert first.units == second.units != ()
    first, second = quantities("von 22 bis 6 Uhr").found
    assert (first.minutes, second.minutes) == (1320, 360)


@pytest.mark.parametrize(
    ("text", "written"),
    [("room B-2.14", "B-2.14"), ("INC-2291", "INC-2291"), ("the X200 router", "X200"), ("sample 7b", "7b"), ("10.0.0.1", "10.0.0.1")],
)  # fmt: skip
def test_identifiers_are_kept_as_written(text: str, written: str) -> None:
    found = only(text)
    assert (found.kind, found.written) == (Kind.IDENTIFIER, written)


def test_versions_are_marked() -> None:
    assert only("Version 2.10").version
    assert only("see section 3.1").version
    assert only("for Python 3.8").version
    assert only("v2.1").version
    assert not only("costs 2.10 euros").version


@pytest.mark.parametrize(
    "text",
    ["one of them", "an apple", "the first time", "may be returned", "in the march", "an", ""],
)
def test_ordinary_words_are_no_numbers(text: str) -> None:
    assert not [one for one in quantities(text).found if not one.weak]


def test_words_and_han_numerals() -> None:
    assert spoken_number(["twenty", "one", "days"]) == (21, 2)
    assert spoken_number(["two", "three"]) == (2, 1)
    assert word_value("einhundertfünf") == 105
    assert han_value("一百二十") == 120
    assert han_value("二〇二四") == 2024
    assert han_value("十") == 10


@given(st.integers(0, 10**12))
def test_grouping_never_changes_a_value(value: int) -> None:
    for written in (
        f"{value}",
        f"{value:,}",
        f"{value:,}".replace(",", " "),
        f"{value:,}".replace(",", "'"),
    ):
        assert digit_values(written) == {Fraction(value)}
    if value >= 1000:
        assert Fraction(value) in digit_values(f"{value:,}".replace(",", "."))


@given(st.text(max_size=120))
def test_any_text_is_read_and_offsets_are_right(text: str) -> None:
    read = quantities(text)
    assert read.text == plain_spelling(text)
    starts = [one.start for one in read.found]
    assert starts == sorted(starts)
    assert all(0 <= one.start < one.end <= len(read.text) for one in read.found)


def test_huge_numbers_cost_nothing() -> None:
    started = time.perf_counter()
    for text in (
        "9" * 100_000,
        "1e999999999",
        "1," * 50_000,
        "10^99999",
        "thousand " * 10_000,
        "-" * 50_000,
        "1 " * 20_000,
        "1 000 " * 20_000,
    ):
        quantities(text)
    assert time.perf_counter() - started < 6
