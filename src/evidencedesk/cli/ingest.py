"""``evidencedesk ingest``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from evidencedesk.access import check_known_roles, check_tenant, parse_status
from evidencedesk.cli.call import Call, command, examples, new_app
from evidencedesk.cli.commands import EXIT_ERROR, EXIT_OK
from evidencedesk.cli.estimate import say_before_ingesting
from evidencedesk.cli.options import (
    DocumentRoles,
    DocumentStatus,
    DocumentTenant,
    check_paths,
)
from evidencedesk.cli.terminal import Terminal
from evidencedesk.errors import UsageError
from evidencedesk.model import IngestReport
from evidencedesk.protocols import Source
from evidencedesk.settings import Settings
from evidencedesk.source_wiring import mail_sources, web_sources

app = new_app()

_SHOWN = 20
_PASSWORD = "MAIL_PASSWORD"  # noqa: S105 - the name of the variable


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Options that name documents which are no files here."""

    url: Annotated[
        list[str] | None, typer.Option(help="A web page, from a host on the list.", metavar="URL")
    ] = None
    sitemap: Annotated[
        list[str] | None,
        typer.Option(help="All pages that the map of a site names.", metavar="URL"),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A host besides those of [web] hosts.", metavar="HOST"),
    ] = None
    mailbox: Annotated[
        list[str] | None,
        typer.Option(help="A folder of mail: imaps://user@host/folder.", metavar="URL"),
    ] = None
    password_env: Annotated[
        str | None,
        typer.Option(
            help="Variable that holds the mailbox's password (MAIL_PASSWORD).", metavar="NAME"
        ),
    ] = None

    def sources(self, settings: Settings) -> tuple[Source, ...]:
        """What they name, within the bounds of the settings.

        Raises:
            UsageError: ``offline``; ``no_password``.
            SourceError: ``bad_url``, ``host_not_allowed``.
        """
        web = web_sources(
            settings,
            urls=self.url or (),
            sitemaps=self.sitemap or (),
            hosts=self.allow_host or (),
        )
        password = os.environ.get(self.password_env or _PASSWORD)
        mail = mail_sources(settings, mailboxes=self.mailbox or (), password=password)
        return (*web, *mail)


@dataclass(frozen=True, slots=True)
class SaidOfAll:
    """Options that say something of every document."""

    role: DocumentRoles = None
    deny: Annotated[
        list[str] | None, typer.Option(help="Who may not, whatever else.", metavar="ROLE")
    ] = None
    tenant: DocumentTenant = None
    status: DocumentStatus = None
    lang: Annotated[str | None, typer.Option(help="Language, as in en or bn.", metavar="LANG")] = (
        None
    )
    owner: Annotated[str | None, typer.Option(help="Who looks after them.", metavar="NAME")] = None

    def checked(self, known_roles: Sequence[str]) -> dict[str, Any]:
        """As ``Desk.ingest`` takes it.

        Raises:
            AccessRuleError: a malformed or unknown role, tenant or status.
        """
        return {
            "roles": None if self.role is None else check_known_roles(self.role, known_roles),
            "deny": None if self.deny is None else check_known_roles(self.deny, known_roles),
            "tenant": None if self.tenant is None else check_tenant(self.tenant),
            "status": None if self.status is None else parse_status(self.status).value,
            "lang": self.lang,
            "owner": self.owner,
        }


