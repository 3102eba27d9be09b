"""A rebuild compared with the index on the golden set, before it answers."""

from __future__ import annotations

import numpy as np

from evidencedesk.cli.call import Call
from evidencedesk.cli.evaluate import SEED, golden_of, measured
from evidencedesk.cli.figures import print_comparison
from evidencedesk.desk import Desk
from evidencedesk.evaluation.comparing import Comparison, compare_runs
from evidencedesk.evaluation.run import Measuring
from evidencedesk.evaluation.storage import RunStore
from evidencedesk.wiring import SystemClock


class GoldenJudge:
    """Judges a rebuild by the golden set of the settings.

    Attributes:
        comparison: what it found; None before it was asked.
    """

    def __init__(self, call: Call, desk: Desk) -> None:
        self._call = call
        self._desk = desk
        self.comparison: Comparison | None = None

    def approves(self, rebuilt: Desk) -> bool:
        """Whether nothing that decides is shown to be worse, and nothing leaks that did not."""
        golden = golden_of(self._call, None)
        measuring = Measuring(SystemClock(), RunStore.beside(self._call.index_path))
        before = measured(self._desk, golden, measuring, "before the rebuild")
        after = measured(rebuilt, golden, measuring, "rebuilt")
        [self.comparison] = compare_runs(before, [after], np.random.default_rng(SEED))
        if self.comparison.worse:
            self.show()
        return not self.comparison.worse

    def show(self) -> None:
        """Print what was found, for a person."""
        if self.comparison is not None and not self._call.as_json:
            print_comparison(self._call.terminal, self.comparison)
