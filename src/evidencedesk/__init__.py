"""EvidenceDesk: answers from your own documents, each sentence tied to a quote that code checked.

    from evidencedesk import Desk, Principal

    with Desk.open("handbook.desk", create=True) as desk:
        desk.ingest("policies/", roles={"staff"})
        answer = desk.ask("How long can a bike be returned?", principal=Principal(roles={"staff"}))

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evidencedesk import registry

if TYPE_CHECKING:
    from evidencedesk.access import DEFAULT_STATUSES, Principal, Status
    from evidencedesk.desk import Desk
    from evidencedesk.errors import EvidenceDeskError
    from evidencedesk.model import (
        Answer,
        Chunk,
        Citation,
        Document,
        Hit,
        IngestReport,
        Location,
        Reason,
        Retrieval,
    )
    from evidencedesk.settings import Settings, load_settings

__version__ = "0.1.0"

_HOMES = {
    "evidencedesk.access": ("DEFAULT_STATUSES", "Principal", "Status"),
    "evidencedesk.desk": ("Desk",),
    "evidencedesk.errors": ("EvidenceDeskError",),
    "evidencedesk.model": (
        "Answer",
        "Chunk",
        "Citation",
        "Document",
        "Hit",
        "IngestReport",
        "Location",
        "Reason",
        "Retrieval",
    ),
    "evidencedesk.settings": ("Settings", "load_settings"),
}
_TARGETS = {name: f"{module}:{name}" for module, names in _HOMES.items() for name in names}

__all__ = [
    "DEFAULT_STATUSES",
    "Answer",
    "Chunk",
    "Citation",
    "Desk",
    "Document",
    "EvidenceDeskError",
    "Hit",
    "IngestReport",
    "Location",
    "Principal",
    "Reason",
    "Retrieval",
    "Settings",
    "Status",
    "__version__",
    "load_settings",
]


def __getattr__(name: str) -> Any:
    if name not in _TARGETS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return registry.load(_TARGETS[name])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
