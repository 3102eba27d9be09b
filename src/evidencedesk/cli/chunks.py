"""``evidencedesk chunks``: ways of cutting documents, side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import yaml

from evidencedesk.access import Principal, Status
from evidencedesk.chunking import (
    STRATEGIES,
    ChunkingComparison,
    Indexer,
    Interval,
    LabelledQuestion,
    Search,
    StrategyReport,
    chunking_settings,
    compare_strategies,
)
from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.clean import one_line
from evidencedesk.cli.options import check_paths, numbers
from evidencedesk.cli.terminal import Terminal
from evidencedesk.desk import Desk
from evidencedesk.errors import UsageError
from evidencedesk.model import Chunk, ChunkingSettings

app = new_app("How documents are cut into passages.")

_DEPTH = 20
_SEED = 0
_NO_MODEL = "embedding: no semantic model; keywords only"


@app.command(
    "compare",
    epilog=examples(
        "chunks compare policies/",
        "chunks compare policies/ --strategy structure --strategy fixed:size=400,overlap=80",
        'chunks compare policies/ --fact "within 30 days of delivery" --questions golden.yaml',
    ),
)
@command()
def compare(
    call: Call,
    *,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders.")],
    strategy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[:OPTION=N,...]", help="A strategy; all of them without it."),
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Words that should stay whole in one passage."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="YAML list of questions: {question, document, quote}."),
    ] = None,
) -> None:
    """Cut documents in several ways and count what comes of it; the index is not touched.

    With labelled questions each way is also searched, with the semantic model where it is here.
    A winner is named only where the questions are enough to tell.
    """
    check_paths(paths)
    choices = [_choice(call, each) for each in strategy or STRATEGIES]
    labelled = [] if questions is None else read_questions(questions)
    if not labelled:
        call.overrides["embedding.model"] = "none"
    with _scratch_desk(call, paths) as desk:
        records = desk.documents(principal=_everything(desk), statuses=Status)
        model = None if any(record.vectors for record in records) else "none"
        documents = [
            desk.document(each.id, principal=_everything(desk), statuses=Status) for each in records
        ]
        comparison = compare_strategies(
            documents,
            choices,
            facts=fact or (),
            questions=labelled,
            indexer=_indexer(desk, choices, model),
            random=np.random.default_rng(_SEED),
        )
    degraded = [_NO_MODEL] if labelled and model else []
    if call.as_json:
        call.terminal.json(comparison_json(comparison, degraded))
    else:
        _print(call.terminal, comparison, degraded)


def read_questions(file: Path) -> list[LabelledQuestion]:
    """The questions of a YAML file that name a document; the others ask for an abstention.

    Raises:
        UsageError: ``bad_questions``, naming the file and the entry.
    """
    try:
        content = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _bad_questions(file, one_line(str(error))) from error
    entries = content.get("questions") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise _bad_questions(file, "there is no list of questions in it")
    return [
        LabelledQuestion(entry["question"], entry["document"], entry.get("quote", ""))
        for number, entry in enumerate(entries, start=1)
        if _names_a_document(file, number, entry)
    ]


def comparison_json(comparison: ChunkingComparison, degraded: Sequence[str]) -> dict[str, Any]:
    """The stable shape of a comparison (docs/cli.md)."""
    return {
        "strategies": [_report_json(report) for report in comparison.reports],
        "absent_facts": list(comparison.absent_facts),
        "questions": comparison.questions,
        "degraded": list(degraded),
        "leader": None if comparison.leader is None else _settings_json(comparison.leader),
    }


def _choice(call: Call, spec: str) -> ChunkingSettings:
    name, _, options = spec.partition(":")
    configured = call.settings.chunking.options_of(name)
    given = numbers(options.split(",") if options else [])
    return chunking_settings(name, **(configured | given))


@contextmanager
def _scratch_desk(call: Call, paths: Sequence[Path]) -> Iterator[Desk]:
    """A desk over an index of its own that holds the documents and is thrown away."""
    with (
        tempfile.TemporaryDirectory(prefix="evidencedesk-") as folder,
        Desk.open(Path(folder) / "scratch.desk", settings=call.settings, create=True) as desk,
    ):
        with call.terminal.progress() as progress:
            report = desk.ingest(*paths, progress=progress)
        for failure in (*report.failed, *report.refused):
            call.terminal.note(("left out: ", "yellow"), f"{failure.source}: {failure.message}")
        yield desk


def _everything(desk: Desk) -> Principal:
    return Principal(tenant=desk.settings.access.tenant, administrator=True)


def _indexer(desk: Desk, choices: Sequence[ChunkingSettings], model: str | None) -> Indexer:
    """Rebuilds the scratch index as the next choice cuts, and searches that as an administrator."""
    pending = iter(choices)

    def index(_: tuple[Chunk, ...]) -> Search:
        choice = next(pending)
        options = dict(choice.options)
        desk.reindex(model=model, strategy=choice.strategy, options=options, yes=True)
        return lambda question: [
            hit.chunk.id for hit in desk.search(question, principal=_everything(desk), k=_DEPTH)
        ]

    return index


def _print(terminal: Terminal, comparison: ChunkingComparison, degraded: Sequence[str]) -> None:
    columns = ["strategy", "chunks", "shortest", "longest", "end mid-sentence", "facts whole"]
    if comparison.questions:
        columns += ["recall@1", "recall@3", "recall@5", "MRR"]
    terminal.table(columns, [_row(report) for report in comparison.reports])
    for report in comparison.reports:
        for words in report.broken_facts:
            terminal.note(f"{described(report.settings)} breaks: {words}")
    for words in comparison.absent_facts:
        terminal.note(("nowhere in the documents: ", "yellow"), words)
    for missing in degraded:
        terminal.note(("degraded: ", "yellow"), missing)
    if not comparison.questions:
        terminal.note(
            "Which one finds better, only labelled questions can tell (--questions FILE)."
        )
    elif comparison.leader is None:
        terminal.line(
            f"No winner: {comparison.questions} questions do not tell them apart at 5 % error."
        )
    else:
        terminal.line((described(comparison.leader), "bold"), " finds better than every other.")


def described(settings: ChunkingSettings) -> str:
    """``fixed (overlap 100, size 600)``."""
    options = ", ".join(f"{name} {value}" for name, value in settings.options)
    return f"{settings.strategy} ({options})" if options else settings.strategy


def _row(report: StrategyReport) -> list[object]:
    facts = len(report.whole_facts) + len(report.broken_facts)
    row: list[object] = [
        described(report.settings),
        report.chunks,
        report.shortest,
        report.longest,
        report.ending_mid_sentence,
        f"{len(report.whole_facts)} of {facts}" if facts else "",
    ]
    if (scores := report.retrieval) is not None:
        means = (scores.recall_at_1, scores.recall_at_3, scores.recall_at_5, scores.mrr)
        row += [f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]" for each in means]
    return row


def _report_json(report: StrategyReport) -> dict[str, Any]:
    scores = report.retrieval
    return {
        **_settings_json(report.settings),
        "chunks": report.chunks,
        "shortest": report.shortest,
        "longest": report.longest,
        "ending_mid_sentence": report.ending_mid_sentence,
        "whole_facts": list(report.whole_facts),
        "broken_facts": list(report.broken_facts),
        "recall_at_1": None if scores is None else _interval_json(scores.recall_at_1),
        "recall_at_3": None if scores is None else _interval_json(scores.recall_at_3),
        "recall_at_5": None if scores is None else _interval_json(scores.recall_at_5),
        "mrr": None if scores is None else _interval_json(scores.mrr),
    }


def _settings_json(settings: ChunkingSettings) -> dict[str, Any]:
    return {"strategy": settings.strategy, "options": dict(settings.options)}


def _interval_json(interval: Interval) -> dict[str, float]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def _names_a_document(file: Path, number: int, entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("question"), str):
        raise _bad_questions(file, f"entry {number} has no question")
    document, quote = entry.get("document"), entry.get("quote", "")
    if not isinstance(document, str | None) or not isinstance(quote, str):
        raise _bad_questions(file, f"entry {number}: document and quote are text")
    return document is not None


def _bad_questions(file: Path, why: str) -> UsageError:
    return UsageError(
        f"The questions in {str(file)!r} cannot be read: {why}.",
        code="bad_questions",
        hint="Write a YAML list of {question: ..., document: ID, quote: words of the answer}.",
    )
