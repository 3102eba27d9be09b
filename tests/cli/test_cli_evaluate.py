"""The evaluation commands, typed as a person and as a program would."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from command_line import Cli

GOLDEN = """corpus: shop
questions:
  - {id: a, question: "How long can I return a new bike?", roles: [everyone], document: returns, quote: within 30 days of delivery, tags: [returns]}
  - {id: b, question: "Can opened helmets be returned?", roles: [everyone], document: returns, quote: Opened helmets cannot be returned}
  - {id: c, question: "What is the capital of Mongolia?", roles: [everyone], abstain: no_evidence}
  - {id: d, question: "Who approves a refund above 500 euros?", roles: [everyone], hidden: staff-refunds}
  - {id: e, question: "Who approves a refund above 500 euros?", roles: [staff], document: staff-refunds, quote: approval of the shop manager}
"""


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.yaml"
    path.write_text(GOLDEN, "utf-8")
    return path


def test_run_has_every_metric_with_its_interval_and_a_row_per_question(
    ready: Cli, golden: Path
) -> None:
    ran = ready("eval", "run", "--golden", golden, "--json")
    assert ran.code == 0
    value = ran.json
    assert [row["id"] for row in value["run"]["questions"]] == list("abcde")
    assert value["summary"]["leaks"] == 0
    metric = value["summary"]["metrics"]["fact_coverage"]
    assert set(metric) == {"value", "low", "high", "scored", "not_scored"}
    assert metric["scored"] == 3
    conditions = value["run"]["conditions"]
    assert conditions["settings"]["retrieval.k"] == 8
    assert conditions["index"].startswith("sha256:")
    again = ready("eval", "report", "last", "--json").json
    assert again["run"] == value["run"]


def test_run_for_people_and_reports(ready: Cli, golden: Path, tmp_path: Path) -> None:
    ran = ready("eval", "run", "--golden", golden, "--html", tmp_path / "r.html")
    assert "quote_validity" in ran.out
    assert "<svg" in (tmp_path / "r.html").read_text("utf-8")
    assert "| fact_coverage |" in ready("eval", "report").out
    assert ready("eval", "report", "last", "--html", tmp_path / "s.html").code == 0
    assert ready("eval", "report", "nothing", "--json").error["code"] == "run_missing"


def test_a_stale_row_is_reported_and_left_out(ready: Cli, golden: Path) -> None:
    golden.write_text(GOLDEN.replace("document: staff-refunds", "document: gone"), "utf-8")
    ran = ready("eval", "run", "--golden", golden, "--json")
    assert ran.json["run"]["stale"] == [
        {"id": "e", "message": "there is no document 'gone' in tenant 'default'"}
    ]
    assert len(ran.json["run"]["questions"]) == 4


def test_the_gate_has_an_exit_code_a_junit_file_and_a_table(
    ready: Cli, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MIN_FACT_COVERAGE", "MIN_ABSTENTION_RECALL"):
        monkeypatch.setenv(f"EVIDENCEDESK_EVALUATION__GATE__{name}", "0")
    monkeypatch.setenv("EVIDENCEDESK_EVALUATION__GATE__MAX_WRONG_SHOWN", "1")
    files = ("--junit", tmp_path / "gate.xml", "--markdown", tmp_path / "gate.md")
    ran = ready("eval", "gate", "--golden", golden, *files)
    assert (ran.code, "The gate is open." in ran.out) == (0, True)
    assert ET.parse(tmp_path / "gate.xml").getroot().get("failures") == "0"
    assert "Golden set: passed" in (tmp_path / "gate.md").read_text("utf-8")
    monkeypatch.setenv("EVIDENCEDESK_EVALUATION__GATE__MAX_P95_MS", "0.001")
    shut = ready("eval", "gate", "--run", "last", "--json")
    assert (shut.code, shut.json["passed"]) == (1, False)


def test_compare_varies_a_setting_and_says_so_where_nothing_is_shown(
    ready: Cli, golden: Path
) -> None:
    ran = ready("eval", "compare", "--golden", golden, "--vary", "retrieval.k=3,8")
    assert ran.code == 0
    assert "retrieval.k=3" in ran.out
    assert "no difference shown" in ran.out
    ids = [row["after"] for row in compared(ready, golden, "chunking.max_tokens=20")]
    assert len(ids) == 1
    stored = ready("eval", "compare", ids[0], "last", "--json").json["comparisons"]
    assert stored[0]["before"] == ids[0]


def compared(cli: Cli, golden: Path, vary: str) -> list[dict[str, str]]:
    return cli("eval", "compare", "--golden", golden, "--vary", vary, "--json").json["comparisons"]


def test_a_varied_chunking_leaves_the_index_as_it_was(ready: Cli, golden: Path) -> None:
    before = ready("search", "return a bike", "--json").json
    [row] = compared(ready, golden, "chunking.strategy=fixed")
    assert row["settings"] == {"chunking.strategy": ["structure", "fixed"]}
    assert ready("search", "return a bike", "--json").json == before


def test_reindex_compares_on_the_golden_set_before_it_switches(
    ready: Cli, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ready("reindex", "--json").error["code"] == "reindex_unconfirmed"
    monkeypatch.setenv("EVIDENCEDESK_EVALUATION__GOLDEN_SET", str(golden))
    ran = ready("reindex", "--model", "none", "--chunking", "sentence", "--json")
    assert ran.code == 0
    assert ran.json["comparison"]["worse"] is False
    assert ran.json["chunking"]["strategy"] == "sentence"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("eval", "run"), "golden_missing"),
        (("eval", "run", "--golden", "none.yaml"), "golden_missing"),
        (("eval", "compare"), "usage"),
        (("eval", "compare", "last"), "run_missing"),
        (("eval", "add", "new.yaml"), "usage"),
        (("calibrate",), "golden_missing"),
    ],
)
def test_calls_that_make_no_sense(ready: Cli, arguments: tuple[str, ...], code: str) -> None:
    ran = ready(*arguments, "--json")
    assert ran.code == 2
    assert ran.error["code"] == code


def test_init_drafts_and_add_adds(ready: Cli, tmp_path: Path) -> None:
    path = tmp_path / "draft.yaml"
    assert ready("eval", "init", path, "--role", "everyone", "--json").json["questions"] == 2
    assert ready("eval", "init", path, "--json").error["code"] == "golden_exists"
    answer = tmp_path / "answer.json"
    answer.write_text(
        json.dumps({"question": "Do you rent?", "abstained": True, "citations": []}), "utf-8"
    )
    added = ready("eval", "add", path, "--answer", answer, "--role", "everyone", "--json").json
    assert (added["id"], added["label"]) == ("q1", "unanswerable")
    more = ready(
        *("eval", "add", path, "Who approves?", "--document", "staff-refunds"),
        *("--quote", "approval of the shop manager", "--role", "staff", "--json"),
    ).json
    assert (more["id"], more["label"], more["documents"]) == ("q2", "answerable", ["staff-refunds"])
    ran = ready("eval", "run", "--golden", path, "--json")
    assert ran.json["run"]["stale"] == []
    assert len(ran.json["run"]["questions"]) == 4


def test_calibrate_needs_enough_answers(ready: Cli, golden: Path) -> None:
    ran = ready("calibrate", "--golden", golden, "--json")
    assert (ran.code, ran.error["code"]) == (2, "golden_too_few")


def test_calibrate_writes_what_retrieval_reads(
    ready: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {
            "id": f"r{n}",
            "question": f"Can a new bike be returned within 30 days of delivery{'?' * (n + 1)}",
            "roles": ["everyone"],
            "document": "returns",
            "quote": "within 30 days of delivery",
        }
        for n in range(15)
    ]
    rows += [
        {"id": f"w{n}", "question": f"Is box number {n} blue?", "roles": ["everyone"]}
        for n in range(15)
    ]
    golden = tmp_path / "many.jsonl"
    golden.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    page = tmp_path / "c.html"
    ran = ready("calibrate", "--golden", golden, "--target", "0.3", "--html", page, "--json")
    assert ran.code == 0
    assert ran.json["fit"]["auroc"] > 0.9
    assert "<svg" in page.read_text("utf-8")
    assert "many-" in ran.json["calibrations"]["keywords"]["name"]
    asked = ("ask", "Can a new bike be returned?", "--role", "everyone", "--json")
    before = ready(*asked).json["confidence"]
    monkeypatch.setenv("EVIDENCEDESK_RETRIEVAL__CALIBRATION", "calibration.json")
    assert ready(*asked).json["confidence"] != before
    monkeypatch.setenv("EVIDENCEDESK_RETRIEVAL__CALIBRATION", "gone.json")
    assert ready(*asked).error["code"] == "calibration_missing"
