"""``chunks compare``, and reports of many files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evidencedesk.cli.ingest import print_ingest_report
from evidencedesk.cli.terminal import Terminal
from evidencedesk.model import FailedSource, IngestReport

QUESTION = "How long do I have to return a new bike?"
STAFF_QUESTION = "What needs the approval of the shop manager?"


def test_chunks_compare_counts(ready: Callable) -> None:
    facts = ("--fact", "within 30 days of delivery", "--fact", "nowhere to be found")
    compared = ready("chunks", "compare", "policies", *facts, "--json").json
    assert [each["strategy"] for each in compared["strategies"]] == [
        "fixed",
        "paragraph",
        "sentence",
        "structure",
    ]
    assert all(each["chunks"] == 5 for each in compared["strategies"])
    assert all(each["whole_facts"] == [facts[1]] for each in compared["strategies"])
    assert (compared["absent_facts"], compared["questions"]) == ([facts[3]], 0)
    assert compared["strategies"][0]["mrr"] is None


def test_chunks_compare_with_options_and_a_broken_fact(ready: Callable) -> None:
    ran = ready(
        "chunks", "compare", "policies", "--strategy", "fixed:size=20,overlap=0",
        "--strategy", "structure", "--fact", "within 30 days of delivery",
    )  # fmt: skip
    assert ran.out.split("\n")[1].startswith("fixed (overlap 0, size 20)")
    assert "fixed (overlap 0, size 20) breaks: within 30 days of delivery" in ran.err
    assert "only labelled questions can tell" in ran.err
    unknown = ready("chunks", "compare", "policies", "--strategy", "magic", "--json")
    assert (unknown.code, unknown.error["code"]) == (2, "unknown_strategy")
    wrong = ready("chunks", "compare", "policies", "--strategy", "fixed:size", "--json")
    assert (wrong.code, wrong.error["code"]) == (2, "bad_option")


def test_chunks_compare_with_questions_names_no_winner_that_they_cannot_support(
    ready: Callable, tmp_path: Path
) -> None:
    (tmp_path / "golden.yaml").write_text(
        "questions:\n"
        "  - {question: 'How long to return a bike?', document: returns, quote: within 30 days}\n"
        "  - {question: 'What needs approval?', document: staff-refunds}\n"
        "  - {question: 'What is the weather?', abstain: no_evidence}\n"
    )
    arguments = ("chunks", "compare", "policies", "--questions", "golden.yaml")
    compared = ready(*arguments, "--json").json
    assert (compared["questions"], compared["leader"]) == (2, None)
    for each in compared["strategies"]:
        assert each["recall_at_5"]["value"] == 1.0
        assert each["recall_at_5"]["low"] < 0.5
    assert "No winner: 2 questions do not tell them apart" in ready(*arguments).out


@pytest.mark.parametrize(
    "text", ["[", "a: b", "- 1", "- {document: x}", "- {question: x, document: 1}"]
)
def test_questions_that_cannot_be_read(ready: Callable, tmp_path: Path, text: str) -> None:
    (tmp_path / "golden.yaml").write_text(text)
    ran = ready("chunks", "compare", "policies", "--questions", "golden.yaml", "--json")
    assert (ran.code, ran.error["code"]) == (2, "bad_questions")


def test_a_long_list_is_cut_and_problems_never_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = tuple(FailedSource(f"f{n}", "damaged", "broken") for n in range(30))
    report = IngestReport(added=tuple(f"d{n}" for n in range(30)), failed=failed, unchanged=2)
    print_ingest_report(Terminal(), report)
    lines = capsys.readouterr().out.split("\n")
    assert "+ d19  added" in lines
    assert "+ d20  added" not in lines
    assert "  and 10 more added" in lines
    assert [line for line in lines if line.startswith("! ")][-1] == "! f29  failed: damaged: broken"
    assert lines[-2] == "30 added, 2 unchanged, 30 failed; 0 chunks in 0.0 s"
