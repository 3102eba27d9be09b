"""The ports. Their docstrings are the contract; ``evidencedesk.testing`` has a suite for each."""

from evidencedesk.protocols.clock import Clock
from evidencedesk.protocols.ledgers import Ledger, Notifier, Outbox
from evidencedesk.protocols.models import (
    Embedder,
    Generator,
    Judge,
    Provider,
    StreamingGenerator,
)
from evidencedesk.protocols.reading import Container, Detector, Parser, Source
from evidencedesk.protocols.stores import MovableStore, Snapshot, Store, Writer

__all__ = [
    "Clock",
    "Container",
    "Detector",
    "Embedder",
    "Generator",
    "Judge",
    "Ledger",
    "MovableStore",
    "Notifier",
    "Outbox",
    "Parser",
    "Provider",
    "Snapshot",
    "Source",
    "Store",
    "StreamingGenerator",
    "Writer",
]
