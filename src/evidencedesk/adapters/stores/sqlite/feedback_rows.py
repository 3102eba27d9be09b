"""Rows of feedback. Called in a transaction."""

from __future__ import annotations

import sqlite3

from evidencedesk.adapters.stores.shared.receipts import decode_feedback, feedback_values
from evidencedesk.model.feedback import Feedback


def put_feedback(connection: sqlite3.Connection, feedback: Feedback) -> bool:
    """Keep what a reader says of an answer instead of what he said before; False without a receipt."""
    kept = connection.execute(
        "INSERT OR REPLACE INTO feedback SELECT tenant, number, ?, ?, ?, ? FROM receipts "
        "WHERE tenant = ? AND answer_id = ?",
        feedback_values(feedback),
    )
    return kept.rowcount > 0


def read_feedback(
    connection: sqlite3.Connection, tenant: str, answer_id: str | None
) -> tuple[Feedback, ...]:
    """What readers said of one answer, or of all; the newest first."""
    rows = connection.execute(
        "SELECT answer_id, feedback.subject, feedback.at, verdict, note "
        "FROM feedback JOIN receipts ON receipts.number = feedback.receipt "
        "WHERE feedback.tenant = ?1 AND answer_id = coalesce(?2, answer_id) "
        "ORDER BY feedback.at DESC, answer_id, feedback.subject",
        (tenant, answer_id),
    )
    return decode_feedback(tenant, rows)


def blank_notes(connection: sqlite3.Connection, receipts: list[int]) -> None:
    """Take the notes on receipts out: they may repeat what was quoted there."""
    connection.executemany(
        "UPDATE feedback SET note = '' WHERE receipt = ?", [(each,) for each in receipts]
    )


def erase_notes_of(connection: sqlite3.Connection, tenant: str, subject: str) -> None:
    """Take out what a subject wrote, and what was written on his questions."""
    connection.execute(
        "UPDATE feedback SET note = '' WHERE tenant = ?1 AND (subject = ?2 OR receipt IN "
        "(SELECT number FROM receipts WHERE tenant = ?1 AND subject = ?2))",
        (tenant, subject),
    )


def expire_feedback(connection: sqlite3.Connection, tenant: str, before: str) -> None:
    """Delete what was said of receipts older than ``before``."""
    connection.execute(
        "DELETE FROM feedback WHERE receipt IN "
        "(SELECT number FROM receipts WHERE tenant = ? AND at < ?)",
        (tenant, before),
    )
