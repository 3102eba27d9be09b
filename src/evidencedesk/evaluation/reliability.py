"""A calibration as a page: reliability before and after, risk against coverage, the threshold."""

from __future__ import annotations

from html import escape

from evidencedesk.evaluation.calibrating import CalibrationFit
from evidencedesk.evaluation.curves import area_under, reliability, risk_coverage
from evidencedesk.evaluation.plots import Axis, Curve, plot
from evidencedesk.evaluation.reports import page


def calibration_page(fit: CalibrationFit, name: str) -> str:
    """The plots with their figures; after means cross-validated, never fitted on itself."""
    figures = fit.to_json()
    limit = fit.threshold
    promise = (
        f"Threshold {limit.value:.6g}: {limit.shown} answers, {limit.wrong} wrong; with "
        f"{limit.level:.0%} confidence at most {limit.target:.0%} of answers are wrong."
        if limit.found
        else "No threshold keeps the share of wrong answers under the target on these questions."
    )
    before = [(mean, share) for mean, share, _ in reliability(fit.before)]
    after = [(mean, share) for mean, share, _ in reliability(fit.answers)]
    points = risk_coverage(fit.before, fit.questions)
    plots = [
        plot(
            "Reliability before and after",
            Axis("confidence"),
            Axis("share right"),
            [
                Curve("before", before, markers=True),
                Curve("after", after, markers=True),
                Curve("ideal", [(0, 0), (1, 1)], dashed=True),
            ],
        ),
        plot(
            f"Risk against coverage, area {area_under(points):.3f}",
            Axis("share of questions answered"),
            Axis("share wrong among answers"),
            [
                Curve("risk", points),
                Curve("target", [(0, limit.target), (1, limit.target)], dashed=True),
            ],
        ),
    ]
    error = (
        f"Expected calibration error {figures['calibration_error_before']:.3f} before, "
        f"{figures['calibration_error_after']:.3f} after."
    )
    body = (
        f"<h1>Calibration on {escape(name)}</h1><p>{fit.questions} questions, {len(fit.answers)} "
        f"answers. {escape(error)}</p><p>{escape(promise)}</p>"
        f'<div class="plots">{"".join(plots)}</div>'
    )
    return page(f"Calibration on {name}", body)
