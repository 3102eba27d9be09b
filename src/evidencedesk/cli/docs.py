"""``evidencedesk docs``: the library and its versions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from evidencedesk.access import parse_status
from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.desk.shapes import document_json, record_json
from evidencedesk.errors import UsageError
from evidencedesk.model import DocumentRecord

app = new_app("The documents in the index, their versions and their life cycle.")

_Id = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Id of the document.")]
_Tenant = Annotated[str | None, typer.Option(help="Whose document it is.", metavar="TENANT")]
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


@app.command(
    "list",
    epilog=examples(
        "docs list", "docs list --role staff --status superseded --json", note=OPERATOR_NOTE
    ),
)
@command(reads=True)
def list_documents(call: Call) -> None:
    """List the documents that the reader may see."""
    with call.open() as desk:
        records = desk.documents(principal=call.principal, statuses=call.statuses)
    if call.as_json:
        call.terminal.json({"documents": [record_json(record) for record in records]})
        return
    call.terminal.table(
        ("document", "title", "version", "status", "lang", "roles", "chunks", "source"),
        (
            (r.id, r.title, r.version, r.status, r.lang, _roles(r), r.chunks, r.source)
            for r in records
        ),
    )
    if not records:
        call.terminal.note("There is no document that this reader may see.")


@app.command("show", epilog=examples("docs show kc-returns-v3", note=OPERATOR_NOTE))
@command(reads=True)
def show_document(call: Call, document: _Id) -> None:
    """Show what is known of a document; `evidencedesk show DOCUMENT` shows its text."""
    with call.open() as desk:
        found = document_json(
            desk.document(document, principal=call.principal, statuses=call.statuses)
        )
    del found["text"]
    if call.as_json:
        call.terminal.json(found)
        return
    for name, value in found.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        call.terminal.line((f"{name.replace('_', ' '):<13}", "bold"), shown)


@app.command("history", epilog=examples("docs history kc-returns-v3", note=OPERATOR_NOTE))
@command(reads=True)
def history(call: Call, document: _Id) -> None:
    """List the versions of a document, newest first. Earlier ones are never searched."""
    with call.open() as desk:
        versions = desk.versions(document, principal=call.principal, statuses=call.statuses)
    earlier = versions[1:]
    if call.as_json:
        shown = [{**record_json(each.record), "characters": each.characters} for each in earlier]
        call.terminal.json({"versions": shown})
        return
    call.terminal.table(
        ("ingested", "owner", "version", "title", "characters", "content"),
        (
            (
                _time(each.record),
                each.record.owner,
                each.record.version,
                each.record.title,
                each.characters,
                each.record.content_hash[:19],
            )
            for each in versions
        ),
    )
    if not earlier:
        call.terminal.note("No earlier version is kept.")


@app.command(
    "diff",
    epilog=examples(
        "docs diff kc-returns-v3",
        "docs diff kc-returns-v3 --old sha256:0f3a --new sha256:77c1",
        note=OPERATOR_NOTE,
    ),
)
@command(reads=True)
def diff(
    call: Call,
    document: _Id,
    old: Annotated[
        str | None,
        typer.Option(help="Content hash of the earlier version (the one before).", metavar="HASH"),
    ] = None,
    new: Annotated[
        str | None,
        typer.Option(help="Content hash of the later version (the one of now).", metavar="HASH"),
    ] = None,
) -> None:
    """Show what changed in the text of a document between two versions."""
    with call.open() as desk:
        text = desk.diff(
            document, principal=call.principal, old=old, new=new, statuses=call.statuses
        )
    if call.as_json:
        call.terminal.json({"document_id": document, "diff": text})
        return
    for line in text.splitlines():
        call.terminal.line((line, _DIFF_STYLES.get(line[:1], "")))
    if not text:
        call.terminal.note("Nothing changed.")


@app.command(
    "duplicates",
    epilog=examples("docs duplicates", "docs duplicates --threshold 0.9 --set-aside"),
)
@command()
def duplicates(
    call: Call,
    *,
    threshold: Annotated[
        float, typer.Option(help="Least share of common runs of words.", min=0.01, max=1.0)
    ] = 0.8,
    set_aside: Annotated[
        bool, typer.Option("--set-aside", help="Archive the older one of each pair.")
    ] = False,
    tenant: _Tenant = None,
) -> None:
    """Report documents that are nearly or wholly the same; with --set-aside archive the older ones.

    What is archived stays and is no evidence any more; `docs status DOCUMENT current` takes it back.
    """
    operator = call.operator(tenant)
    with call.open() as desk:
        pairs = desk.duplicates(principal=operator, threshold=threshold)
        aged = {r.id: (r.ingested_at, r.id) for r in desk.documents(principal=operator)}
        older = sorted({min(pair.first, pair.second, key=aged.__getitem__) for pair in pairs})
        for document_id in older if set_aside else ():
            desk.set_status(document_id, "archived", tenant=tenant)
    if call.as_json:
        call.terminal.json(
            {
                "pairs": [asdict(pair) for pair in pairs],
                "set_aside": older if set_aside else [],
            }
        )
        return
    call.terminal.table(
        ("similarity", "document", "and"),
        ((f"{pair.similarity:.2f}", pair.first, pair.second) for pair in pairs),
    )
    if set_aside and older:
        call.terminal.note(f"Archived: {', '.join(older)}")
    if not pairs:
        call.terminal.note("No two documents are nearly the same.")


@app.command("remove", epilog=examples("docs remove kc-returns-v2"))
@command()
def remove(call: Call, document: _Id, tenant: _Tenant = None) -> None:
    """Remove a document with its passages, vectors and earlier versions.

    Its file stays where it is and is ingested again by the next run over it. Backups keep what
    they hold.
    """
    with call.open() as desk:
        removed = desk.remove(document, tenant=tenant)
    if not removed:
        raise UsageError(
            f"There is no document {document!r}; nothing was removed.",
            code="not_found",
            hint="`evidencedesk docs list --administrator` lists the documents there are.",
        )
    _done(call, {"removed": document}, f"Removed {document}. Backups still hold it.")


@app.command("status", epilog=examples("docs status kc-returns-v2 superseded"))
@command()
def set_status(
    call: Call,
    document: _Id,
    status: Annotated[
        str, typer.Argument(metavar="STATUS", help="current, superseded, draft or archived.")
    ],
    tenant: _Tenant = None,
) -> None:
    """Set the status of a document; only current ones are evidence by default."""
    parsed = parse_status(status)
    with call.open() as desk:
        desk.set_status(document, parsed, tenant=tenant)
    _done(call, {"document_id": document, "status": parsed.value}, f"{document} is {parsed.value}.")


def _done(call: Call, value: dict[str, str], words: str) -> None:
    if call.as_json:
        call.terminal.json(value)
    else:
        call.terminal.line(words)


def _roles(record: DocumentRecord) -> str:
    denied = [f"not {role}" for role in sorted(record.deny)]
    return ", ".join([*sorted(record.roles), *denied]) or "administrators"


def _time(record: DocumentRecord) -> str:
    return record.ingested_at.isoformat(sep=" ", timespec="seconds")
