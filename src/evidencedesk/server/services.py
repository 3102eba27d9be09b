"""What every route works with; made once per process and handed to each router."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evidencedesk.desk import Desk
from evidencedesk.protocols import Clock
from evidencedesk.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Services:
    """The parts of a running server.

    Attributes:
        settings: effective settings.
        desk: the desk; each of its methods is given the caller's principal.
        clock: where time comes from.
        new_secret: makes a random string that nobody can guess, of at least 256 bits.
    """

    settings: Settings
    desk: Desk
    clock: Clock
    new_secret: Callable[[], str]
