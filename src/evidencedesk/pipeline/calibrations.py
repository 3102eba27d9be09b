"""Calibrations as a file: what ``calibrate`` writes and retrieval reads."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evidencedesk.errors import SettingsError
from evidencedesk.retrieval import SHIPPED, Calibration, Calibrations, Signals

MODES = ("tokens", "stored", "cosine", "keywords")


def calibrations_to_json(calibrations: Calibrations) -> dict[str, Any]:
    """The JSON shape that :func:`read_calibrations` reads."""
    return {mode: asdict(getattr(calibrations, mode)) for mode in MODES}


def read_calibrations(path: Path) -> Calibrations:
    """The calibrations in a file; a way of looking at sentences that it leaves out is the shipped one.

    Raises:
        SettingsError: ``calibration_missing`` or ``calibration_unreadable``.
    """
    try:
        content = json.loads(path.read_text("utf-8"))["calibrations"]
        found = {mode: _calibration(content[mode]) for mode in MODES if mode in content}
    except FileNotFoundError:
        raise SettingsError(
            f"There is no calibration {str(path)!r}.",
            code="calibration_missing",
            hint="Correct [retrieval] calibration, or make one with `evidencedesk calibrate`.",
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"{path} is no calibration: {error!r}.",
            code="calibration_unreadable",
            hint="Make it anew with `evidencedesk calibrate`.",
        ) from error
    shipped = {mode: getattr(SHIPPED, mode) for mode in MODES}
    return Calibrations(**(shipped | found))


def _calibration(value: dict[str, Any]) -> Calibration:
    slopes = Signals(**{name: float(slope) for name, slope in value["slopes"].items()})
    return Calibration(str(value["name"]), float(value["intercept"]), slopes)
