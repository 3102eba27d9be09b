"""The server's own state as one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from evidencedesk.protocols import Clock
from evidencedesk.server.state.database import StateDatabase
from evidencedesk.server.state.jobs import Jobs
from evidencedesk.server.state.keys import ApiKeys
from evidencedesk.server.state.sessions import Sessions
from evidencedesk.server.state.suspensions import Suspensions

FILE_NAME = "server.sqlite3"


@dataclass(frozen=True, slots=True, eq=False)
class ServerState:
    """What all worker processes of a server share.

    Attributes:
        database: the file.
        keys: API keys.
        sessions: browsers that are signed in.
        suspensions: people who are shut out.
        jobs: uploads on their way into the index.
    """

    database: StateDatabase
    keys: ApiKeys
    sessions: Sessions
    suspensions: Suspensions
    jobs: Jobs

    @classmethod
    def open(
        cls,
        path: Path,
        clock: Clock,
        *,
        new_id: Callable[[], str],
        new_secret: Callable[[], str],
        session_lifetime: timedelta,
    ) -> ServerState:
        """The state in the file ``path``, which is made if need be.

        Raises:
            IndexUnavailableError: ``state_unavailable``.
        """
        database = StateDatabase(path)
        return cls(
            database,
            ApiKeys(database, clock, new_id=new_id, new_secret=new_secret),
            Sessions(database, clock, lifetime=session_lifetime, new_secret=new_secret),
            Suspensions(database),
            Jobs(database, clock),
        )

    def ping(self) -> None:
        """Read something.

        Raises:
            IndexUnavailableError: ``state_unavailable``.
        """
        with self.database.reading() as connection:
            connection.execute("SELECT 1 FROM api_keys LIMIT 1").fetchone()

    def close(self) -> None:
        """Close the file."""
        self.database.close()
