"""Runs: kept, taken up again, compared, gated and reported."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencedesk.errors import GoldenSetError, SettingsError, UsageError
from evidencedesk.evaluation.comparing import compare_runs
from evidencedesk.evaluation.gate import judge, junit, markdown
from evidencedesk.evaluation.golden import Label
from evidencedesk.evaluation.outcomes import Conditions, Outcome, Run, Shown
from evidencedesk.evaluation.paired import NO_DIFFERENCE
from evidencedesk.evaluation.reports import html_report, markdown_report, worst
from evidencedesk.evaluation.storage import RunStore
from evidencedesk.evaluation.summary import summarise
from evidencedesk.evaluation.varying import variations
from evidencedesk.settings import Settings
from evidencedesk.settings.evaluating import GateTable

NOTHING = GateTable(
    min_fact_coverage=None,
    max_wrong_shown=None,
    min_abstention_recall=None,
    min_quote_validity=None,
    min_citation_recall=None,
    min_hit_place=None,
)


def outcome(number: int, **values: object) -> Outcome:
    base = Outcome(
        id=f"q{number}",
        question=f"Question {number}?",
        label=Label.ANSWERABLE,
        tags=("t",),
        scores={"fact_coverage": 1.0, "wrong_shown": 0.0, "answered": 1.0, "leaked": 0.0},
        abstained=False,
        confidence=0.9,
        shown=(Shown("d", "D, line 1", "quote"),),
        timing_ms={"total": float(number)},
    )
    return replace(base, **values)


def run(outcomes: list[Outcome], name: str = "r", **conditions: object) -> Run:
    return Run(
        name, "2026-01-01T00:00:00+00:00", Conditions("g", "d", **conditions), tuple(outcomes)
    )


GOOD = [outcome(n) for n in range(30)]
BAD = [
    outcome(n, scores={"fact_coverage": 0.0, "wrong_shown": 1.0, "answered": 1.0, "leaked": 0.0})
    for n in range(30)
]


def compared(before: Run, after: Run):
    [found] = compare_runs(before, [after], np.random.default_rng(0))
    return found


def conclusions(found) -> dict[str, str]:
    return {one.metric: one.conclusion for one in found.differences}


def test_a_run_reads_back_as_it_was_kept(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs")
    kept = store.finish("k" * 20, run(GOOD, "20260101-x"))
    assert store.load("20260101-x") == kept == store.load("last")
    assert store.load(str(tmp_path / "runs" / "20260101-x.json")) == kept
    again = store.finish("k" * 20, run(GOOD, "20260101-x"))
    assert again.id == "20260101-x-2"
    assert store.ids() == ("20260101-x", "20260101-x-2")


def test_runs_are_for_their_owner_only(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs")
    store.note("k" * 20, GOOD[0])
    store.finish("other" * 4, run(GOOD, "r"))
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "runs").iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "runs").stat().st_mode) == 0o700


@given(cut=st.integers(0, 60))
def test_an_interrupted_journal_gives_back_what_was_whole(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    store = RunStore(folder)
    store.note("k" * 20, GOOD[0])
    store.note("k" * 20, GOOD[1])
    [journal] = folder.iterdir()
    journal.write_bytes(journal.read_bytes()[: -cut or None])
    found = store.unfinished("k" * 20)
    assert found["q0"] == GOOD[0]
    assert ("q1" in found) == (cut <= 1)
    store.note("k" * 20, GOOD[2])
    assert store.unfinished("k" * 20)["q2"] == GOOD[2]
    assert store.unfinished("other" * 4) == {}


def test_runs_that_are_not_there(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    with pytest.raises(UsageError) as missing:
        store.load("last")
    assert missing.value.code == "run_missing"
    (tmp_path / "bad.json").write_text("{}", "utf-8")
    with pytest.raises(UsageError) as bad:
        store.load("bad")
    assert bad.value.code == "run_unreadable"


def test_a_run_against_itself_shows_no_difference() -> None:
    found = compared(run(GOOD), run(GOOD))
    assert set(conclusions(found).values()) == {NO_DIFFERENCE}
    assert not found.changed
    assert not found.worse


def test_a_worse_run_is_called_worse_and_its_questions_are_named() -> None:
    found = compared(run(GOOD), run(BAD, settings={"retrieval.k": 1}))
    assert conclusions(found)["fact_coverage"] == "worse"
    assert conclusions(found)["wrong_shown"] == "worse"
    assert found.worse
    assert len(found.changed) == 60
    assert found.settings == {"retrieval.k": (None, 1)}
    better = compared(run(BAD), run(GOOD))
    assert conclusions(better)["wrong_shown"] == "better"
    assert not better.worse


def test_one_question_shows_nothing_and_says_so() -> None:
    found = compared(run(GOOD[:1]), run(BAD[:1]))
    assert set(conclusions(found).values()) == {NO_DIFFERENCE}
    assert not found.worse
    assert "1 questions can show only large differences" in found.warnings


def test_a_single_new_leak_is_worse() -> None:
    leaking = [replace(GOOD[0], leaked=("x",), scores={**GOOD[0].scores, "leaked": 1.0})]
    assert compared(run(GOOD), run(leaking + GOOD[1:])).worse


def test_runs_without_a_common_question_are_not_compared() -> None:
    with pytest.raises(GoldenSetError, match="share no question"):
        compared(run(GOOD[:1]), run(GOOD[1:2]))


def test_comparing_many_settings_keeps_the_error_of_the_family() -> None:
    random = np.random.default_rng(11)
    false_alarms = 0
    for _ in range(60):
        noisy = [
            run(
                [
                    outcome(n, scores={"fact_coverage": float(random.random() < 0.5)})
                    for n in range(25)
                ]
            )
            for _ in range(4)
        ]
        found = compare_runs(noisy[0], noisy[1:], random)
        false_alarms += any(one.worse or "better" in conclusions(one).values() for one in found)
    assert false_alarms / 60 <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5


def test_variations() -> None:
    one_at_a_time = variations(Settings(), ["retrieval.k=3,8,5", "retrieval.threshold=0.4"])
    assert [name for name, _ in one_at_a_time] == [
        "retrieval.k=3",
        "retrieval.k=5",
        "retrieval.threshold=0.4",
    ]
    grid = variations(Settings(), ["retrieval.k=3,5", "retrieval.languages=en+de"], grid=True)
    assert len(grid) == 2
    assert grid[0][1].retrieval.languages == ("en", "de")
    [(_, chosen)] = variations(Settings(), ["chunking.strategy=fixed"])
    assert chosen.chunking.strategy == "fixed"


@pytest.mark.parametrize(
    ("vary", "code"),
    [
        ("retrieval.q=3", "bad_vary"),
        ("retrieval.k", "bad_vary"),
        ("retrieval.k=8", "bad_vary"),
        ("retrieval.k=many", "bad_setting"),
        ("retrieval.k=0", "bad_setting"),
    ],
)
def test_variations_that_make_no_sense(vary: str, code: str) -> None:
    with pytest.raises((UsageError, SettingsError)) as caught:
        variations(Settings(), [vary])
    assert caught.value.code == code


def gated(outcomes: list[Outcome], thresholds: GateTable = NOTHING, stale: int = 0):
    made = replace(run(outcomes), stale=tuple((f"s{n}", "gone") for n in range(stale)))
    return made, judge(made, summarise(made, np.random.default_rng(0)), thresholds)


def test_a_leak_shuts_the_gate_whatever_else() -> None:
    assert gated(GOOD)[1].passed
    made, result = gated([replace(GOOD[0], leaked=("secret",)), *GOOD[1:]])
    assert not result.passed
    assert "**failed** 1" in markdown(result)
    suite = ET.fromstring(junit(made, result))
    assert suite.get("failures") == "2"
    messages = [case.get("message") for case in suite.iter("failure")]
    assert any("secret" in str(message) for message in messages)


def test_errors_stale_rows_and_thresholds_shut_it() -> None:
    assert not gated([replace(GOOD[0], error="question_too_long")])[1].passed
    assert not gated(GOOD, stale=1)[1].passed
    assert gated(GOOD, NOTHING.model_copy(update={"max_stale": 1}), stale=1)[1].passed
    assert gated(GOOD, NOTHING.model_copy(update={"min_fact_coverage": 1.0}))[1].passed
    assert not gated(BAD, NOTHING.model_copy(update={"max_wrong_shown": 0.5}))[1].passed
    assert not gated(GOOD, NOTHING.model_copy(update={"max_p95_ms": 5.0}))[1].passed


def test_what_was_not_scored_does_not_pass_unless_nothing_is_asked() -> None:
    _, result = gated(GOOD, NOTHING.model_copy(update={"min_ndcg_at_10": 0.5}))
    assert not result.passed
    assert "not scored" in markdown(result)
    assert gated(GOOD, NOTHING.model_copy(update={"min_ndcg_at_10": 0.0}))[1].passed


def test_all_abstained_is_reported_and_not_divided_by() -> None:
    silent = [
        outcome(n, abstained=True, scores={"answered": 0.0, "fact_coverage": 0.0, "leaked": 0.0})
        for n in range(5)
    ]
    made = run(silent)
    summary = summarise(made, np.random.default_rng(0))
    assert "wrong_shown" not in summary.metrics
    assert summary.metrics["answered"].value == 0.0
    assert "<svg" in html_report(made, summary)


def test_reports_escape_what_documents_say() -> None:
    evil = "<script>alert(1)</script> | `x`\x00"
    bad = replace(BAD[0], question=evil, text=evil, id=evil, shown=(Shown(evil, evil, evil),))
    made = replace(run([bad, *GOOD[1:]]), stale=((evil, evil),))
    made = replace(made, conditions=replace(made.conditions, golden_set=evil))
    summary = summarise(made, np.random.default_rng(0))
    page = html_report(made, summary)
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "<script" not in markdown_report(made, summary).replace("\\<script", "")
    ET.fromstring(junit(made, gated([bad])[1]))


def test_the_gravest_come_first() -> None:
    missing = outcome(1, abstained=True, scores={"answered": 0.0})
    leak = outcome(2, leaked=("x",))
    found = worst(run([GOOD[0], missing, BAD[3], leak]))
    assert [one.id for one in found] == ["q2", "q3", "q1"]


def test_a_summary_is_json() -> None:
    summary = summarise(run([*GOOD, outcome(40, lang="de", tags=("u",))]), np.random.default_rng(0))
    value = json.loads(json.dumps(summary.to_json(), allow_nan=False))
    assert set(value["by_lang"]) == {"und", "de"}
    assert value["by_tag"]["t"]["fact_coverage"]["scored"] == 30
    assert value["latency_ms"]["p50"]["value"] == 15.0
