"""A fitted confidence means what it says, and a certified threshold keeps its promise."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.errors import GoldenSetError, SettingsError
from evidencedesk.evaluation.calibrating import fit_calibration, platt
from evidencedesk.evaluation.certifying import binomial_tail, certified_threshold, upper_bound
from evidencedesk.evaluation.curves import (
    Scored,
    area_under,
    auroc,
    calibration_error,
    reliability,
    risk_coverage,
)
from evidencedesk.evaluation.reliability import calibration_page
from evidencedesk.pipeline.calibrations import calibrations_to_json, read_calibrations
from evidencedesk.retrieval import SHIPPED, Signals


def draw(random: np.random.Generator, size: int, shift: float = 0.0) -> list[Scored]:
    """Answers whose confidence is off by ``shift`` in the log odds."""
    logits = random.normal(1.0, 2.0, size)
    right = random.random(size) < 1 / (1 + np.exp(-logits))
    told = 1 / (1 + np.exp(-(logits - shift)))
    return [Scored(float(p), bool(r)) for p, r in zip(told, right, strict=True)]


def fitted(answers: list[Scored], **values: float):
    return fit_calibration(
        answers,
        used=SHIPPED.tokens,
        questions=len(answers),
        name="test",
        random=np.random.default_rng(0),
        **values,
    )


def true_risk(threshold: float) -> float:
    """Share of wrong among shown in the population that ``draw`` draws from."""
    logits = np.random.default_rng(99).normal(1.0, 2.0, 200_000)
    confidence = 1 / (1 + np.exp(-logits))
    shown = confidence >= threshold
    return float(np.mean(1 - confidence[shown])) if shown.any() else 0.0


def test_the_promise_is_kept_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    kept, found, trials = 0, 0, 200
    for _ in range(trials):
        threshold = certified_threshold(draw(random, 500), target=0.1, level=0.9)
        found += threshold.found
        kept += not threshold.found or true_risk(threshold.value) <= 0.1
    assert kept / trials >= 0.9 - 3 * math.sqrt(0.09 / trials)
    assert found / trials > 0.5


def test_a_lower_target_shows_less() -> None:
    answers = draw(np.random.default_rng(1), 1500)
    shown = [certified_threshold(answers, target, 0.9).shown for target in (0.08, 0.1, 0.2, 0.3)]
    assert shown == sorted(shown)
    assert shown[-1] > shown[0] > 0


def test_no_threshold_is_found_where_there_is_none() -> None:
    wrong = [Scored(n / 100, right=n % 2 == 0) for n in range(100)]
    found = certified_threshold(wrong, 0.05, 0.9)
    assert not found.found
    assert found.value > 1


def test_equal_confidences_are_shown_together() -> None:
    answers = [Scored(0.9, right=True)] * 50 + [Scored(0.9, right=False)] * 20
    assert certified_threshold(answers, 0.1, 0.9).shown == 0
    assert certified_threshold(answers, 0.5, 0.9).shown == 70


def test_platt_finds_the_line_again() -> None:
    answers = draw(np.random.default_rng(2), 4000, shift=1.5)
    fit = fitted(answers)
    assert fit.line.slope == pytest.approx(1.0, abs=0.1)
    assert fit.line.intercept == pytest.approx(1.5, abs=0.2)
    assert calibration_error(fit.answers) < 0.03 < calibration_error(fit.before)


def test_platt_stays_finite_where_right_and_wrong_are_parted() -> None:
    line = platt(np.array([-1.0] * 15 + [1.0] * 15), np.array([0.0] * 15 + [1.0] * 15))
    assert 0 < line.slope < 10


def test_the_stored_calibration_gives_the_fitted_probability(tmp_path: Path) -> None:
    fit = fitted(draw(np.random.default_rng(3), 300, shift=1.0))
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps({"calibrations": calibrations_to_json(fit.calibrations)}), "utf-8")
    stored = read_calibrations(path)
    assert stored == fit.calibrations
    assert (stored.cosine, stored.keywords) == (SHIPPED.cosine, SHIPPED.keywords)
    signals = Signals(max_similarity=0.7, cosine=0.5, coverage=0.6)
    wanted = fit.line.of(SHIPPED.tokens.confidence(signals))
    assert stored.tokens.confidence(signals) == pytest.approx(wanted, abs=1e-5)
    assert stored.tokens.name == "tokens-test"


def test_calibrations_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as missing:
        read_calibrations(tmp_path / "none.json")
    assert missing.value.code == "calibration_missing"
    (tmp_path / "bad.json").write_text('{"calibrations": {"tokens": {}}}', "utf-8")
    with pytest.raises(SettingsError) as bad:
        read_calibrations(tmp_path / "bad.json")
    assert bad.value.code == "calibration_unreadable"


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([Scored(0.5, right=True)] * 5, "golden_too_few"),
        ([Scored(0.5, right=True)] * 30, "golden_one_kind"),
        ([Scored(math.nan, right=True)] * 30, "golden_too_few"),
        (
            [Scored(0.9, right=False)] * 20 + [Scored(0.1, right=True)] * 20,
            "golden_no_signal",
        ),
    ],
)
def test_what_cannot_be_fitted_says_why(answers: list[Scored], code: str) -> None:
    with pytest.raises(GoldenSetError) as caught:
        fitted(answers)
    assert caught.value.code == code


@given(st.integers(1, 60), st.floats(0.01, 0.99))
def test_the_binomial_tail_is_a_distribution(shown: int, rate: float) -> None:
    tails = [binomial_tail(k, shown, rate) for k in range(shown + 1)]
    assert tails == sorted(tails)
    assert tails[-1] == 1.0
    assert tails[0] == pytest.approx((1 - rate) ** shown)


def test_the_upper_bound_is_clopper_and_pearsons() -> None:
    assert upper_bound(0, 30, 0.95) == pytest.approx(1 - 0.05 ** (1 / 30))
    assert upper_bound(30, 30, 0.95) == 1.0
    assert binomial_tail(3, 50, upper_bound(3, 50, 0.9)) == pytest.approx(0.1)


def test_curves() -> None:
    answers = [
        Scored(0.9, right=True),
        Scored(0.8, right=False),
        Scored(0.8, right=True),
        Scored(0.2, right=False),
    ]
    points = risk_coverage(answers, 8)
    assert points == [(0.125, 0.0), (0.375, 1 / 3), (0.5, 0.5)]
    assert area_under(points) == pytest.approx((0.25 / 3 + 0.125 * 0.5) / 0.5)
    assert auroc(answers) == pytest.approx(3.5 / 4)
    assert auroc(answers[:1]) is None
    assert [count for _, _, count in reliability(answers)] == [1, 2, 1]
    assert (area_under([]), calibration_error([])) == (0.0, 0.0)


def test_the_page_is_whole_and_safe() -> None:
    page = calibration_page(fitted(draw(np.random.default_rng(4), 100)), "<script>")
    assert page.count("<svg") == page.count("</svg>") == 2
    assert "<script>" not in page
