"""``evidencedesk answers``: receipts of what was answered, and whether it still holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from evidencedesk.access import check_tenant
from evidencedesk.cli.answers import print_answer
from evidencedesk.cli.call import OPERATOR_NOTE, Call, command, examples, new_app
from evidencedesk.cli.clean import one_line
from evidencedesk.cli.commands import EXIT_ERROR, EXIT_OK
from evidencedesk.cli.terminal import Terminal
from evidencedesk.errors import UsageError
from evidencedesk.records import Lapsed, render

app = new_app("What was answered, from what, and whether it still holds.")

_Answer = Annotated[str, typer.Argument(metavar="ANSWER", help="Id of the answer.")]
_WITHHELD = "(withheld, erased or not recorded)"


@app.command(
    "list", epilog=examples("answers list --as me@example.org", "answers list", note=OPERATOR_NOTE)
)
@command(reads=True)
def list_answers(
    call: Call,
    limit: Annotated[int, typer.Option(help="How many, newest first.", min=1, metavar="N")] = 100,
) -> None:
    """List the stored answers that the reader may read: one's own, or all as an administrator."""
    with call.open() as desk:
        rows = desk.answers.list(principal=call.principal, limit=limit)
    if call.as_json:
        call.terminal.json({"answers": list(rows)})
        return
    call.terminal.table(
        ("answer", "at", "asked by", "reason", "citations", "question"),
        (
            (
                row["answer_id"],
                row["at"][:19],
                row["asked_by"],
                row["reason"],
                row["citations"],
                one_line(row["question"] or _WITHHELD)[:80],
            )
            for row in rows
        ),
    )
    if not rows:
        call.terminal.note(
            "There is no stored answer that this reader may see. "
            "--as or [access.local] subject says whose they are; --administrator lists all."
        )


@app.command("show", epilog=examples("answers show ANSWER --as me@example.org", note=OPERATOR_NOTE))
@command(reads=True)
def show_answer(call: Call, answer: _Answer) -> None:
    """Show the receipt of an answer: what was asked, said, quoted, checked and used.

    Quotes are shown only from sources that the reader may see now.
    """
    with call.open() as desk:
        found = desk.answers.show(answer, principal=call.principal)
    if call.as_json:
        call.terminal.json(found)
    else:
        _print_receipt(call.terminal, found)


@app.command(
    "replay", epilog=examples("answers replay ANSWER --as me@example.org", note=OPERATOR_NOTE)
)
@command(reads=True)
def replay(call: Call, answer: _Answer) -> None:
    """Ask the question of a stored answer again, as the reader of now, and show what changed."""
    with call.open() as desk:
        replayed = desk.answers.replay(answer, principal=call.principal)
    differences = [each.to_json() for each in replayed.differences]
    now = replayed.explanation.answer
    if call.as_json:
        call.terminal.json(
            {"answer_id": answer, "differences": differences, "answer": now.to_json()}
        )
        return
    print_answer(call.terminal, now)
    call.terminal.line("")
    for each in differences:
        call.terminal.line((f"{each['what']}: ", "bold"), f"{each['before']} -> {each['after']}")
    if not differences:
        call.terminal.line("Nothing changed.")


@app.command(
    "recheck",
    epilog=examples(
        "answers recheck --administrator",
        "answers recheck ANSWER --as me@example.org",
        note=OPERATOR_NOTE,
    ),
)
@command(reads=True)
def recheck(
    call: Call,
    answer: Annotated[
        str | None, typer.Argument(metavar="[ANSWER]", help="One answer; all that may be read.")
    ] = None,
) -> int:
    """List the stored answers that no longer hold: a source changed, went or was closed.

    Exits with 1 when there are any.
    """
    with call.open() as desk:
        lapsed = desk.answers.recheck(principal=call.principal, answer_id=answer)
    if call.as_json:
        call.terminal.json({"lapsed": [_lapsed_json(each) for each in lapsed]})
    else:
        call.terminal.table(
            ("answer", "citation", "document", "why", "detail"),
            (
                (each.answer_id, each.citation + 1, each.document_id, each.lapse.value, each.detail)
                for each in lapsed
            ),
        )
        answers = len({each.answer_id for each in lapsed})
        call.terminal.note(f"{answers} stored answers no longer hold." if lapsed else "All hold.")
    return EXIT_ERROR if lapsed else EXIT_OK