@app.command(
    epilog=examples(
        "ingest policies/ --role staff",
        "ingest handbook.pdf prices.docx --role staff --role student --lang en",
        "ingest policies/ --prune      # documents whose file is gone are removed",
        "ingest --url https://example.org/fees --allow-host example.org",
        "ingest --sitemap https://example.org/sitemap.xml --prune",
        "ingest --mailbox imaps://me@example.org/INBOX --role staff   # MAIL_PASSWORD is set",
        "ingest policies/ --watch      # goes on until Ctrl-C",
    )
)
@command()
def ingest(
    call: Call,
    *,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files and folders.")
    ] = None,
    elsewhere: Elsewhere,
    said: SaidOfAll,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose file is gone from PATH.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Prune although PATH is missing, empty or half gone.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Follow changes until Ctrl-C.")] = False,
    threads: Annotated[
        int | None,
        typer.Option(help="How much is done side by side; 0 is one per core.", metavar="N"),
    ] = None,
) -> int:
    """Bring the index in line with files, folders, web pages and mail.

    Unchanged files cost nothing. A file that cannot be read keeps its last good version, is named
    with its reason, and makes the exit code 1. The index is made if there is none.
    """
    call.overrides["ingestion.threads"] = threads
    call.kept = "What was finished is in the index; the same command goes on from there."
    paths = paths or []
    options = said.checked(call.settings.access.known_roles)
    options |= {"prune": prune, "force": force, "sources": elsewhere.sources(call.settings)}
    if not paths and not options["sources"]:
        raise UsageError(
            "Missing argument 'PATH'.",
            code="path_missing",
            hint="Name files or folders, or give --url, --sitemap or --mailbox.",
        )
    if not (prune and force):
        check_paths(paths, hint="Correct it. To remove what came from it: --prune --force.")
    if call.index_is_new:
        call.terminal.note(f"Making a new index: {call.index_shown}")
    say_before_ingesting(call, paths)
    return _bring_in(call, paths, options, watch=watch)


def _bring_in(call: Call, paths: list[Path], options: dict[str, Any], *, watch: bool) -> int:
    with call.open(create=True) as desk, call.terminal.progress() as progress:
        if watch:
            reports = desk.watch(*paths, progress=progress, **options)
        else:
            reports = iter((desk.ingest(*paths, progress=progress, **options),))
        codes = [_print_report(call, report, brief=watch) for report in reports]
    return max(codes, default=EXIT_OK)


def _print_report(call: Call, report: IngestReport, *, brief: bool) -> int:
    if call.as_json:
        call.terminal.json(report.to_json(), indent=None if brief else 2)
    else:
        print_ingest_report(call.terminal, report)
    return EXIT_ERROR if report.failed or report.refused else EXIT_OK


def print_ingest_report(terminal: Terminal, report: IngestReport) -> None:
    """What happened to the documents, what failed with its reason, and the summary."""
    for word, (sign, style, ids) in _changes(report).items():
        for document_id in ids[:_SHOWN]:
            terminal.line((f"{sign} {document_id}", style), f"  {word}")
        if len(ids) > _SHOWN:
            terminal.line(f"  and {len(ids) - _SHOWN} more {word}")
    print_problems(terminal, report)
    terminal.line((summary_of(report), "bold"))


def print_problems(terminal: Terminal, report: IngestReport) -> None:
    """Every source that failed or was refused, with its reason, and every warning."""
    for word, failures in (("failed", report.failed), ("refused", report.refused)):
        for each in failures:
            terminal.line((f"! {each.source}", "red"), f"  {word}: {each.code}: {each.message}")
    for warning in report.warnings:
        terminal.note(("warning: ", "yellow"), warning)


def summary_of(report: IngestReport) -> str:
    """``3 added, 1 failed; 12 chunks in 0.8 s``."""
    counts = {word: len(ids) for word, (_, _, ids) in _changes(report).items()}
    counts |= {
        "unchanged": report.unchanged,
        "failed": len(report.failed),
        "refused": len(report.refused),
    }
    parts = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{parts or 'nothing to do'}; {report.chunks} chunks in {report.seconds:.1f} s"


def _changes(report: IngestReport) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Outcome to its sign, its colour and its documents."""
    return {
        "added": ("+", "green", report.added),
        "changed": ("~", "cyan", report.changed),
        "metadata only": ("~", "cyan", report.metadata),
        "embedded": ("~", "cyan", report.embedded),
        "removed": ("-", "magenta", report.removed),
    }
