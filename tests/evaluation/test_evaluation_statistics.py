"""Intervals cover the truth and the paired test errs as often as it says, in simulations."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.evaluation.intervals import mean_of, quantile_of
from evidencedesk.evaluation.paired import difference_of, holm, permutation_p

Draw = Callable[[np.random.Generator, float], np.ndarray]
SIZE = 60

POPULATIONS: dict[str, tuple[Draw, Callable[[float], float]]] = {
    "right or wrong": (lambda r, p: (r.random(SIZE) < p) * 1.0, lambda p: p),
    "ranks": (lambda r, p: (r.random(SIZE) < p) / r.integers(1, 5, SIZE), lambda p: p * 25 / 48),
    "gains": (lambda r, p: r.beta(4 * p, 4 - 4 * p, SIZE), lambda p: p),
}


@pytest.mark.parametrize("name", POPULATIONS)
def test_an_interval_holds_the_truth_93_to_97_times_in_a_hundred(name: str) -> None:
    draw, truth = POPULATIONS[name]
    random = np.random.default_rng(20)
    trials = 1000
    held = 0
    for _ in range(trials):
        quality = random.uniform(0.5, 0.95)
        found = mean_of(draw(random, quality).tolist(), random)
        held += found.low <= truth(quality) <= found.high
    assert 0.93 <= held / trials <= 0.97


@pytest.mark.parametrize("size", [10, 40])
def test_the_paired_test_errs_as_often_as_its_level(size: int) -> None:
    random = np.random.default_rng(7)
    trials = 250
    p_values = np.array(
        [
            permutation_p(random.normal(size=size) * random.random(size), random)
            for _ in range(trials)
        ]
    )
    for level in (0.05, 0.2):
        margin = 3 * math.sqrt(level * (1 - level) / trials)
        assert abs(np.mean(p_values <= level) - level) <= margin


def test_the_paired_test_sees_a_real_difference() -> None:
    random = np.random.default_rng(3)
    before = random.random(60)
    found = difference_of("m", before.tolist(), (before + 0.1).tolist(), random)
    assert found.p_value < 0.001
    assert found.change == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1)


def test_holm_keeps_the_family_error() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([]) == ()
    assert max(holm([0.9, 0.8])) == 1.0


def test_a_perfect_score_is_not_certain() -> None:
    random = np.random.default_rng(0)
    perfect = mean_of([1.0] * 20, random)
    assert (perfect.value, perfect.high) == (1.0, 1.0)
    assert perfect.low == pytest.approx(0.025 ** (1 / 20))
    assert mean_of([1.0], random).low == pytest.approx(0.025)
    assert mean_of([0.0], random).high == pytest.approx(0.975)


def test_what_is_not_scored_is_counted_and_never_averaged() -> None:
    random = np.random.default_rng(0)
    found = mean_of([1.0, None, math.nan, 0.0, math.inf], random)
    assert (found.value, found.scored, found.not_scored) == (0.5, 2, 3)
    nothing = mean_of([None, math.nan], random)
    assert (nothing.value, nothing.low, nothing.scored, nothing.not_scored) == (None, None, 0, 2)
    assert quantile_of([None], 0.5, random).value is None
    assert difference_of("m", [None, 1.0], [1.0, math.nan], random).p_value == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_an_interval_holds_its_value_and_stays_within_a_share(values: list[float]) -> None:
    found = mean_of(values, np.random.default_rng(1))
    assert 0 <= found.low <= found.value <= found.high <= 1 + 1e-12


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12))
def test_a_permutation_p_value_does_not_depend_on_the_direction(changes: list[float]) -> None:
    random = np.random.default_rng(1)
    there = permutation_p(np.array(changes), random)
    assert there == pytest.approx(permutation_p(-np.array(changes), random))
    assert 0 < there <= 1


def test_a_median_lies_in_its_interval() -> None:
    found = quantile_of([1.0, 2.0, 3.0, 4.0, 100.0], 0.5, np.random.default_rng(2))
    assert found.value == 3.0
    assert found.low <= 3.0 <= found.high