@app.command(
    "feedback",
    epilog=examples(
        "answers feedback ANSWER useful --as me@example.org",
        'answers feedback ANSWER missing --note "The fee for parcels." --as me@example.org',
        note=OPERATOR_NOTE,
    ),
)
@command(reads=True)
def feedback(
    call: Call,
    answer: _Answer,
    verdict: Annotated[
        str, typer.Argument(metavar="VERDICT", help="useful, wrong or missing (incomplete).")
    ],
    note: Annotated[str, typer.Option(help="In your own words.", metavar="TEXT")] = "",
) -> None:
    """Say of an answer, or of an abstention, whether it helped; the last word counts.

    What is called wrong or missing is listed by `gaps`, and told to whom [notifications] names.
    """
    with call.open() as desk:
        said = desk.feedback(answer, verdict, principal=call.principal, note=note)
    if call.as_json:
        call.terminal.json(said.to_json())
    else:
        call.terminal.line(f"Kept: {said.verdict.value}.")


@app.command(
    "export",
    epilog=examples("answers export ANSWER answer.json --as me@example.org", note=OPERATOR_NOTE),
)
@command(reads=True)
def export(
    call: Call,
    answer: _Answer,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")],
) -> None:
    """Write an answer with its sources' passages to a file that `evidencedesk verify` checks."""
    key = call.settings.privacy.signing_key
    with call.open() as desk:
        exported = desk.answers.export(
            answer, principal=call.principal, signing_key=Path(key) if key else None
        )
    try:
        file.write_text(render(exported), "utf-8")
    except OSError as error:
        raise UsageError(
            f"{str(file)!r} cannot be written: {error.strerror}.",
            code="file_unwritable",
            hint="Name another file.",
        ) from error
    signed = exported["signature"] is not None
    if call.as_json:
        call.terminal.json({"file": str(file), "digest": exported["digest"], "signed": signed})
        return
    call.terminal.line(f"Wrote {file}")
    call.terminal.line(("digest: ", "bold"), exported["digest"])
    call.terminal.note("Keep the digest apart from the file: it proves where the file came from.")


@app.command(
    "erase",
    epilog=examples(
        "answers erase --subject me@example.org",
        "answers erase --document kc-returns-v3",
        "answers erase --older-than 365",
    ),
)
@command()
def erase(
    call: Call,
    subject: Annotated[
        str | None, typer.Option(help="Whose questions and answers.", metavar="SUBJECT")
    ] = None,
    document: Annotated[
        str | None, typer.Option(help="Whose quotes, in all answers.", metavar="DOCUMENT")
    ] = None,
    older_than: Annotated[
        int | None, typer.Option(help="Receipts older than this.", min=0, metavar="DAYS")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="In whose index.", metavar="TENANT")] = None,
) -> None:
    """Erase content from receipts: of one person, from one document, or of a certain age.

    Hashes and the audit chain stay, and the chain still verifies. Backups keep what they hold.
    """
    if sum(each is not None for each in (subject, document, older_than)) != 1:
        raise UsageError(
            "Say what to erase: exactly one of --subject, --document and --older-than.",
            code="bad_option",
            hint="`evidencedesk answers erase --help` shows each.",
        )
    owner = check_tenant(tenant or call.settings.access.tenant)
    with call.open() as desk:
        if subject is not None:
            count = desk.answers.erase_subject(subject, tenant=owner)
        elif document is not None:
            count = desk.answers.erase_document(document, tenant=owner)
        else:
            count = desk.answers.erase_older(older_than or 0, tenant=owner)
    if call.as_json:
        call.terminal.json({"receipts": count})
    else:
        call.terminal.line(f"Erased from {count} receipts. Backups still hold them.")


def _print_receipt(terminal: Terminal, found: dict[str, Any]) -> None:
    terminal.line((found["question"] or _WITHHELD, "bold"))
    terminal.line(found["text"] or _WITHHELD)
    terminal.line("")
    for number, cited in enumerate(found["citations"], start=1):
        terminal.line((f"[{number}] ", "cyan"), one_line(cited.get("label") or cited["note"]))
        if cited.get("quote"):
            terminal.line(f"“{one_line(cited['quote'])}”", indent=4)
    facts = {
        "answer": found["answer_id"],
        "reason": found["reason"],
        "asked": f"{found['at']} by {found['asked_by'] or 'nobody named'}",
        "roles": ", ".join(found["roles"]) or ("administrator" if found["administrator"] else ""),
        "generator": " ".join(filter(None, (found["generator"], found["model"]))) or "none",
        "again from": found["cached_from"] or "",
        "content": found["content"],
        "record": found["digest"],
        "position": str(found["position"]),
    }
    for name, value in facts.items():
        if value:
            terminal.line((f"{name:<11}", "bold"), value)


def _lapsed_json(lapsed: Lapsed) -> dict[str, Any]:
    return {
        "answer_id": lapsed.answer_id,
        "citation": lapsed.citation,
        "document_id": lapsed.document_id,
        "lapse": lapsed.lapse.value,
        "detail": lapsed.detail,
    }
