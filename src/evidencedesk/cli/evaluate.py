"""``evidencedesk eval``: golden sets, runs, comparisons, the gate and reports."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from evidencedesk import __version__
from evidencedesk.access import Status
from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_ERROR, EXIT_OK
from evidencedesk.cli.figures import print_comparison, print_gate, print_summary
from evidencedesk.desk import Desk
from evidencedesk.errors import GoldenSetError, UsageError
from evidencedesk.evaluation.comparing import Comparison, compare_runs
from evidencedesk.evaluation.drafting import add_row, draft_questions, row_from_answer, write_rows
from evidencedesk.evaluation.gate import judge, junit, markdown
from evidencedesk.evaluation.golden import GoldenQuestion, GoldenSet, Label, Reader
from evidencedesk.evaluation.loading import load_golden
from evidencedesk.evaluation.outcomes import Run
from evidencedesk.evaluation.provenance import git_commit
from evidencedesk.evaluation.reports import html_report, markdown_report
from evidencedesk.evaluation.run import Measuring, evaluate
from evidencedesk.evaluation.storage import RunStore
from evidencedesk.evaluation.summary import summarise
from evidencedesk.evaluation.varying import variations
from evidencedesk.wiring import SystemClock

app = new_app("Measure answers on labelled questions, and tell a difference from luck.")

SEED = 20
KEPT = "What was asked is kept; the same command goes on from there."

GoldenPath = Annotated[
    Path | None,
    typer.Option("--golden", help="The golden set, instead of the settings'.", metavar="PATH"),
]


@app.command(epilog=examples("eval init golden.yaml --role everyone", note=OPERATOR_NOTE))
@command(reads=True)
def init(
    call: Call,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A new .yaml or .jsonl file.")],
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DOCUMENT",
            help="Ask about it as if it were not there; leave it out of the index that is measured.",
        ),
    ] = None,
) -> None:
    """Draft a golden set from what the reader may see, for a person to edit."""
    reader = _reader(call)
    with call.open() as desk:
        records = desk.documents(principal=reader.principal, statuses=reader.statuses)
        documents = [
            desk.document(record.id, principal=reader.principal, statuses=reader.statuses)
            for record in records
        ]
    rows = draft_questions(documents, reader=reader, leave_out=leave_out or ())
    write_rows(path, rows, name=path.stem)
    words = f"{len(rows)} questions drafted in {path}. Word each as people ask."
    _say(call, {"path": str(path), "questions": len(rows)}, words)


@app.command(
    epilog=examples(
        'eval add golden.yaml "Do you sell helmets?" --document helmets --quote "We sell helmets"',
        'ask "Can I rent a bike?" --role everyone --json > answer.json',
        "eval add golden.yaml --answer answer.json --role everyone",
        note=OPERATOR_NOTE,
    )
)
@command(reads=True)
def add(
    call: Call,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The golden set.")],
    question: Annotated[str | None, typer.Argument(metavar="[QUESTION]")] = None,
    *,
    answer: Annotated[
        Path | None,
        typer.Option(help="What `ask --json` printed; - reads it from stdin.", metavar="FILE"),
    ] = None,
    row_id: Annotated[str | None, typer.Option("--id", help="Id of the row.")] = None,
    label: Annotated[
        Label | None, typer.Option(help="What is right, where it is not what the answer did.")
    ] = None,
    document: Annotated[
        list[str] | None, typer.Option(help="A document that answers, or is hidden.")
    ] = None,
    quote: Annotated[list[str] | None, typer.Option(help="Words that answer.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag of the row.")] = None,
) -> None:
    """Turn a question, or an answer that was given, into a row."""
    taken = {one.id for one in load_golden(path).questions} if path.exists() else set()
    name = row_id or next(f"q{n}" for n in range(1, len(taken) + 2) if f"q{n}" not in taken)
    given = _answer(answer) if answer else _nothing(question)
    named = tuple(document or ())
    if answer and not named:
        row = row_from_answer(given, reader=_reader(call), row_id=name, label=label)
    else:
        right = label or (Label.ANSWERABLE if named else Label.UNANSWERABLE)
        hidden = right is Label.NOT_PERMITTED
        row = GoldenQuestion(
            id=name,
            question=str(given["question"]),
            reader=_reader(call),
            label=right,
            documents={} if hidden else dict.fromkeys(named, 1.0),
            hidden=named if hidden else (),
            quotes=tuple(quote or ()),
            tags=tuple(tag or ()),
        )
    add_row(path, row)
    _say(call, row.to_json(), f"{row.id} ({row.label.value}) added to {path}.")


@app.command(epilog=examples("eval run", "eval run --golden golden.yaml --json", "eval run --html"))
@command()
def run(
    call: Call,
    golden: GoldenPath = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the report as HTML.", metavar="FILE")
    ] = None,
) -> None:
    """Ask every question as its reader, and judge what comes back."""
    made = _run(call, golden)
    summary = summarise(made, np.random.default_rng(SEED))
    if html:
        html.write_text(html_report(made, summary), "utf-8")
    if call.as_json:
        call.terminal.json({"run": made.to_json(), "summary": summary.to_json()})
    else:
        print_summary(call.terminal, made, summary)


@app.command(
    epilog=examples(
        "eval compare --vary retrieval.k=3,5,8",
        "eval compare --vary chunking.max_tokens=100,200 --vary retrieval.threshold=0.4,0.6",
        "eval compare 20260501-101500-1a2b3c last",
    )
)
@command()
def compare(
    call: Call,
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Stored runs, or files.")
    ] = None,
    *,
    vary: Annotated[
        list[str] | None, typer.Option(metavar="SETTING=VALUE,...", help="Values to compare.")
    ] = None,
    grid: Annotated[
        bool, typer.Option("--grid", help="Every combination, instead of one at a time.")
    ] = False,
    golden: GoldenPath = None,
) -> None:
    """Compare settings with those in force, or stored runs with the first one.

    Each difference has an interval and a p-value that allows for how much was compared. Where
    nothing is shown the words are "no difference shown", which is not "the same".
    """
    if bool(vary) == bool(runs):
        raise UsageError("Name runs to compare, or settings with --vary.", code="usage")
    if vary:
        made = _varied(call, vary, grid, golden)
    else:
        made = [RunStore.beside(call.index_path).load(name) for name in runs or ()]
        if len(made) < 2:
            raise UsageError("Comparing needs two runs.", code="usage")
    compared = compare_runs(made[0], made[1:], np.random.default_rng(SEED))
    _print_comparisons(call, compared)


@app.command(epilog=examples("eval gate --junit gate.xml --markdown gate.md"))
@command()
def gate(
    call: Call,
    *,
    name: Annotated[
        str | None, typer.Option("--run", help="A stored run, instead of a new one.")
    ] = None,
    golden: GoldenPath = None,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", help="Write a JUnit file.", metavar="FILE")
    ] = None,
    markdown_file: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write a table for a pull request.", metavar="FILE"),
    ] = None,
) -> int:
    """Hold a run to the thresholds of [evaluation.gate]; exit code 1 when it fails.

    A single answer that shows what its reader may not see fails, whatever the thresholds.
    """
    made = RunStore.beside(call.index_path).load(name) if name else _run(call, golden)
    summary = summarise(made, np.random.default_rng(SEED))
    result = judge(made, summary, call.settings.evaluation.gate)
    if junit_file:
        junit_file.write_text(junit(made, result), "utf-8")
    if markdown_file:
        markdown_file.write_text(markdown(result), "utf-8")
    if call.as_json:
        call.terminal.json(result.to_json())
    else:
        print_gate(call.terminal, result)
    return EXIT_OK if result.passed else EXIT_ERROR


@app.command(epilog=examples("eval report last --html report.html"))
@command()
def report(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="[RUN]")] = "last",
    *,
    html: Annotated[Path | None, typer.Option(help="Write HTML.", metavar="FILE")] = None,
) -> None:
    """A stored run as a page: HTML with plots, or Markdown, or JSON."""
    made = RunStore.beside(call.index_path).load(name)
    summary = summarise(made, np.random.default_rng(SEED))
    if html:
        html.write_text(html_report(made, summary), "utf-8")
        _say(call, {"html": str(html)}, f"Written to {html}.")
    elif call.as_json:
        call.terminal.json({"run": made.to_json(), "summary": summary.to_json()})
    else:
        call.terminal.line(markdown_report(made, summary))


def golden_of(call: Call, path: Path | None) -> GoldenSet:
    """The golden set named, else that of the settings.

    Raises:
        GoldenSetError: ``golden_missing`` when neither is.
    """
    named = path or call.settings.evaluation.golden_set
    if named is None:
        raise GoldenSetError(
            "There is no golden set.",
            code="golden_missing",
            hint="Give --golden PATH or set [evaluation] golden_set; `eval init` drafts one.",
        )
    access = call.settings.access
    reader = Reader(access.tenant, frozenset(access.local.roles), access.local.administrator)
    golden = load_golden(named, reader=reader)
    for note in golden.notes:
        call.terminal.note(("Note: ", "yellow"), note)
    return golden


def measured(desk: Desk, golden: GoldenSet, measuring: Measuring, name: str = "") -> Run:
    """A run with its provenance."""
    commit = git_commit(Path.cwd())
    return evaluate(desk, golden, measuring, name=name, version=__version__, git_commit=commit)


def _run(call: Call, path: Path | None) -> Run:
    call.kept = KEPT
    golden = golden_of(call, path)
    with call.open() as desk, call.terminal.progress() as progress:
        store = RunStore.beside(call.index_path)
        return measured(desk, golden, Measuring(SystemClock(), store, progress=progress))


def _varied(call: Call, vary: list[str], grid: bool, path: Path | None) -> list[Run]:
    call.kept = KEPT
    golden = golden_of(call, path)
    tried = variations(call.settings, vary, grid=grid)
    store = RunStore.beside(call.index_path)
    with call.open() as desk, call.terminal.progress() as progress:
        measuring = Measuring(SystemClock(), store, progress=progress)
        made = [measured(desk, golden, measuring, "as it is")]
        for name, settings in tried:
            with desk.trial(settings, progress) as other:
                made.append(measured(other, golden, measuring, name))
    return made


def _print_comparisons(call: Call, compared: list[Comparison]) -> None:
    if call.as_json:
        call.terminal.json({"comparisons": [one.to_json() for one in compared]})
        return
    for one in compared:
        print_comparison(call.terminal, one)


def _reader(call: Call) -> Reader:
    who = call.principal
    statuses = frozenset(Status(status) for status in call.statuses)
    return Reader(who.tenant, who.roles, who.administrator, statuses)


def _answer(path: Path) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
        content = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}.", code="usage") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path} is no answer.", code="usage")
    return content


def _nothing(question: str | None) -> dict[str, Any]:
    if question is None:
        raise UsageError("Give a question, or an answer with --answer.", code="usage")
    return {"question": question}


def _say(call: Call, value: dict[str, Any], words: str) -> None:
    if call.as_json:
        call.terminal.json(value)
    else:
        call.terminal.line(words)
