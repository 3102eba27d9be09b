"""Stage 4: a question and a reader become hits, ranked sentences and a confidence."""

from evidencedesk.retrieval.calibration import (
    DEFAULT_THRESHOLD,
    SHIPPED,
    Calibration,
    Calibrations,
    Signals,
)
from evidencedesk.retrieval.retrieve import retrieve

__all__ = ["DEFAULT_THRESHOLD", "SHIPPED", "Calibration", "Calibrations", "Signals", "retrieve"]
