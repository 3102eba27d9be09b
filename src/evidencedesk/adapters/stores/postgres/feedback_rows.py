"""Rows of feedback. Called in a transaction."""

from __future__ import annotations

from collections.abc import Sequence

from evidencedesk.adapters.stores.postgres.connections import Connection
from evidencedesk.adapters.stores.shared.receipts import decode_feedback, feedback_values
from evidencedesk.model.feedback import Feedback


def put_feedback(connection: Connection, feedback: Feedback) -> bool:
    """Keep what a reader says of an answer instead of what he said before; False without a receipt."""
    kept = connection.execute(
        "INSERT INTO feedback SELECT tenant, number, %s, %s, %s, %s FROM receipts "
        "WHERE tenant = %s AND answer_id = %s ON CONFLICT (receipt, subject) "
        "DO UPDATE SET at = excluded.at, verdict = excluded.verdict, note = excluded.note",
        feedback_values(feedback),
    )
    return kept.rowcount > 0


def read_feedback(
    connection: Connection, tenant: str, answer_id: str | None
) -> tuple[Feedback, ...]:
    """What readers said of one answer, or of all; the newest first."""
    rows = connection.execute(
        "SELECT answer_id, feedback.subject, feedback.at, verdict, note "
        "FROM feedback JOIN receipts ON receipts.number = feedback.receipt "
        "WHERE feedback.tenant = %s AND answer_id = coalesce(%s, answer_id) "
        "ORDER BY feedback.at DESC, answer_id, feedback.subject",
        (tenant, answer_id),
    ).fetchall()
    return decode_feedback(tenant, rows)


def blank_notes(connection: Connection, receipts: Sequence[int]) -> None:
    """Take the notes on receipts out: they may repeat what was quoted there."""
    connection.execute("UPDATE feedback SET note = '' WHERE receipt = ANY (%s)", (list(receipts),))


def erase_notes_of(connection: Connection, tenant: str, subject: str) -> None:
    """Take out what a subject wrote, and what was written on his questions."""
    connection.execute(
        "UPDATE feedback SET note = '' WHERE tenant = %(tenant)s AND (subject = %(subject)s "
        "OR receipt IN (SELECT number FROM receipts WHERE tenant = %(tenant)s "
        "AND subject = %(subject)s))",
        {"tenant": tenant, "subject": subject},
    )
