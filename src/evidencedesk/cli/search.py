"""``evidencedesk search``."""

from __future__ import annotations

from typing import Annotated

import typer

from evidencedesk.cli.answers import place_to_open, titled_place
from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.cli.clean import one_line
from evidencedesk.cli.terminal import Terminal
from evidencedesk.desk.shapes import hit_json
from evidencedesk.model import Hit

app = new_app()


@app.command(
    epilog=examples(
        'search "gift cards"', 'search "refund" --role student -k 3 --json', note=OPERATOR_NOTE
    )
)
@command(reads=True)
def search(
    call: Call,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words or a question.")],
    k: Annotated[
        int | None, typer.Option("-k", help="How many passages.", min=1, metavar="N")
    ] = None,
) -> None:
    """Find the passages that fit best, with scores and places; nothing is answered."""
    with call.open() as desk:
        hits = desk.search(query, principal=call.principal, statuses=call.statuses, k=k)
    if call.as_json:
        call.terminal.json({"query": query, "hits": [hit_json(hit) for hit in hits]})
        return
    for rank, hit in enumerate(hits, start=1):
        _print_hit(call.terminal, rank, hit)
    if not hits:
        call.terminal.note("Nothing found among the documents that this reader may see.")


def _print_hit(terminal: Terminal, rank: int, hit: Hit) -> None:
    chunk = hit.chunk
    vector = "" if hit.vector_score is None else f"  vector {hit.vector_score:.3f}"
    scores = f"score {hit.score:.3f}{vector}  keyword {hit.keyword_score:.3f}"
    label = one_line(f"{titled_place(chunk)} [{chunk.id}]")
    terminal.line((f"{rank}. ", "cyan"), (label, "bold"))
    terminal.line((scores, "dim"), indent=3)
    terminal.line(one_line(chunk.text), indent=3)
    terminal.line((place_to_open(one_line(chunk.source), chunk.location), "dim"), indent=3)
