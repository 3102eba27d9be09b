"""People who are shut out, whatever they come with: a key, a token or a session."""

from __future__ import annotations

from evidencedesk.access import Principal
from evidencedesk.server.state.database import StateDatabase


class Suspensions:
    """Subjects who may not come in; seen by every worker process with the next request."""

    def __init__(self, database: StateDatabase) -> None:
        self._database = database

    def add(self, tenant: str, subject: str) -> None:
        """Shut somebody out."""
        with self._database.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO suspensions VALUES (?, ?)", (tenant, subject))

    def lift(self, tenant: str, subject: str) -> bool:
        """Let somebody in again; False when he was not shut out."""
        with self._database.writing() as connection:
            lifted = connection.execute(
                "DELETE FROM suspensions WHERE tenant = ? AND subject = ?", (tenant, subject)
            )
            return lifted.rowcount > 0

    def holds(self, principal: Principal) -> bool:
        """Whether somebody is shut out."""
        if principal.subject is None:
            return False
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT 1 FROM suspensions WHERE tenant = ? AND subject = ?",
                (principal.tenant, principal.subject),
            ).fetchone()
        return found is not None
