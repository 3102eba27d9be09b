"""Settings of evaluation: rows of the one table (:mod:`evidencedesk.settings.table`)."""

from __future__ import annotations

from evidencedesk.settings.declaring import Table as _Table
from evidencedesk.settings.declaring import row as _row


class GateTable(_Table):
    """What `eval gate` requires; a least of 0 and a largest of 1 ask nothing. Leaks always fail it."""

    min_fact_coverage: float | None = _row(
        0.7, "Least share of expected facts shown.", unit="share", ge=0, le=1
    )
    max_wrong_shown: float | None = _row(
        0.1, "Largest share of wrong answers.", unit="share", ge=0, le=1
    )
    min_abstention_recall: float | None = _row(
        0.8, "Least share of unanswerable questions not answered.", unit="share", ge=0, le=1
    )
    min_quote_validity: float | None = _row(
        1.0, "Least share of quotes that stand at their place.", unit="share", ge=0, le=1
    )
    min_citation_recall: float | None = _row(
        0.95, "Least share of statements that their citations bear out.", unit="share", ge=0, le=1
    )
    min_citation_precision: float | None = _row(
        None,
        "Least share of citations that are needed or suffice.",
        unit="share",
        ge=0,
        le=1,
        sample=0.9,
    )
    min_hit_place: float | None = _row(
        0.9, "Least share of questions whose place was found.", unit="share", ge=0, le=1
    )
    min_recall_at_5: float | None = _row(
        None, "Least recall of documents among the first 5.", unit="share", ge=0, le=1, sample=0.9
    )
    min_ndcg_at_10: float | None = _row(
        None, "Least nDCG@10.", unit="share", ge=0, le=1, sample=0.9
    )
    max_p95_ms: float | None = _row(
        None, "Largest 95th percentile of the time per question.", unit="ms", gt=0, sample=500.0
    )
    max_stale: int = _row(0, "Most rows that may no longer fit the index.", unit="rows", ge=0)


class EvaluationTable(_Table):
    """Labelled questions, and what answers to them must be worth."""

    golden_set: str | None = _row(
        None,
        "YAML or JSON Lines, or a BEIR folder. `reindex` compares on it before it switches.",
        path=True,
        sample="golden.yaml",
    )
    gate: GateTable = GateTable()
