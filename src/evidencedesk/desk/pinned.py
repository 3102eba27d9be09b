"""A store that reads one generation, whether or not it is the one that answers."""

from __future__ import annotations

from contextlib import AbstractContextManager

from evidencedesk.access import AccessFilter
from evidencedesk.errors import UsageError
from evidencedesk.protocols import Ledger, Outbox, Snapshot, Store, Writer


class PinnedStore:
    """Reads ``generation`` of another store, writes nothing and closes nothing."""

    def __init__(self, store: Store, generation: int) -> None:
        self._store = store
        self._generation = generation

    def read(
        self, *, access: AccessFilter, generation: int | None = None
    ) -> AbstractContextManager[Snapshot]:
        """See ``protocols.Store.read``; of the pinned generation unless another is named."""
        wanted = self._generation if generation is None else generation
        return self._store.read(access=access, generation=wanted)

    def write(self) -> AbstractContextManager[Writer]:
        """Refused.

        Raises:
            UsageError: ``pinned_generation``, always.
        """
        raise UsageError(
            f"Generation {self._generation} is open for comparison only.",
            code="pinned_generation",
            hint="Write to the index itself.",
        )

    def ledger(self) -> Ledger:
        """See ``protocols.Store.ledger``."""
        return self._store.ledger()

    def outbox(self) -> Outbox:
        """See ``protocols.Store.outbox``."""
        return self._store.outbox()

    def check(self) -> tuple[str, ...]:
        """See ``protocols.Store.check``."""
        return self._store.check()

    def close(self) -> None:
        """Leaves the store open: whoever opened it closes it."""
