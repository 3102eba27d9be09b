"""``evidencedesk reindex``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from evidencedesk.access import Status
from evidencedesk.cli.approval import GoldenJudge
from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.estimate import has_model, say_before_rebuilding
from evidencedesk.cli.options import numbers
from evidencedesk.desk import Desk, ReindexReport
from evidencedesk.errors import UsageError
from evidencedesk.model import Generation

app = new_app()


@app.command(
    epilog=examples(
        "reindex --yes                                  # as the settings say now",
        "reindex --chunking sentence --option max_chars=600 --yes",
        "reindex --rollback",
        "reindex --discard",
    )
)
@command()
def reindex(
    call: Call,
    *,
    model: Annotated[
        str | None, typer.Option(help="Semantic model, or none.", metavar="MODEL")
    ] = None,
    chunking: Annotated[
        str | None, typer.Option(help="Strategy that cuts.", metavar="STRATEGY")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=NUMBER", help="An option of the strategy.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Switch although no golden set compares the two.")
    ] = False,
    rollback: Annotated[bool, typer.Option("--rollback", help="Back to the one before.")] = False,
    discard: Annotated[
        bool, typer.Option("--discard", help="Drop the one before; no rollback after that.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option(help="Side by side; 0 is one per core.", metavar="N")
    ] = None,
) -> None:
    """Rebuild passages and vectors beside those that answer, then switch in one step.

    With a golden set in the settings the rebuild is compared on it first, and dropped where it is
    shown to be worse.

    Documents and rights belong to no rebuild: going back changes ranking and nothing else.
    """
    call.overrides["ingestion.threads"] = threads
    call.kept = (
        "The index answers as before; the unfinished rebuild is taken up or replaced next time."
    )
    if rollback and discard:
        raise UsageError("--rollback and --discard exclude each other.", code="usage")
    with call.open() as desk:
        if rollback:
            _print_generation(call, desk.rollback(), "Back at")
            return
        if discard:
            desk.discard()
            _say(call, {"discarded": True}, "The rebuild before is dropped.")
            return
        judge = GoldenJudge(call, desk) if call.settings.evaluation.golden_set else None
        if yes or judge:
            _announce(call, desk, model)
        with call.terminal.progress() as progress:
            report = desk.reindex(
                model=model,
                strategy=chunking,
                options=numbers(option or ()),
                yes=yes,
                progress=progress,
                approve=judge.approves if judge else None,
            )
    _print_report(call, report, judge)


def _announce(call: Call, desk: Desk, model: str | None) -> None:
    records = desk.documents(principal=call.operator(), statuses=Status)
    chunks = sum(record.chunks for record in records)
    say_before_rebuilding(call, chunks, semantic=model != "none" and has_model(call))


def _print_report(call: Call, report: ReindexReport, judge: GoldenJudge | None) -> None:
    extra: dict[str, object] = {"documents": report.documents, "seconds": report.seconds}
    if judge is not None and judge.comparison is not None:
        judge.show()
        extra["comparison"] = judge.comparison.to_json()
    words = f"{report.documents} documents in {report.seconds:.1f} s. Now answering from"
    _print_generation(call, report.generation, words, **extra)


def _print_generation(call: Call, generation: Generation, words: str, **extra: object) -> None:
    embedding = generation.embedding.name if generation.embedding else None
    cut = generation.chunking
    value = {
        "generation": generation.id,
        "embedding": embedding,
        "chunking": {"strategy": cut.strategy, **dict(cut.options)},
        **extra,
    }
    options = ", ".join(f"{name} {number}" for name, number in cut.options)
    about = f"{embedding or 'keywords only'}; {cut.strategy}" + (f" ({options})" if options else "")
    _say(call, value, f"{words} generation {generation.id}: {about}.")


def _say(call: Call, value: Mapping[str, object], words: str) -> None:
    if call.as_json:
        call.terminal.json(value)
    else:
        call.terminal.line(words)
