"""What is inside a file that holds other files: an archive, a mailbox, a message with attachments."""

from __future__ import annotations

from dataclasses import dataclass

from evidencedesk.model.report import FailedSource


@dataclass(frozen=True, slots=True)
class Member:
    """One file inside another.

    Attributes:
        name: its name there, cleaned: ``/`` between parts, no part empty, ``.`` or ``..``, nothing
            that a terminal would obey. It is shown and never used as a path.
        data: its bytes.
    """

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Contents:
    """The files inside a file.

    Attributes:
        members: in the order in which they stand.
        refused: those not taken out, and why (a link, a name given twice, too large).
    """

    members: tuple[Member, ...] = ()
    refused: tuple[FailedSource, ...] = ()
