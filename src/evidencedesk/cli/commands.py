"""The table of commands (name, module, one line of help) and the exit codes.

``evidencedesk --help`` is printed from this table alone, so that it does not wait for the import of
anything that a command needs.
"""

from __future__ import annotations

from typing import NamedTuple

EXIT_OK = 0
EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_ABSTAINED = 3
EXIT_INTERRUPTED = 130


class CommandRow(NamedTuple):
    """One command; ``target`` is ``module:attribute`` of its Typer application."""

    name: str
    target: str
    help: str


COMMANDS = (
    CommandRow("init", "evidencedesk.cli.init:app", "Write a settings file and an empty index."),
    CommandRow("ingest", "evidencedesk.cli.ingest:app", "Bring the index in line with files."),
    CommandRow("ask", "evidencedesk.cli.ask:app", "Answer a question, or say why not."),
    CommandRow("chat", "evidencedesk.cli.chat:app", "Ask in a conversation."),
    CommandRow("search", "evidencedesk.cli.search:app", "Find passages, without an answer."),
    CommandRow("show", "evidencedesk.cli.show:app", "Show a passage or a document at its place."),
    CommandRow("docs", "evidencedesk.cli.docs:app", "List, compare, remove documents."),
    CommandRow("log", "evidencedesk.cli.log:app", "Show what ingestion did."),
    CommandRow("chunks", "evidencedesk.cli.chunks:app", "Compare ways of cutting documents."),
    CommandRow("eval", "evidencedesk.cli.evaluate:app", "Measure and compare answers."),
    CommandRow("calibrate", "evidencedesk.cli.calibrate:app", "Fit confidence and threshold."),
    CommandRow("models", "evidencedesk.cli.models:app", "List, pull and verify semantic models."),
    CommandRow("reindex", "evidencedesk.cli.reindex:app", "Rebuild with another model or cut."),
    CommandRow(
        "answers",
        "evidencedesk.cli.answers_command:app",
        "Show, replay, recheck, export and erase stored answers.",
    ),
    CommandRow("gaps", "evidencedesk.cli.gaps:app", "Show what was not answered, or not well."),
    CommandRow("activity", "evidencedesk.cli.activity:app", "Show who did what, without content."),
    CommandRow("notices", "evidencedesk.cli.notices:app", "List and send what people are told."),
    CommandRow("verify", "evidencedesk.cli.verify:app", "Check an exported answer offline."),
    CommandRow("serve", "evidencedesk.cli.serve:app", "Serve the web page and the HTTP interface."),
    CommandRow("apikeys", "evidencedesk.cli.apikeys:app", "Make, list and revoke API keys."),
    CommandRow("keys", "evidencedesk.cli.keys:app", "Make the key that signs exported answers."),
    CommandRow("mcp", "evidencedesk.cli.mcp:app", "Answer programs that speak the MCP."),
    CommandRow("backup", "evidencedesk.cli.moving:backup_app", "Write the whole index to a file."),
    CommandRow("restore", "evidencedesk.cli.moving:restore_app", "Fill a new index from a backup."),
    CommandRow("export", "evidencedesk.cli.moving:export_app", "Write an index that is to move."),
    CommandRow(
        "import", "evidencedesk.cli.moving:import_app", "Fill another store from an export."
    ),
    CommandRow(
        "verify-index", "evidencedesk.cli.moving:verify_index_app", "Find damage in an index."
    ),
    CommandRow("worker", "evidencedesk.cli.worker:app", "Take ingestion jobs from the queue."),
    CommandRow("jobs", "evidencedesk.cli.worker:jobs_app", "Queue files, see and retry failures."),
    CommandRow("db", "evidencedesk.cli.db:app", "Look after an index on a database server."),
    CommandRow("doctor", "evidencedesk.cli.doctor:app", "Say what is wrong and how to mend it."),
)
