"""``evidencedesk show``."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from evidencedesk.cli.answers import place_to_open, titled_place
from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.cli.clean import one_line
from evidencedesk.cli.terminal import Terminal
from evidencedesk.desk import Desk
from evidencedesk.desk.shapes import chunk_json, document_json
from evidencedesk.errors import UsageError
from evidencedesk.model import Chunk, Document, Location, Span

app = new_app()


@app.command(
    epilog=examples(
        "show kc-returns-v3:c0",
        "show kc-returns-v3 --role staff",
        "show kc-returns-v3 --open",
        note=OPERATOR_NOTE,
    )
)
@command(reads=True)
def show(
    call: Call,
    chunk_or_document: Annotated[
        str,
        typer.Argument(metavar="CHUNK_OR_DOCUMENT", help="Id from `search`, `ask`, `docs list`."),
    ],
    context: Annotated[
        int, typer.Option(help="Lines to show around a passage.", min=0, metavar="LINES")
    ] = 2,
    open_source: Annotated[
        bool, typer.Option("--open", help="Open the file or page it comes from.")
    ] = False,
) -> None:
    """Show a passage within its document, marked, or the whole text of a document."""
    with call.open() as desk:
        chunk, document = _find(desk, call, chunk_or_document)
    if call.as_json:
        call.terminal.json(document_json(document) if chunk is None else chunk_json(chunk))
    elif chunk is None:
        _print_head(call.terminal, document.title, document.source, Location())
        call.terminal.line(document.text)
    else:
        _print_head(call.terminal, titled_place(chunk), chunk.source, chunk.location)
        _print_marked(call.terminal, document, chunk.span, context)
    if open_source:
        _open(document, offline=call.settings.offline)


def _find(desk: Desk, call: Call, name: str) -> tuple[Chunk | None, Document]:
    """The passage called ``name`` with its document, else the document called so."""
    read = functools.partial(desk.document, principal=call.principal, statuses=call.statuses)
    try:
        chunk = desk.chunk(name, principal=call.principal, statuses=call.statuses)
    except UsageError as error:
        if error.code != "not_found":
            raise
        return None, read(name)
    return chunk, read(chunk.document_id)


def _print_head(terminal: Terminal, label: str, source: str, location: Location) -> None:
    terminal.line((one_line(label), "bold"))
    terminal.line((place_to_open(one_line(source), location), "dim"))
    terminal.line("")


def _print_marked(terminal: Terminal, document: Document, span: Span, context: int) -> None:
    """The lines of the passage and around it; those of the passage are marked with ``>``."""
    start, number = 0, document.first_line
    lines: list[tuple[int, int, int | None]] = []
    for text in document.text.split("\n"):
        lines.append((start, start + len(text), number))
        start += len(text) + 1
        number = None if number is None else number + 1
    inside = [
        i for i, (first, last, _) in enumerate(lines) if first < span.end and last > span.start
    ]
    if not inside:
        return
    for index in range(max(0, inside[0] - context), min(len(lines), inside[-1] + context + 1)):
        first, last, line_number = lines[index]
        marked = inside[0] <= index <= inside[-1]
        gutter = "" if line_number is None else f"{line_number:>5} "
        terminal.line(
            (f"{'>' if marked else ' '}{gutter} ", "cyan"),
            *_parts(document.text, first, last, span, marked=marked),
        )


def _parts(
    text: str, first: int, last: int, span: Span, *, marked: bool
) -> tuple[tuple[str, str], ...]:
    """The line cut where the passage begins and ends in it."""
    if not marked:
        return ((text[first:last], "dim"),)
    begin, end = max(first, span.start), min(last, span.end)
    return ((text[first:begin], "dim"), (text[begin:end], "bold"), (text[end:last], "dim"))


def _open(document: Document, *, offline: bool) -> None:
    if urlsplit(document.source).scheme in ("http", "https"):
        if offline:
            raise UsageError(
                f"{document.source!r} is on the network, which the setting `offline` forbids.",
                code="offline",
            )
        typer.launch(document.source, wait=True)
        return
    path = Path(document.root, document.source)
    if not path.is_file():
        raise UsageError(
            f"The file {str(path)!r} is not there any more.",
            code="source_gone",
            hint="What is shown above is its text as it was ingested.",
        )
    typer.launch(str(path), wait=True)
