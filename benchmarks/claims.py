"""How well the rules tell supported claims from unsupported ones, beside simpler checks.

``python -m benchmarks.claims ../shared/data/claims`` reads every ``*.jsonl`` in the folder: one claim
a line with ``claim``, ``source`` and ``label`` (``supported`` or ``unsupported``). Printed per set:

* balanced accuracy of each check at its own fixed setting;
* the operating point: the highest graded score that can be asked for while at most 15 % of the
  supported claims are rejected, and the share of the unsupported ones that it catches.

Figures with a threshold chosen on the same claims are optimistic; the fixed settings are not.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidencedesk.text.folding import fold_text
from evidencedesk.text.numbers import quantities
from evidencedesk.verification import Band, Passage, check_claim
from evidencedesk.verification.amounts import Present, missing_amounts
from evidencedesk.verification.content import coverage
from evidencedesk.verification.names import missing_names

MOST_WRONGLY_REJECTED = 0.15

_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|did|does|do|will|can|could|may|must|won|made|took|sold|became|began"
    r"|wrote|[a-z]+ed|[a-z]{3,}s)\b"
)


@dataclass(frozen=True)
class LabelledClaim:
    """A claim, the text it should be drawn from, and whether it is."""

    claim: str
    source: str
    supported: bool
    kind: str


def read(path: Path) -> list[LabelledClaim]:
    """The claims of one file."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [
        LabelledClaim(
            row["claim"], row["source"], row["label"] == "supported", str(row.get("kind", ""))
        )
        for row in rows
    ]


def shown_score(row: LabelledClaim) -> float:
    """1 when no rule contradicts the claim: what the product shows with ``require = "quoted"``."""
    return float(
        check_claim(row.claim, [Passage(row.source, lang="en")]).band is not Band.CONTRADICTED
    )


def graded_score(row: LabelledClaim) -> float:
    """1 less what speaks against the claim: rules and names that fired, words that are not there.

    These sets cite single sentences without their page's title, so the name that a sentence is about
    is often a pronoun in it: a name missing before the verb counts less than one behind it. Weights
    were chosen on these sets.
    """
    finding = check_claim(row.claim, [Passage(row.source, lang="en")])
    fired = any(not outcome.passed for outcome in finding.outcomes if outcome.check != "names")
    verb = _VERB.search(row.claim)
    start = verb.start() if verb else 0
    missing = [name.start > start for name in missing_names(row.claim, row.source, "en")]
    uncovered = 1 - coverage(row.claim[start:], row.source, "en")
    return 1 - 0.5 * fired - 0.5 * (True in missing) - 0.2 * (False in missing) - 0.2 * uncovered


def verbatim_score(row: LabelledClaim) -> float:
    """1 when the folded claim is part of the folded source."""
    return float(fold_text(row.claim).strip(" .") in fold_text(row.source))


def coverage_score(row: LabelledClaim) -> float:
    """Share of the claim's words that stand in the source."""
    return coverage(row.claim, row.source, "en")


def numbers_score(row: LabelledClaim) -> float:
    """1 when every number of the claim stands in the source."""
    return float(not missing_amounts(quantities(row.claim), Present([Passage(row.source)])))


CHECKS: tuple[tuple[str, Callable[[LabelledClaim], float], float], ...] = (
    ("rules, as shown (quoted)", shown_score, 0.5),
    ("rules, graded at 0.6", graded_score, 0.6),
    ("verbatim containment", verbatim_score, 0.5),
    ("token coverage 0.8", coverage_score, 0.8),
    ("numbers only", numbers_score, 0.5),
)


def rates(
    rows: Sequence[LabelledClaim], scores: Sequence[float], threshold: float
) -> tuple[float, float]:
    """Share of supported claims rejected, share of unsupported claims caught."""
    wrong = [score < threshold for row, score in zip(rows, scores, strict=True) if row.supported]
    caught = [
        score < threshold for row, score in zip(rows, scores, strict=True) if not row.supported
    ]
    return sum(wrong) / len(wrong), sum(caught) / len(caught)


def operating_point(
    rows: Sequence[LabelledClaim], scores: Sequence[float]
) -> tuple[float, float, float]:
    """The highest threshold within the bar: threshold, share wrongly rejected, share caught."""
    best = (0.0, *rates(rows, scores, 0.0))
    for threshold in sorted({*scores, 1.01}):
        wrong, caught = rates(rows, scores, threshold)
        if wrong <= MOST_WRONGLY_REJECTED:
            best = (threshold, wrong, caught)
    return best


def report(name: str, rows: Sequence[LabelledClaim]) -> float:
    """Print one set's figures; the share of unsupported claims caught at the operating point."""
    supported = sum(row.supported for row in rows)
    print(f"\n{name}: {len(rows)} claims, {supported} supported")
    for label, check, threshold in CHECKS:
        started = time.perf_counter()
        scores = [check(row) for row in rows]
        spent = (time.perf_counter() - started) / len(rows) * 1000
        wrong, caught = rates(rows, scores, threshold)
        balanced = (1 - wrong + caught) / 2
        print(
            f"  {label:26} balanced accuracy {balanced:.3f}   supported rejected {wrong:.3f}"
            f"   unsupported caught {caught:.3f}   {spent:.2f} ms a claim"
        )
    scores = [graded_score(row) for row in rows]
    threshold, wrong, caught = operating_point(rows, scores)
    print(
        f"  operating point: graded score {threshold:.2f} rejects {wrong:.3f} supported, catches {caught:.3f} unsupported"
    )
    return caught


def main() -> None:
    """Read the folder given and print the figures of every set in it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder of *.jsonl files")
    folder = parser.parse_args().folder
    caught = [report(path.stem, read(path)) for path in sorted(folder.glob("*.jsonl"))]
    if not caught:
        parser.error(f"no *.jsonl files in {str(folder)!r}")
    print(
        f"\nunsupported claims caught at the operating points, mean of the sets: {sum(caught) / len(caught):.3f}"
    )


if __name__ == "__main__":
    main()
