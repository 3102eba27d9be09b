"""``evidencedesk calibrate``."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.evaluate import SEED, GoldenPath, golden_of, measured
from evidencedesk.errors import UsageError
from evidencedesk.evaluation.calibrating import CalibrationFit, fit_calibration
from evidencedesk.evaluation.curves import scored
from evidencedesk.evaluation.outcomes import Run
from evidencedesk.evaluation.reliability import calibration_page
from evidencedesk.evaluation.run import Measuring
from evidencedesk.pipeline.calibrations import MODES, calibrations_to_json
from evidencedesk.wiring import SystemClock, calibrations_of

app = new_app()


@app.command(
    epilog=examples(
        "calibrate --golden golden.yaml --target 0.1 --confidence 0.9",
        "calibrate --out calibration.json --html calibration.html",
    )
)
@command()
def calibrate(
    call: Call,
    golden: GoldenPath = None,
    *,
    target: Annotated[
        float,
        typer.Option(help="Largest share of wrong answers among those shown.", min=0.001, max=0.9),
    ] = 0.1,
    confidence: Annotated[
        float, typer.Option(help="How sure of that to be.", min=0.5, max=0.999)
    ] = 0.9,
    out: Annotated[Path, typer.Option(help="Where to write it.", metavar="FILE")] = Path(
        "calibration.json"
    ),
    html: Annotated[
        Path | None, typer.Option(help="Write the plots as HTML.", metavar="FILE")
    ] = None,
) -> None:
    """Fit confidence on labelled questions, and find the threshold that keeps wrong answers rare.

    Every question is answered without a threshold and judged. The guarantee holds for questions
    that come as the labelled ones did.
    """
    questions = golden_of(call, golden)
    with call.open() as desk, call.terminal.progress() as progress:
        made = measured(
            desk,
            questions,
            Measuring(SystemClock(), threshold=0.0, progress=progress),
            "calibration",
        )
    fit = _fitted(call, made, target, confidence)
    written = _content(made, fit)
    out.write_text(json.dumps(written, indent=2) + "\n", "utf-8")
    if html:
        html.write_text(calibration_page(fit, questions.name), "utf-8")
    if call.as_json:
        call.terminal.json(written)
        return
    _print(call, fit, out)


def _fitted(call: Call, run: Run, target: float, confidence: float) -> CalibrationFit:
    counts = Counter(one.calibration for one in run.outcomes if one.calibration)
    if not counts:
        raise UsageError(
            "No question was answered, so there is nothing to calibrate on.",
            code="golden_too_few",
            hint="A set for calibration judges answers, not only what is found.",
        )
    name = counts.most_common(1)[0][0]
    in_force = calibrations_of(call.settings)
    used = next(each for mode in MODES if (each := getattr(in_force, mode)).name == name)
    kept = [one for one in run.outcomes if one.calibration == name]
    words = re.sub(r"\W+", "-", run.conditions.golden_set.casefold()).strip("-")
    return fit_calibration(
        scored(kept),
        used=used,
        questions=len(kept),
        name=f"{words}-{run.started_at[:10]}",
        target=target,
        level=confidence,
        random=np.random.default_rng(SEED),
    )


def _content(run: Run, fit: CalibrationFit) -> dict[str, Any]:
    return {
        "calibrations": calibrations_to_json(fit.calibrations),
        "made": {
            "at": run.started_at,
            "golden_set": run.conditions.golden_set,
            "golden_digest": run.conditions.golden_digest,
            "index": run.conditions.index,
            "embedding": run.conditions.embedding,
            "version": run.conditions.version,
        },
        "fit": fit.to_json(),
    }


def _print(call: Call, fit: CalibrationFit, out: Path) -> None:
    figures = fit.to_json()
    names = (
        "questions",
        "answers",
        "right",
        "auroc",
        "calibration_error_before",
        "calibration_error_after",
        "risk_coverage_area",
    )
    call.terminal.table(("", "value"), ((name, figures[name]) for name in names))
    limit = fit.threshold
    call.terminal.line("")
    if not limit.found:
        call.terminal.line(
            ("No threshold keeps that promise", "yellow"),
            f": {limit.target:.0%} wrong at most, with {limit.level:.0%} confidence, cannot be shown "
            "on these questions. Label more, or accept a larger share.",
        )
        return
    call.terminal.line(
        f"At the threshold {limit.value:.6g} {limit.shown} of {fit.questions} questions are "
        f"answered, {limit.wrong} wrongly. With {limit.level:.0%} confidence at most "
        f"{limit.target:.0%} of future answers like these are wrong."
    )
    call.terminal.line("Put into the settings:")
    call.terminal.line(f'[retrieval]\ncalibration = "{out}"\nthreshold = {limit.value:.6f}')
